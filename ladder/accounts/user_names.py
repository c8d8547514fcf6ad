"""The names of users. No two differ only in case, and none imitates another one."""

import unicodedata

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction

from ladder.accounts.models import UserNameKey
from torres.common import names
from torres.common.errors import LadderError
from torres.common.names import mixes_scripts

MAX_LENGTH = 150  # that of Django
SHOWN_CHARS = 80
# The names under which people expect the service itself, and not a visitor.
RESERVED = {
    *("admin", "administrator", "demo", "everybody", "me", "moderator", "nobody"),
    *("operator", "operators", "root", "service", "staff", "support", "system"),
    *("torres", "webmaster"),
}
# Bots of deleted accounts are called so.
RESERVED_PREFIX = "deleted"


class BadUserName(LadderError, code="bad-user-name", http_status=422):
    """The name cannot be the name of a user."""


class UserNameTaken(LadderError, code="user-name-taken", http_status=409):
    """The name is reserved, or another user has one that looks like it."""


def clean_user_name(text: str) -> str:
    """Return the name in the form in which it is stored. Raises BadUserName."""
    name = unicodedata.normalize("NFKC", text)
    shown = repr(text[:SHOWN_CHARS])
    if len(name) > MAX_LENGTH:
        raise BadUserName(f"A user name has at most {MAX_LENGTH} characters.")
    if names.has_invisible(text) or not _has_valid_characters(name):
        raise BadUserName(
            f"{shown} is not a user name. Use at most {MAX_LENGTH} letters, digits and"
            " the characters @ . + - _"
        )
    if mixes_scripts(name):
        raise BadUserName(
            f"{shown} mixes letters of different scripts, so it may imitate another"
            " name. Choose another one."
        )
    return name


def check_not_reserved(name: str) -> None:
    """Raise UserNameTaken if a name looks like one of the service itself."""
    plain = names.plain(name)
    word = plain.strip("@.+-_")
    if names.is_like_house(name) or word in RESERVED:
        raise UserNameTaken(f"The name {name} is reserved. Choose another one.")
    if word.startswith(RESERVED_PREFIX):
        raise UserNameTaken(
            f"Names that begin with '{RESERVED_PREFIX}' are reserved. Choose another"
            " one."
        )


def is_taken(name: str) -> bool:
    """True if a user has this name, or one that differs from it only in case."""
    key = names.name_key(name)
    return (
        UserNameKey.objects.filter(key=key).exists()
        or User.objects.filter(username__iexact=name).exists()
    )


@transaction.atomic
def remember_name(user: User) -> None:
    """Reserve the name of a user whom an operator has created or renamed.

    An operator may choose a name that differs from another one only in case.
    """
    UserNameKey.objects.filter(user=user).delete()
    row = UserNameKey(user=user, key=names.name_key(user.get_username()))
    UserNameKey.objects.bulk_create([row], ignore_conflicts=True)


def _has_valid_characters(name: str) -> bool:
    try:
        User.username_validator(name)
    except ValidationError:
        return False
    return True
