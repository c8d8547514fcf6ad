"""People follow something, end that, and choose the daily mail."""

from django.conf import settings
from django.contrib.auth.models import User
from django.core import signing
from django.db import transaction
from django.db.models.functions import Now
from django.utils.translation import get_language

from ladder.accounts.addresses import BadLink
from ladder.events import stream
from ladder.extras.follows import news
from ladder.extras.follows.models import DailyMail, Follow, Followable, kind_of
from torres.common.errors import TooMany

MAX_FOLLOWS = 200
_SIGNER = signing.Signer(salt="ladder.extras.follows")


def follow(user: User, subject: Followable) -> None:
    """Follow something; idempotent. Raises TooMany if the person follows a lot."""
    seen = news.state(subject)
    with transaction.atomic():
        # The lock makes the quota exact if one person follows two things at once.
        User.objects.select_for_update().get(pk=user.pk)
        known = Follow.objects.filter(user=user)
        if known.filter(**{kind_of(subject): subject}).exists():
            return
        if known.count() >= MAX_FOLLOWS:
            raise TooMany(
                f"You follow {MAX_FOLLOWS} bots, ladders and tournaments, the most that"
                " one person may follow. Stop following one of them first."
            )
        Follow.objects.create(user=user, seen=seen, **{kind_of(subject): subject})


def unfollow(user: User, subject: Followable) -> None:
    """Stop following something; idempotent."""
    Follow.objects.filter(user=user, **{kind_of(subject): subject}).delete()


def end(user: User, pk: int) -> None:
    """Delete a follow of a person by its id; idempotent."""
    Follow.objects.filter(user=user, pk=pk).delete()


@transaction.atomic
def start_daily_mail(user: User, site: str) -> None:
    """Send a person a mail a day about what happens from now on; idempotent.

    ``site`` is the address of the service as the person sees it. Mails have the
    language that is active now.
    """
    start = {
        "site": site,
        "language": get_language() or settings.LANGUAGE_CODE,
        "cursor": stream.newest(),
        "due_at": Now(),
    }
    _, is_new = DailyMail.objects.get_or_create(user=user, defaults=start)
    if is_new:
        # Earlier changes are not news. The first run stores the present state.
        Follow.objects.filter(user=user).update(seen=None)


def end_daily_mail(user: User) -> None:
    """Send a person no more daily mails; idempotent."""
    DailyMail.objects.filter(user=user).delete()


def unsubscribe_key(user_id: int) -> str:
    """Return the text with which a link ends the daily mail of a person."""
    return _SIGNER.sign(str(user_id))


def check_key(key: str) -> int:
    """Return the id of the person to whom a key was sent. Raises BadLink."""
    try:
        return int(_SIGNER.unsign(key))
    except (signing.BadSignature, ValueError):
        raise BadLink(
            "This link is not valid. Copy all of it from the mail, or sign in and"
            " change what is sent to you on the page of what you follow."
        ) from None


def unsubscribe(key: str) -> None:
    """End the daily mail of a person by the key of a mail; idempotent. Raises BadLink.

    The key never expires, because people may find an old mail.
    """
    DailyMail.objects.filter(user=check_key(key)).delete()
