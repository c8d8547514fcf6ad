"""What has to be true of a service at rest, whatever happened to it."""

from collections.abc import Iterator
from dataclasses import dataclass

from django.db.models import Count, Q

from engine import replay, replay_format
from ladder.games import replays, selectors
from ladder.games.models import Attempt, Game, GameStatus, Seat
from ladder.ratings import rebuild
from ladder.ratings.core.ledger import EntryKind
from ladder.ratings.models import Season

PLAYED = (GameStatus.FINISHED, GameStatus.VOIDED)


@dataclass(frozen=True, slots=True)
class InvariantResult:
    """One invariant: what it says, and what speaks against it; if it holds, nothing."""

    says: str
    against: str

    @property
    def holds(self) -> bool:
        return not self.against


def check(*, forfeits: bool = False) -> Iterator[InvariantResult]:
    """Check all; `forfeits` says whether bots may forfeit here by their own fault."""
    tally = selectors.tally()
    yield InvariantResult(
        "created = finished + voided + dead + cancelled + open",
        "" if tally.adds_up else f"{tally.missing} games are missing",
    )
    yield InvariantResult("every game came to an end", _some(tally.open, "are open"))
    yield InvariantResult("one finished attempt for each result", _attempts())
    yield InvariantResult(
        "every finished game of a ladder is rated exactly once", _rated()
    )
    yield InvariantResult("ranks and scores exactly where there is a result", _seats())
    if not forfeits:
        faults = Seat.objects.exclude(fault="").count()
        yield InvariantResult(
            "nobody forfeited by our fault", _some(faults, "seats did")
        )
    yield InvariantResult("every replay verifies", _replays())
    yield InvariantResult("the ledger folds to the same bits", _ledger())


def _some(count: int, what: str) -> str:
    return f"{count} {what}" if count else ""


def _attempts() -> str:
    done = Count("attempts", Q(attempts__outcome=Attempt.Outcome.FINISHED))
    games = Game.objects.annotate(done=done)
    wrong = games.filter(status__in=PLAYED).exclude(done=1).count()
    wrong += games.exclude(status__in=PLAYED).filter(done__gt=0).count()
    wrong += Attempt.objects.filter(outcome=Attempt.Outcome.OPEN).count()
    return _some(wrong, "have not")


def _rated() -> str:
    entries = Count("entries", Q(entries__kind=EntryKind.GAME))
    voids = Count("entries", Q(entries__kind=EntryKind.VOID))
    games = Game.objects.filter(match__pairing__isnull=False)
    finished = games.filter(status=GameStatus.FINISHED).annotate(n=entries)
    voided = games.filter(status=GameStatus.VOIDED).annotate(n=entries)
    wrong = finished.exclude(n=1).count() + voided.filter(n__gt=1).count()
    other = games.exclude(status__in=PLAYED).filter(entries__isnull=False)
    counted = voided.annotate(v=voids).exclude(n=0).exclude(v=1).count()
    return _some(wrong + other.count() + counted, "are not")


def _seats() -> str:
    with_rank = Seat.objects.filter(rank__isnull=False)
    wrong = with_rank.exclude(game__status__in=PLAYED).count()
    wrong += Seat.objects.filter(game__status__in=PLAYED, rank__isnull=True).count()
    return _some(wrong, "seats are wrong")


def _replays() -> str:
    """Verify each replay, and that it tells the result that the rows tell."""
    wrong = 0
    played = Game.objects.filter(status__in=PLAYED).prefetch_related("seats")
    for game in played.iterator(chunk_size=500):
        document = replay_format.load(replays.unpack(bytes(game.replay or b"")))
        try:
            replay.verify(document)
        except replay_format.InvalidReplay:
            wrong += 1
            continue
        seats = sorted(game.seats.all(), key=lambda seat: seat.number)
        told = document["result"] if isinstance(document, dict) else {}
        rows = [seat.score for seat in seats], [seat.rank for seat in seats]
        wrong += (told["scores"], told["ranks"]) != rows
    return _some(wrong, "do not")


def _ledger() -> str:
    complaints = [
        complaint
        for season in Season.objects.all()
        for complaint in rebuild.check(season).complaints
    ]
    return "; ".join(complaints[:3])
