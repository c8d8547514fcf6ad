"""The e-mail addresses of users.

`User.email` is an address that its owner has confirmed, or that an operator has set. An
address that waits for its confirmation is stored nowhere: it is in the signed link.
"""

from dataclasses import dataclass

from django.conf import settings
from django.contrib.auth.models import User
from django.core import signing
from django.utils.crypto import salted_hmac

from ladder.accounts import mail
from torres.common.errors import LadderError

SALT = "ladder.accounts.addresses"
MAX_LINK_LENGTH = 1000


class BadLink(LadderError, code="bad-link", http_status=422):
    """The link of a message is damaged or too old."""


@dataclass(frozen=True, slots=True)
class NewAddress:
    """The claim that the owner of a mailbox confirms: it belongs to a user."""

    user: User
    address: str


def send_link(user: User, address: str, page: str) -> None:
    """Send a link to an address, with which its owner confirms it.

    ``page`` is the URL of the page that confirms, with a query.
    """
    content = {"user": user.pk, "old": _digest(user.email), "new": address}
    link = f"{page}&link={signing.dumps(content, salt=SALT)}"
    context = {"name": user.get_username(), "link": link}
    mail.send_later(address, "accounts/confirm-email.txt", context)


def read_link(text: str) -> NewAddress:
    """Return what a link confirms. Raises BadLink.

    A link is void as soon as the address has changed in another way, so that an older
    link does not bring an older address back.
    """
    try:
        content = signing.loads(
            text[:MAX_LINK_LENGTH], salt=SALT, max_age=settings.PASSWORD_RESET_TIMEOUT
        )
    except signing.BadSignature:
        raise _refusal() from None
    user = User.objects.filter(pk=content["user"], is_active=True).first()
    if user is None:
        raise _refusal()
    is_used = user.email == content["new"]
    if not is_used and _digest(user.email) != content["old"]:
        raise _refusal()
    return NewAddress(user, content["new"])


def confirm(text: str) -> NewAddress:
    """Store the address of a link; idempotent. Raises BadLink."""
    new = read_link(text)
    if not _replace(new.user, new.address):
        raise _refusal()
    return new


def set_address(user: User, address: str) -> None:
    """Store an address without a confirmation; "" forgets the address."""
    _replace(user, address)


def _replace(user: User, address: str) -> bool:
    """Store another address. False if another request has changed it meanwhile."""
    before = user.email
    if address == before:
        return True
    unchanged = User.objects.filter(pk=user.pk, email=before)
    if unchanged.update(email=address) != 1:
        return False
    if before:
        # The owner of the mailbox notices a change that somebody else has made.
        context = {"name": user.get_username()}
        mail.send_later(before, "accounts/address-changed.txt", context)
    return True


def _digest(address: str) -> str:
    """Return the old address as a link holds it: a stranger may read the link."""
    return salted_hmac(SALT, address).hexdigest()


def _refusal() -> BadLink:
    return BadLink(
        "This link is not valid. It has expired, or a newer one was used. Ask for a new"
        " one on the page of your account."
    )
