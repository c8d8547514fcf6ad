"""The scopes of tokens: the part of the rights of its user that a token permits.

A scope only restricts. It never gives a user a right: a token with `operate` is of no
use to a person who is no operator.
"""

from collections.abc import Iterable
from enum import IntFlag

from django.contrib.auth.models import User
from rest_framework.exceptions import PermissionDenied
from rest_framework.permissions import SAFE_METHODS


class Scope(IntFlag):
    """One kind of permission. A token has a set of them, stored as one number."""

    READ = 1
    SUBMIT = 2
    ORGANISE = 4
    OPERATE = 8


ALL = Scope.READ | Scope.SUBMIT | Scope.ORGANISE | Scope.OPERATE
# What the author of a bot needs, so that a token that leaks from the script of a bot
# neither runs tournaments nor bans bots.
DEFAULT = Scope.READ | Scope.SUBMIT
MEANINGS = {
    Scope.READ: "read everything that you can read",
    Scope.SUBMIT: "create bots, upload, challenge, enter tournaments",
    Scope.ORGANISE: "run tournaments, if you are an organiser",
    Scope.OPERATE: "act as an operator, if you are one",
}
# The attribute of a user who signed in with a token: the scopes of this token.
TOKEN_SCOPES = "token_scopes"  # noqa: S105 - a name


class MissingScope(PermissionDenied):
    """The token of a request lacks the scope that the request needs."""

    default_code = "missing_scope"

    def __init__(self, scope: Scope) -> None:
        self.scope = names(scope)[0]
        super().__init__(
            f"This token lacks the scope '{self.scope}'. Create a token that has it at"
            " /me/, or ask an operator for one."
        )

    @classmethod
    def code(cls) -> str:
        """Return the code of the problem document."""
        return cls.default_code.replace("_", "-")


def names(scopes: int) -> list[str]:
    """Return the names of scopes, from the least to the greatest one."""
    return [each.name.lower() for each in Scope if each & scopes and each.name]


def parse(words: Iterable[str]) -> Scope:
    """Return the scopes with these names. Raises KeyError for an unknown name."""
    scopes = Scope(0)
    for word in words:
        scopes |= Scope[word.upper()]
    return scopes


def needed(view: object, method: str) -> Scope:
    """Return the scope that a method of a view needs.

    Reading needs READ, everything else SUBMIT. A view of the REST API or a page for
    others has the name of another scope in its attribute `scope`. Reading needs it,
    too, if it is `operate`, because most of such views are for operators only; one that
    everybody may read says so by `read_scope = "read"`.
    """
    scope: str = getattr(view, "scope", "submit")
    if method in SAFE_METHODS:
        usual = "operate" if scope == "operate" else "read"
        scope = getattr(view, "read_scope", usual)
    return Scope[scope.upper()]


def restrict(user: User, scopes: int) -> None:
    """Take the rights of an operator from this object, unless a token has OPERATE.

    Nothing is saved. Code that asks whether a user is an operator does not have to know
    about tokens; `TokenLimits` refuses the permissions of groups.
    """
    setattr(user, TOKEN_SCOPES, Scope(scopes))
    if not scopes & Scope.OPERATE:
        user.is_staff = user.is_superuser = False


def of_user(user: object) -> Scope:
    """Return what the present user may do; ALL without a token."""
    permitted: Scope = getattr(user, TOKEN_SCOPES, ALL)
    return permitted
