"""Queries on bots and submissions."""

from collections import Counter
from collections.abc import Collection
from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db.models import Max, Prefetch, Q, QuerySet, Sum
from django.db.models.functions import Now
from django.utils import timezone

from ladder.accounts.roles import Person
from ladder.bots.models import CLAIMED, OPEN, Bot, Submission
from ladder.common import leases


def bots() -> QuerySet[Bot]:
    """Return all bots, newest first, with the rows that a list shows.

    The attribute `playing` of each bot is a list of its ready submissions (0 or 1).
    """
    ready = Submission.objects.filter(status=Submission.Status.READY)
    ready = ready.defer("log", "report")
    return (
        Bot.objects.select_related("owner")
        .prefetch_related(
            Prefetch("submissions", ready.order_by("-number"), to_attr="playing")
        )
        .order_by("-id")
    )


def submissions() -> QuerySet[Submission]:
    """Return all submissions, newest first, with their bots and owners."""
    return Submission.objects.select_related("bot", "bot__owner").order_by("-id")


def playing() -> QuerySet[Submission]:
    """Return the submissions that play: the ready ones of active bots."""
    return Submission.objects.filter(
        belongs_to_somebody("bot__"),
        status=Submission.Status.READY,
        bot__status=Bot.Status.ACTIVE,
    )


def belongs_to_somebody(bot: str = "") -> Q:
    """Return the condition that a bot is the house's, or its owner's account is active.

    Nobody answers for the bots of deleted and deactivated accounts. ``bot`` is the
    prefix of the bot's columns, for example ``"submission__bot__"``.
    """
    return Q(**{f"{bot}house": True}) | Q(**{f"{bot}owner__is_active": True})


def owns(person: Person, bot: Bot) -> bool:
    """True if this person owns the bot, and so may change it and read its logs."""
    return person.is_authenticated and bot.owner_id == person.pk


def claimable() -> Q:
    """Return the condition for submissions that a worker can claim now.

    They are open and nobody holds a lease on them.
    """
    return Q(status__in=OPEN) & leases.is_free()


def count_in_work(hinted: Collection[int]) -> int:
    """Count the submissions that are validated now, and those of `hinted` that wait."""
    validated = Q(status__in=CLAIMED, lease_until__gt=Now())
    waiting = claimable() & Q(pk__in=hinted)
    return Submission.objects.filter(validated | waiting).count()


def claimable_ids() -> list[int]:
    """Return the ids of the submissions that a worker can claim now, in fair turns.

    Owners take turns: first the oldest upload of each owner, then the second one, and
    so on. The owner whose last validation began first is the first of each turn.
    """
    rows = Submission.objects.filter(claimable()).order_by("id")
    waiting = list(rows.values_list("pk", "bot__owner"))
    owners = {owner for _, owner in waiting}
    claimed_at = dict(
        Submission.objects.filter(claimed_at__isnull=False)
        .filter(Q(bot__owner__in=owners - {None}) | Q(bot__owner=None))
        .order_by()
        .values_list("bot__owner")
        .annotate(last=Max("claimed_at"))
    )
    turns: Counter[int | None] = Counter()
    keys = {}
    for pk, owner in waiting:
        last = claimed_at.get(owner)
        keys[pk] = (turns[owner], last.timestamp() if last else 0.0, pk)
        turns[owner] += 1
    return sorted(keys, key=keys.__getitem__)


def service_failed() -> QuerySet[Submission]:
    """Return the uploads that were rejected because the service failed."""
    return submissions().filter(service_failed=True)


def stored_bytes(owner: User) -> int:
    """Return the size of all uploads of an owner, in unpacked bytes."""
    sizes = Submission.objects.filter(bot__owner=owner).aggregate(total=Sum("size"))
    return sizes["total"] or 0


def seconds_until_next_upload(owner: User, per_hour: int) -> int:
    """Return how many seconds an owner has to wait before the next upload; 0 is now."""
    hour = timedelta(hours=1)
    now = timezone.now()
    uploads = Submission.objects.filter(bot__owner=owner, created_at__gt=now - hour)
    times: list[datetime] = list(
        uploads.order_by("-created_at").values_list("created_at", flat=True)[:per_hour]
    )
    if len(times) < per_hour:
        return 0
    return int((times[-1] + hour - now).total_seconds()) + 1
