"""One attempt at a game: claim, beat, store, and then finish, fail or release.

Every statement that writes for an attempt is guarded by the game's fence, so a worker
whose lease was given away can write nothing more, however late it comes. Times are the
database's, never a host's. Nothing here sends anything.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeVar

import structlog
from django.conf import settings
from django.db import transaction
from django.db.models import F, QuerySet
from django.db.models.functions import Now

from ladder.games import sql
from ladder.games.models import Attempt, Game, GameStatus, StoredAnswer, Worker
from ladder.runner.verdict import SeatOutput

LEASE = timedelta(seconds=settings.TORRES_LEASE_SECONDS)
MAX_FAILURES = 3
LAST_FAILURE = 6
"""Even on one worker alone: so often and no more."""

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Claim:
    """The right to play one game, until its fence grows."""

    game: int
    fence: int
    attempt: int
    worker: int


@dataclass(frozen=True, slots=True)
class AnswerRecord:
    """One answer as it is stored; `index` counts from 0."""

    index: int
    seat: int
    actions: list[str]
    ms: float
    auto: bool = False


@dataclass(frozen=True, slots=True)
class SeatResult:
    """How one seat ended."""

    number: int
    score: int
    rank: int
    fault: str = ""
    detail: str = ""


@dataclass(frozen=True, slots=True)
class FinishedGame:
    """How a game ended; `replay` is packed."""

    reason: str
    engine: str
    replay: bytes
    places: Sequence[SeatResult]


T = TypeVar("T", str, list[Any], dict[str, Any])


def storable(value: T) -> T:
    """Return what a bot said without what PostgreSQL refuses: NUL, lone surrogates."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode().replace("\0", "\ufffd")
    if isinstance(value, list):
        return [storable(item) for item in value]
    if isinstance(value, dict):
        return {storable(name): storable(item) for name, item in value.items()}
    return value


def claim(game: int, worker: int) -> Claim | None:
    """Take a scheduled game; None if another was first, or it is not for us.

    Safe to call for any game at any time: a message that comes twice, late or for a
    game that is over takes nothing.
    """
    with transaction.atomic():
        fence = sql.take(game, worker, LEASE.total_seconds())
        if fence is None:
            return None
        attempt = sql.open_attempt(game, fence, worker)
    return Claim(game, fence, attempt, worker)


def beat(claim: Claim) -> bool:
    """Lengthen the lease; False if the game is no longer ours: stop at once."""
    return bool(_ours(claim).update(lease_until=Now() + LEASE))


def store(claim: Claim, answers: Sequence[AnswerRecord]) -> None:
    """Keep answers of a running game; told twice, they are kept once."""
    StoredAnswer.objects.bulk_create(
        [
            StoredAnswer(
                attempt_id=claim.attempt,
                index=said.index,
                seat=said.seat,
                actions=said.actions,
                ms=said.ms,
                auto=said.auto,
            )
            for said in answers
        ],
        ignore_conflicts=True,
    )


def finish(
    claim: Claim, result: FinishedGame, outputs: Sequence[SeatOutput] = ()
) -> bool:
    """Write the result in one transaction; False if it came too late.

    Safe to call again when a commit's fate is unknown: it then says what happened.
    """
    places = sorted(result.places, key=lambda place: place.number)
    columns: dict[str, list[Any]] = {
        "score": [place.score for place in places],
        "rank": [place.rank for place in places],
        "fault": [place.fault for place in places],
        "fault_detail": [storable(place.detail) for place in places],
    }
    written = sql.run(
        sql.end(claim.game, claim.fence, result.reason, result.engine, result.replay),
        sql.place(claim.game, columns),
        sql.close_attempt(claim.game, claim.fence, Attempt.Outcome.FINISHED, reason=""),
        sql.drop_answers(claim.attempt),  # the replay holds them now
        *sql.keep_logs(_logs(claim, outputs)),
    )
    return written or _has_finished(claim.attempt)


def fail(claim: Claim, reason: str, outputs: Sequence[SeatOutput] = ()) -> bool:
    """End an attempt by our own fault: the game is scheduled again, or dead."""
    with transaction.atomic():
        if not _give_up(claim.game, claim.fence, reason):
            return False
        for part in sql.keep_logs(_logs(claim, outputs)):
            sql.run(part)
    return True


def release(game: int, fence: int, reason: str) -> bool:
    """Hand a running game back, uncounted; False if it was no longer running so."""
    with transaction.atomic():
        freed = Game.objects.filter(
            pk=game, fence=fence, status=GameStatus.RUNNING
        ).update(
            status=GameStatus.SCHEDULED, owner=None, lease_until=None, sent_at=None
        )
        if freed:
            _close(game, fence, Attempt.Outcome.RELEASED, reason)
    return bool(freed)


def reap() -> list[int]:
    """End every attempt whose lease is over; return the games. Safe to run twice."""
    late = Game.objects.filter(status=GameStatus.RUNNING, lease_until__lt=Now())
    reaped = []
    for game, fence in late.values_list("pk", "fence"):
        with transaction.atomic():
            if _give_up(game, fence, "lease over: worker lost", expired=True):
                reaped.append(game)
    return reaped


def _has_finished(attempt: int) -> bool:
    finished = Attempt.Outcome.FINISHED
    return Attempt.objects.filter(pk=attempt, outcome=finished).exists()


def _ours(claim: Claim) -> QuerySet[Game]:
    return Game.objects.filter(
        pk=claim.game, fence=claim.fence, status=GameStatus.RUNNING
    )


def _give_up(game: int, fence: int, reason: str, *, expired: bool = False) -> bool:
    held = Game.objects.filter(pk=game, fence=fence, status=GameStatus.RUNNING)
    if expired:
        held = held.filter(lease_until__lt=Now())
    dead = _is_hopeless(game)
    given_up = held.update(
        status=GameStatus.DEAD if dead else GameStatus.SCHEDULED,
        owner=None,
        lease_until=None,
        sent_at=None,
        failures=F("failures") + 1,
        note=reason[:200] if dead else "",
    )
    if not given_up:
        return False
    _close(game, fence, Attempt.Outcome.FAILED, reason)
    if dead:
        log.critical("game is dead", game=game, reason=reason)
    else:
        log.warning("attempt failed", game=game, fence=fence, reason=reason)
    return True


def _is_hopeless(game: int) -> bool:
    """Say whether one more failure is the last: on two workers where there are two."""
    failures = Game.objects.values_list("failures", flat=True).get(pk=game) + 1
    if failures < MAX_FAILURES:
        return False
    tried = set(
        Attempt.objects.filter(game=game)
        .exclude(outcome=Attempt.Outcome.RELEASED)
        .values_list("worker", flat=True)
    )
    others = Worker.objects.filter(gone_at__isnull=True, drained=False).exclude(
        pk__in=tried
    )
    return len(tried) > 1 or failures >= LAST_FAILURE or not others.exists()


def _close(game: int, fence: int, outcome: Attempt.Outcome, reason: str) -> None:
    sql.run(sql.close_attempt(game, fence, outcome, reason[:200]))


def _logs(
    claim: Claim, outputs: Sequence[SeatOutput]
) -> list[tuple[int, int, str, str, str]]:
    return [
        (
            claim.attempt,
            number,
            storable(output.stderr),
            json.dumps(storable(output.notes)),
            json.dumps(storable(output.verdict)),
        )
        for number, output in enumerate(outputs)
        if output.stderr or output.notes or output.verdict
    ]
