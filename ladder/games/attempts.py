"""One attempt at a game, in the database: claim, renew, store, then finish or fail.

A worker that claims a game gets a lease and a fence (`ladder.common.leases`), and each
write for an attempt requires them. This module sends no messages and plays no moves.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Self

import structlog
from django.conf import settings
from django.db import transaction
from django.db.models import F, Q
from django.db.models.functions import Now

from ladder.common import leases
from ladder.common.leases import Held
from ladder.common.storable import storable
from ladder.games import blame, facts, seat_logs, selectors, sql
from ladder.games.models import (
    MAX_REASON_CHARS,
    Attempt,
    Game,
    GameStatus,
    Seat,
    Worker,
    tied_ranks,
)
from torres.common.json_object import JsonObject
from torres.runner.verdict import SeatOutput

LEASE = timedelta(seconds=settings.TORRES_LEASE_SECONDS)
# This number of failures makes a game dead or, if all name the same seat, blames it.
MAX_FAILURES = 3
# Applies if all failures happened in one installation and another one could try.
MAX_FAILURES_IN_ONE_PLACE = 6

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Claim:
    """The right to play one game. It ends when the game's fence grows."""

    game: int
    fence: int
    attempt: int
    worker: int


@dataclass(frozen=True, slots=True)
class AnswerRecord:
    """One answer of a seat as it is stored; `index` counts from 0."""

    index: int
    seat: int
    actions: list[str]
    ms: float
    auto: bool = False


@dataclass(frozen=True, slots=True)
class SeatResult:
    """How one seat ended; `rank` counts from 1. `fault` is "" without a forfeit."""

    number: int
    score: int
    rank: int
    fault: str = ""
    detail: str = ""


@dataclass(frozen=True, slots=True)
class FinishedGame:
    """How a game ended; `replay` is compressed (see `replays`).

    `leaf` is the JSON of what the public log records of it.
    """

    reason: str
    engine: str
    replay: bytes
    seats: Sequence[SeatResult]
    leaf: str


@dataclass(frozen=True, slots=True)
class FailedSeat:
    """The seat in which an attempt failed, its bot, and the evidence of how that ended.

    `evidence` is None if no process of the bot was started.
    """

    number: int
    bot: int
    slug: str
    evidence: JsonObject | None

    @classmethod
    def of(cls, game: int, seat: int, outputs: Sequence[SeatOutput]) -> Self:
        """Return a seat of a game. `outputs` are those of all seats, or none."""
        row = Seat.objects.values_list("bot", "bot__slug").get(game=game, number=seat)
        evidence = outputs[seat].evidence if seat < len(outputs) else {}
        return cls(seat, *row, evidence or None)


@dataclass(frozen=True, slots=True)
class Outage:
    """A time in which nobody could reach the database: it began and ended ago."""

    began: timedelta
    ended: timedelta


def claim(game: int, worker: int) -> Claim | None:
    """Take a scheduled game for a worker; return None if it cannot be taken.

    Safe to call for any game at any time: a hint that arrives twice, late, or for a
    game that has ended takes nothing. In one transaction:

    1. If the game is scheduled and the worker is neither drained nor gone: set the
       game to running, set owner and lease, and increase the fence. The database lets
       only one of several workers do this.
    2. Add an open attempt with the new fence.
    """
    with transaction.atomic(savepoint=False):
        fence = sql.take_game(game, worker, LEASE.total_seconds())
        if fence is None:
            return None
        attempt = sql.open_attempt(game, fence, worker)
    return Claim(game, fence, attempt, worker)


def return_hint(game: int) -> bool:
    """Let the dispatcher send another hint at once, because this one was refused.

    Return False if the game is not scheduled, so that it needs no hint.
    """
    scheduled = Game.objects.filter(pk=game, status=GameStatus.SCHEDULED)
    return bool(scheduled.update(sent_at=None))


def renew_lease(claim: Claim) -> bool:
    """Extend the lease of a running game; return False if the lease is lost.

    If the game was reaped, nothing changes. Then the caller must stop it at once.
    """
    return _running(claim.game, claim.fence).renew(LEASE)


def store_answers(claim: Claim, answers: Sequence[AnswerRecord]) -> None:
    """Store answers of a running game, whose indexes follow each other.

    Idempotent: answers that begin at the same index replace each other. This is one
    statement, because a game stores answers several times.
    """
    if not answers:
        return
    first = answers[0].index
    rows = [[row.seat, row.actions, row.ms, row.auto] for row in answers]
    end = first + len(answers)
    sql.execute(sql.store_answers(claim.attempt, first, end, json.dumps(rows)))


