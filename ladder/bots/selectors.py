"""Queries on bots and submissions."""

from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db.models import Prefetch, Q, QuerySet, Sum
from django.db.models.functions import Now
from django.utils import timezone

from ladder.accounts.permissions import Person
from ladder.bots.models import OPEN, Bot, Submission


def bots() -> QuerySet[Bot]:
    """Every bot with what a list shows; `playing` holds its ready submission."""
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
    return Submission.objects.select_related("bot", "bot__owner").order_by("-id")


def playing() -> QuerySet[Submission]:
    """Name the submissions that play: the ready ones of active bots."""
    return Submission.objects.filter(
        status=Submission.Status.READY, bot__status=Bot.Status.ACTIVE
    )


def owns(person: Person, bot: Bot) -> bool:
    """Say who may read a bot's private things and change it: its owner alone."""
    return person.is_authenticated and bot.owner_id == person.pk


def is_due() -> Q:
    """Say when a submission is to be tried: it is open, and nobody has it now."""
    free = Q(lease_until=None) | Q(lease_until__lte=Now())
    return Q(status__in=OPEN) & free


def builds_due() -> list[int]:
    """Name the submissions that somebody should try now, oldest first."""
    due = Submission.objects.filter(is_due()).order_by("id")
    return list(due.values_list("pk", flat=True))


def bytes_kept(owner: User) -> int:
    """Say how much of this owner's uploads is kept, in unpacked bytes."""
    kept = Submission.objects.filter(bot__owner=owner).aggregate(total=Sum("size"))
    return kept["total"] or 0


def upload_wait(owner: User, per_hour: int) -> int:
    """Say in how many seconds the owner may upload again; 0 is now."""
    hour, now = timedelta(hours=1), timezone.now()
    uploads = Submission.objects.filter(bot__owner=owner, created_at__gt=now - hour)
    times: list[datetime] = list(
        uploads.order_by("-created_at").values_list("created_at", flat=True)[:per_hour]
    )
    if len(times) < per_hour:
        return 0
    return int((times[-1] + hour - now).total_seconds()) + 1
