"""Retention rules of uploads: rejected uploads and private logs are deleted in time.

A package that was ever ready stays: its owner may let it play again, and tournaments
may have chosen it.
"""

from datetime import timedelta

from django.conf import settings
from django.core.files.storage import storages
from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.db.models.functions import Now

from ladder.bots.models import LOST_DIGEST, OPEN, Bot, SourceFingerprint, Submission
from ladder.common.retention import RetentionRule


def rules() -> list[RetentionRule]:
    return [
        RetentionRule(
            "rejected uploads",
            "TORRES_KEEP_REJECTED_DAYS",
            Submission.objects.filter(status=Submission.Status.REJECTED).count,
            lambda limit: _due_rejected()[:limit].count(),
            _delete_rejected,
        ),
        RetentionRule(
            "logs of uploads",
            "TORRES_KEEP_LOGS_DAYS",
            Submission.objects.exclude(log="").count,
            lambda limit: _due_logs()[:limit].count(),
            _clear_logs,
        ),
    ]


def forget_package(submission: Submission) -> None:
    """Delete the files, the log and the report of a submission that plays no more.

    The row stays, because results refer to it. Idempotent.
    """
    storages["bots"].delete(submission.package)
    SourceFingerprint.objects.filter(submission=submission).delete()
    Submission.objects.filter(pk=submission.pk).update(
        status=Submission.Status.RETIRED,
        digest=f"{LOST_DIGEST}{submission.pk}",
        ready_at=None,
        log="",
        report={"summary": "Its files were deleted.", "steps": []},
    )


def _due_rejected() -> QuerySet[Submission]:
    """Return uploads that were rejected long ago, except the newest one of each bot.

    The newest one is what its owner looks at. Uploads that have played stay, too.
    """
    keep = timedelta(days=settings.TORRES_KEEP_REJECTED_DAYS)
    newer = Submission.objects.filter(
        bot=OuterRef("bot"), number__gt=OuterRef("number")
    )
    return (
        Submission.objects.filter(
            Exists(newer),
            status=Submission.Status.REJECTED,
            created_at__lt=Now() - keep,
            seats__isnull=True,
        )
        .order_by("pk")
        .defer("log", "report")
    )


def _delete_rejected(limit: int) -> int:
    """Delete uploads with their files.

    The lock on the bot excludes an upload of the same files at the same time, which
    would use the same package (`submissions.add`).
    """
    deleted = 0
    for candidate in _due_rejected()[:limit]:
        with transaction.atomic():
            Bot.objects.select_for_update().get(pk=candidate.bot_id)
            if _due_rejected().filter(pk=candidate.pk).exists():
                storages["bots"].delete(candidate.package)
                deleted += candidate.delete()[0]
    return deleted


def _due_logs() -> QuerySet[Submission]:
    """Return old uploads with a log, except those that play or are being validated."""
    keep = timedelta(days=settings.TORRES_KEEP_LOGS_DAYS)
    return (
        Submission.objects.filter(created_at__lt=Now() - keep)
        .exclude(log="")
        .exclude(status__in=[Submission.Status.READY, *OPEN])
        .order_by("pk")
    )


def _clear_logs(limit: int) -> int:
    due = list(_due_logs().values_list("pk", flat=True)[:limit])
    return Submission.objects.filter(pk__in=due).update(log="")
