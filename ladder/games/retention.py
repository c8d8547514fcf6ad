"""Retention rules of games: private logs, answers and worker rows are deleted in time.

Games, seats, attempts and replays stay.
"""

from datetime import timedelta

from django.conf import settings
from django.db.models import Q
from django.db.models.functions import Now

from ladder.common.retention import RetentionRule, rule_for_old_rows, rule_for_rows
from ladder.games.models import (
    AnswerBatch,
    Attempt,
    GameStatus,
    LogUse,
    SeatLog,
    Worker,
)
from ladder.games.worker import registry

# A day's count is needed until that day has ended everywhere.
LOG_USE_LIFETIME = timedelta(days=2)


def rules() -> list[RetentionRule]:
    return [
        rule_for_old_rows(
            "logs of seats",
            "TORRES_KEEP_LOGS_DAYS",
            SeatLog,
            "attempt__ended_at",
            in_order=True,
        ),
        rule_for_rows(
            "counts of logs",
            "TORRES_BOT_LOG_BYTES",
            LogUse.objects.all,
            lambda: LogUse.objects.filter(day__lt=Now() - LOG_USE_LIFETIME),
            in_order=True,
        ),
        rule_for_old_rows(
            "answers of failed attempts",
            "TORRES_KEEP_ANSWERS_DAYS",
            AnswerBatch,
            "attempt__ended_at",
            in_order=True,
        ),
        RetentionRule(
            "ended workers",
            "TORRES_KEEP_WORKERS_DAYS",
            Worker.objects.count,
            lambda limit: len(_due_workers(limit)),
            _delete_workers,
        ),
    ]


def _due_workers(limit: int) -> list[Worker]:
    """Return workers that ended long ago and have no game.

    The newest row of an installation stays if it is drained, because the next process
    of this installation has to be drained, too.
    """
    then = Now() - timedelta(days=settings.TORRES_KEEP_WORKERS_DAYS)
    ended = Worker.objects.filter(Q(gone_at__lt=then) | Q(seen_at__lt=then))
    idle = ended.exclude(games__status=GameStatus.RUNNING).order_by("pk")
    return [
        worker for worker in idle[:limit] if not (worker.drained and _is_newest(worker))
    ]


def _is_newest(worker: Worker) -> bool:
    processes = registry.workers_of(worker.installation)
    return not processes.filter(pk__gt=worker.pk).exists()


def _delete_workers(limit: int) -> int:
    """Delete one worker's row, or first detach up to `limit` of its attempts.

    A worker may have played a million games, so its attempts are detached in slices.
    """
    for worker in _due_workers(limit):
        attempts = Attempt.objects.filter(worker=worker).values_list("pk", flat=True)
        if found := list(attempts[:limit]):
            return Attempt.objects.filter(pk__in=found).update(worker=None)
        return Worker.objects.filter(pk=worker.pk).delete()[0]
    return 0