def finish(
    claim: Claim, result: FinishedGame, outputs: Sequence[SeatOutput] = ()
) -> bool:
    """Write the result of a game; return False if it came too late.

    Safe to call again if the fate of a commit is unknown. All or nothing:

    1. If the game is still running under the claim's fence: set it to finished, with
       its replay. Otherwise write nothing at all.
    2. Write score and rank of each seat, whether it shares the rank, and its fault.
    3. Close the attempt as finished.
    4. Delete the stored answers, because the replay contains them.
    5. Add the logs of the seats, and the fact for programs and the public log.
    6. If step 1 wrote nothing, an earlier call may have: then return True.
    """
    seats = sorted(result.seats, key=lambda seat: seat.number)
    ranks = [seat.rank for seat in seats]
    columns: dict[str, list[Any]] = {
        "score": [seat.score for seat in seats],
        "rank": ranks,
        "tied": tied_ranks(ranks),
        "fault": [seat.fault for seat in seats],
        "fault_detail": [storable(seat.detail) for seat in seats],
    }
    logs = seat_logs.rows(claim.game, claim.attempt, outputs)
    written = sql.execute(
        sql.finish_game(
            claim.game, claim.fence, result.reason, result.engine, result.replay
        ),
        sql.write_seats(claim.game, columns),
        sql.close_attempt(claim.game, claim.fence, Attempt.Outcome.FINISHED, reason=""),
        sql.delete_answers(claim.attempt),
        *sql.insert_logs(logs),
        facts.finished(claim.game, result.reason, columns, result.leaf),
    )
    return written or _has_finished(claim.attempt)


def fail(
    claim: Claim,
    reason: str,
    outputs: Sequence[SeatOutput] = (),
    *,
    seat: int | None = None,
) -> bool:
    """End an attempt that failed through a fault of the service, not of a bot.

    `seat` is the seat whose player was being served when it failed, if it was one.
    Return False if the game is no longer running under the claim's fence. In one
    transaction:

    1. Count the failure. Schedule the game again, with the same seed and seats. If too
       many attempts failed and named no seat, set it to dead instead: an operator has
       to look at it.
    2. If too many attempts failed in the same seat, blame that seat: it forfeits when
       the game is played again. For a repeat offender one is too many. Otherwise a bot
       that can break the service could escape from each game that it is about to lose.
    3. Close the attempt as failed, with the reason, and with the seat, its bot, and the
       evidence of how that bot ended.
    4. Add the logs of the seats.
    """
    logs = seat_logs.rows(claim.game, claim.attempt, outputs)
    failed = FailedSeat.of(claim.game, seat, outputs) if seat is not None else None
    with transaction.atomic():
        if not _end_failed_attempt(claim.game, claim.fence, reason, failed):
            return False
        for statement in sql.insert_logs(logs):
            sql.execute(statement)
    return True


def release(game: int, fence: int, reason: str) -> bool:
    """Return a running game to the queue without counting a failure.

    Used if a worker stops or an operator takes the game from it. Return False if the
    game is not running under this fence. In one transaction:

    1. Schedule the game again, without owner, lease and hint.
    2. Close the attempt as released, with the reason.
    """
    with transaction.atomic():
        released = _running(game, fence).update(
            status=GameStatus.SCHEDULED, owner=None, lease_until=None, sent_at=None
        )
        if released:
            facts.record_released_attempt(game, fence)
            text = storable(reason)[:MAX_REASON_CHARS]
            sql.execute(sql.close_attempt(game, fence, Attempt.Outcome.RELEASED, text))
    return released


def reap(outage: Outage | None = None) -> list[int]:
    """End every attempt whose lease has ended, and return the games. Idempotent.

    `outage` is the last time in which the caller could not reach the database.

    1. List the running games whose lease has ended.
    2. If the lease could not be renewed because of an outage that all workers shared,
       the game returns to the schedule without a failure.
    3. Otherwise the attempt ends as `fail` does.

    Each game has a transaction of its own, which requires the same fence and a lease
    that has still ended: a worker may have renewed it or finished the game meanwhile.
    """
    expired = Game.objects.filter(leases.is_over(), status=GameStatus.RUNNING)
    excused = set(expired.filter(_overlaps(outage)).values_list("pk", flat=True))
    reaped = []
    for game in expired.select_related("owner").defer("replay"):
        with transaction.atomic():
            if game.pk in excused or _all_others_are_silent(game):
                reason = "lease over: all workers lost the database"
                ended = _release_expired(game, reason)
            else:
                reason = "lease over: worker lost"
                ended = _end_failed_attempt(
                    game.pk, game.fence, reason, None, only_if_expired=True
                )
            if ended:
                reaped.append(game.pk)
    return reaped


def _overlaps(outage: Outage | None) -> Q:
    """Return the condition that an outage fell into the last lease of a game."""
    if outage is None:
        return Q(pk__in=[])
    return Q(
        lease_until__gt=Now() - outage.began,
        lease_until__lt=Now() - outage.ended + LEASE,
    )


