"""Sign-up: people create accounts for themselves, if the operator permits it."""

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

from ladder.accounts import invitations
from ladder.accounts.models import UserNameKey
from ladder.accounts.sign_up_mode import SignUpMode, current_mode
from ladder.accounts.user_names import (
    UserNameTaken,
    check_not_reserved,
    clean_user_name,
    is_taken,
)
from torres.common.errors import LadderError
from torres.common.names import name_key


class SignUpClosed(LadderError, code="sign-up-closed", http_status=403):
    """People cannot create accounts here."""


def sign_up(name: str, password: str, invitation: str = "") -> User:
    """Create an account. The caller has validated the password.

    Raises SignUpClosed, BadUserName, UserNameTaken and BadInvitation. If one of them is
    raised, nothing has changed, and the invitation is not used.
    """
    mode = current_mode()
    if mode == SignUpMode.CLOSED:
        raise SignUpClosed("Nobody can sign up here. Ask the operator for an account.")
    name = clean_user_name(name)
    check_not_reserved(name)
    user = User(username=name)
    if mode == SignUpMode.INVITATION:
        invitations.check(invitation)
    _refuse_taken(user)
    # It takes a tenth of a second of the processor, so it happens after the checks that
    # refuse most attempts, and before the transaction.
    user.set_password(password)
    with transaction.atomic():
        if mode == SignUpMode.INVITATION:
            invitations.use_invitation(invitation)
        _create(user)
    return user


def _refuse_taken(user: User) -> None:
    if is_taken(user.get_username()):
        raise _taken(user)


def _taken(user: User) -> UserNameTaken:
    return UserNameTaken(
        f"The name {user.get_username()} is taken. Choose another one."
    )


def _create(user: User) -> None:
    _refuse_taken(user)
    try:
        with transaction.atomic():
            user.save()
            UserNameKey.objects.create(user=user, key=name_key(user.get_username()))
    except IntegrityError:  # another request created the name meanwhile
        raise _taken(user) from None
