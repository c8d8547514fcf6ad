"""The invariants of a service at rest, which hold after any kind of failure.

`manage.py audit` checks them on request, `manage.py chaos` after it has broken
everything that it can break. "At rest" means that no game is scheduled or running.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from django.db.models import Count, F, Q

from engine import replay, replay_format
from ladder.games import replays, selectors
from ladder.games.models import Attempt, Game, GameStatus, Seat, tied_ranks
from ladder.ratings import rebuild
from ladder.ratings.models import Season
from torres.rating.ledger import EntryKind

WITH_RESULT = (GameStatus.FINISHED, GameStatus.VOIDED)
MAX_COMPLAINTS = 3


@dataclass(frozen=True, slots=True)
class InvariantResult:
    """An invariant in words, and how the data violate it; empty if it holds."""

    invariant: str
    violation: str

    @property
    def holds(self) -> bool:
        return not self.violation


def check(*, forfeits: bool = False) -> Iterator[InvariantResult]:
    """Yield the result of each invariant.

    `forfeits` tells whether bots of this service may forfeit by their own fault. If
    not, every forfeit is a violation.
    """
    tally = selectors.tally()
    yield InvariantResult(
        "created = finished + voided + dead + cancelled + open",
        _violation(tally.missing, "games are missing"),
    )
    yield InvariantResult(
        "every game has ended", _violation(tally.open, "games are open")
    )
    yield InvariantResult("each result has exactly one finished attempt", _attempts())
    yield InvariantResult(
        "every finished game of a ladder is rated exactly once", _ratings()
    )
    yield InvariantResult(
        "seats have ranks exactly if their game has a result", _ranks()
    )
    yield InvariantResult("each seat names the bot of its submission", _bots_of_seats())
    if not forfeits:
        faults = Seat.objects.exclude(fault="").count()
        yield InvariantResult(
            "no bot forfeited by a fault of the service",
            _violation(faults, "seats forfeited"),
        )
    yield InvariantResult(
        "every replay is valid and has the result of its seats", _replays()
    )
    yield InvariantResult("the ledger folds to the same ratings", _ledger())


def _violation(count: int, problem: str) -> str:
    return f"{count} {problem}" if count else ""


def _attempts() -> str:
    done = Count("attempts", Q(attempts__outcome=Attempt.Outcome.FINISHED))
    games = Game.objects.annotate(done=done)
    wrong = games.filter(status__in=WITH_RESULT).exclude(done=1).count()
    wrong += games.exclude(status__in=WITH_RESULT).filter(done__gt=0).count()
    wrong += Attempt.objects.filter(outcome=Attempt.Outcome.OPEN).count()
    return _violation(wrong, "games or attempts are wrong")


def _ratings() -> str:
    entries = Count("entries", Q(entries__kind=EntryKind.GAME))
    voids = Count("entries", Q(entries__kind=EntryKind.VOID))
    games = Game.objects.filter(match__pairing__isnull=False)
    finished = games.filter(status=GameStatus.FINISHED).annotate(rated=entries)
    voided = games.filter(status=GameStatus.VOIDED).annotate(rated=entries)
    not_once = finished.exclude(rated=1).count() + voided.filter(rated__gt=1).count()
    without_result = games.exclude(status__in=WITH_RESULT)
    too_early = without_result.filter(entries__isnull=False).count()
    # A voided game that was rated before must have exactly one entry that undoes it.
    undone = voided.annotate(undone=voids).exclude(rated=0)
    not_undone = undone.exclude(undone=1).count()
    return _violation(not_once + too_early + not_undone, "games are not")


def _ranks() -> str:
    with_rank = Seat.objects.filter(rank__isnull=False)
    wrong = with_rank.exclude(game__status__in=WITH_RESULT).count()
    without_rank = Seat.objects.filter(rank__isnull=True)
    wrong += without_rank.filter(game__status__in=WITH_RESULT).count()
    return _violation(wrong, "seats are wrong")


def _bots_of_seats() -> str:
    wrong = Seat.objects.exclude(bot=F("submission__bot")).count()
    return _violation(wrong, "seats name another one")


def _replays() -> str:
    """Verify each replay, and compare its result with the rows of the seats."""
    wrong = 0
    games = Game.objects.filter(status__in=WITH_RESULT).prefetch_related("seats")
    for game in games.iterator(chunk_size=500):
        seats = sorted(game.seats.all(), key=lambda seat: seat.number)
        result = _replayed_result(bytes(game.replay or b""))
        ranks = [seat.rank for seat in seats]
        holds = result == ([seat.score for seat in seats], ranks)
        wrong += not holds or [seat.tied for seat in seats] != tied_ranks(ranks)
    return _violation(wrong, "replays are not")


@lru_cache(maxsize=128)
def _replayed_result(stored: bytes) -> tuple[list[int], list[int]] | None:
    """Play a stored replay again; return scores and ranks, or None if it is invalid.

    Cached, because the games that `tests.fill` writes share a few replays.
    """
    document = replay_format.load(replays.unpack(stored))
    try:
        replay.verify(document)
    except replay_format.InvalidReplay:
        return None
    result = document["result"] if isinstance(document, dict) else {}
    return result["scores"], result["ranks"]


def _ledger() -> str:
    complaints = [
        complaint
        for season in Season.objects.all()
        for complaint in rebuild.check(season).complaints
    ]
    return "; ".join(complaints[:MAX_COMPLAINTS])