def _all_others_are_silent(game: Game) -> bool:
    """True if the other installations stopped reporting when the game's worker did.

    A network that fails for all workers ends their leases, but not the dispatcher's
    connection. Installations that were silent long before are no evidence.
    """
    if game.owner is None or game.lease_until is None:
        return False
    others = Worker.objects.filter(
        gone_at__isnull=True, seen_at__gt=game.lease_until - 2 * LEASE
    ).exclude(name__startswith=f"{game.owner.installation}#")
    recent = others.filter(seen_at__gt=game.lease_until - LEASE / 2)
    return others.exists() and not recent.exists()


def _release_expired(game: Game, reason: str) -> bool:
    still_expired = _running(game.pk, game.fence).row().filter(leases.is_over())
    return still_expired.exists() and release(game.pk, game.fence, reason)


def _running(game: int, fence: int) -> Held[Game]:
    return Held(Game.objects.filter(status=GameStatus.RUNNING), game, fence)


def _has_finished(attempt: int) -> bool:
    finished = Attempt.Outcome.FINISHED
    return Attempt.objects.filter(pk=attempt, outcome=finished).exists()


def _end_failed_attempt(
    game: int,
    fence: int,
    reason: str,
    failed: FailedSeat | None,
    *,
    only_if_expired: bool = False,
) -> bool:
    seat = failed.number if failed else None
    running = _running(game, fence).row()
    if only_if_expired:
        running = running.filter(leases.is_over())
    is_last = _is_last_failure(game, seat)
    dead = is_last and seat is None
    ended = running.update(
        status=GameStatus.DEAD if dead else GameStatus.SCHEDULED,
        owner=None,
        lease_until=None,
        sent_at=None,
        failures=F("failures") + 1,
        note=reason[:MAX_REASON_CHARS] if dead else "",
    )
    if not ended:
        return False
    Attempt.objects.filter(game=game, fence=fence).update(
        outcome=Attempt.Outcome.FAILED,
        ended_at=Now(),
        reason=storable(reason)[:MAX_REASON_CHARS],
        seat=seat,
        bot=failed.bot if failed else None,
        evidence=failed.evidence if failed else None,
    )
    facts.record_failed_attempt(game, fence, seat, failed.evidence if failed else None)
    told = {"game": game, "fence": fence, "reason": reason}
    if failed:
        told |= {"seat": seat, "bot": failed.slug, "evidence": failed.evidence}
    if dead:
        facts.record_dead(game)
        log.critical("game is dead", **told)
    elif failed and is_last:
        Seat.objects.filter(game=game, number=failed.number).update(blamed=True)
        log.critical("seat is blamed", **told)
    else:
        log.warning("attempt failed", **told)
    return True


def _is_last_failure(game: int, seat: int | None) -> bool:
    """True if one more failure in this seat, or in no seat, is one too many.

    After MAX_FAILURES it is, if at least two installations tried the game, or if no
    other installation with a live worker could. Otherwise another one may still
    succeed, up to MAX_FAILURES_IN_ONE_PLACE. Failures in other seats do not count, so
    each seat of a table with several hostile bots is blamed in its turn. A repeat
    offender gets one attempt (`blame`).
    """
    if seat is not None and seat in blame.repeat_offenders(game):
        return True
    failures = Game.objects.values_list("failures", flat=True).get(pk=game)
    # The open attempt is the one that fails now. Attempts from before an operator
    # revived the game do not count.
    recent = (
        Attempt.objects.filter(game=game)
        .filter(outcome__in=[Attempt.Outcome.FAILED, Attempt.Outcome.OPEN])
        .select_related("worker")
        .order_by("-fence")[: failures + 1]
    )
    places = [
        attempt.worker.installation if attempt.worker else ""
        for attempt in recent
        if attempt.outcome == Attempt.Outcome.OPEN or attempt.seat == seat
    ]
    if len(places) < MAX_FAILURES:
        return False
    tried = set(places)
    live = {worker.installation for worker in selectors.live_players()}
    return (
        len(tried) > 1 or len(places) >= MAX_FAILURES_IN_ONE_PLACE or not live - tried
    )


def doubted_seats(claim: Claim) -> set[int]:
    """Return the seats that no longer get the benefit of the doubt about their clock.

    A bot gets it once in a game, until an attempt failed in its seat, and a repeat
    offender does not get it at all (`BotProcess`, strict clock; `blame`).
    """
    seats = blame.repeat_offenders(claim.game)
    if claim.fence > 1:  # there was an attempt before
        rows = Attempt.objects.filter(game=claim.game).values_list("seat", flat=True)
        seats.update(seat for seat in rows if seat is not None)
    return seats
