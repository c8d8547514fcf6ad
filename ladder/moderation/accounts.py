"""Changes of accounts by operators. Each is an act of `acts`, which records it.

Only a person at the console, or one who signed in with a password, may do these: with a
token that somebody found, they would outlive the token.
"""

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.core.validators import validate_email

from ladder.accounts import addresses, invitations
from ladder.accounts.models import ApiToken, Invitation
from ladder.accounts.user_names import BadUserName, clean_user_name, remember_name
from ladder.moderation.audit import Operator
from torres.common.errors import LadderError


class BadAddress(LadderError, code="bad-address", http_status=422):
    """This text is no e-mail address."""


def make_operator(_: Operator, user: User) -> None:
    """Let a user do everything. Idempotent."""
    _change(user, is_staff=True, is_superuser=True)


def end_operator(_: Operator, user: User) -> None:
    """Take all rights of an operator from a user. Idempotent."""
    _change(user, is_staff=False, is_superuser=False)


def activate(_: Operator, user: User) -> None:
    """Let a user sign in again. Idempotent."""
    _change(user, is_active=True)


def deactivate(_: Operator, user: User) -> None:
    """End the sessions and tokens of a user. Its bots play on. Idempotent."""
    _change(user, is_active=False)


def rename(_: Operator, user: User, name: str) -> None:
    """Give a user another name. Raises BadUserName."""
    name = clean_user_name(name)
    if User.objects.exclude(pk=user.pk).filter(username=name).exists():
        raise BadUserName(f"There is a user {name} already. Choose another name.")
    _change(user, username=name)
    user.refresh_from_db()
    remember_name(user)


def set_address(_: Operator, user: User, address: str = "") -> None:
    """Set the e-mail address, which counts as confirmed; "" removes it."""
    try:
        if address:
            validate_email(address)
    except ValidationError:
        raise BadAddress("This is no e-mail address. Write NAME@HOST.") from None
    addresses.set_address(user, address)


def revoke_token(_: Operator, token: ApiToken) -> None:
    token.delete()


def invite(operator: Operator, note: str, uses: int = 1, days: int = 0) -> str:
    """Create an invitation. Return its code, which is stored nowhere."""
    code, _ = invitations.new_invitation(
        operator.by, uses=uses, days=days or invitations.DEFAULT_DAYS, note=note
    )
    return code


def revoke_invitation(_: Operator, invitation: Invitation) -> None:
    invitation.delete()


def _change(user: User, **fields: object) -> None:
    User.objects.filter(pk=user.pk).update(**fields)
