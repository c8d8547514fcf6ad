"""Builders of bots with two versions, and of the results of their games."""

from collections.abc import Callable

from django.contrib.auth.models import User

from ladder.bots.models import Bot
from ladder.extras.comparisons import advance, services
from ladder.extras.comparisons.models import ComparisonStatus, VersionComparison
from ladder.extras.comparisons.services import ComparisonTerms
from ladder.games.models import Game, Seat
from ladder.ratings.models import Ladder
from tests import factories
from tests.factories import Show
from tests.ratings.factories import finish
from tests.tournaments.factories import Uncontained

Better = Callable[[Game, Seat], bool]
"""True if a seat wins against the other version's seats of its game."""


def ladder(**tables: float) -> Ladder:
    """Return the ladder `main`, with games of two seats unless `tables` says more."""
    row = factories.make_ladder().ladder
    if tables:
        Ladder.objects.filter(pk=row.pk).update(
            tables={name.removeprefix("t"): share for name, share in tables.items()}
        )
        row.refresh_from_db()
    return row


def bot(name: str = "Grendel", owner: str = "ana", versions: int = 2) -> Bot:
    """Return a bot with some versions, of which the last one is ready."""
    row = factories.make_bot(name, owner).bot
    for number in range(2, versions + 1):
        factories.upload(row, f"{name} {number}".encode())
    return row


def begun(terms: ComparisonTerms = services.DEFAULT_TERMS) -> VersionComparison:
    """Start a comparison of Ana's bot on a ladder of two seats."""
    row = bot()
    owner = User.objects.get(username="ana")
    return services.start(owner, row, ladder(), terms)


def tick(slots: int = 4) -> int:
    return advance.tick(slots, Uncontained())


def new_wins(game: Game, seat: Seat) -> bool:
    """Let the newer version win."""
    return seat.submission.number == 2


def old_wins(game: Game, seat: Seat) -> bool:
    return seat.submission.number == 1


def first_seat_wins(game: Game, seat: Seat) -> bool:
    """Let both versions win once in each block."""
    return seat.number == 0


def finish_all(better: Better = new_wins) -> int:
    """Let a worker finish all scheduled games; return how many there were."""
    scheduled = list(Game.objects.filter(status="scheduled").order_by("-pk"))
    for game in scheduled:
        seats = list(game.seats.select_related("submission").order_by("number"))
        winners = [seat for seat in seats if better(game, seat)]
        order = winners + [seat for seat in seats if seat not in winners]
        finish(game, [1 + order.index(seat) for seat in seats])
    return len(scheduled)


def play_out(row: VersionComparison, better: Better = new_wins) -> VersionComparison:
    """Tick and play until the comparison has ended."""
    for _ in range(2_000):
        tick()
        row.refresh_from_db()
        if row.status != ComparisonStatus.RUNNING:
            return row
        finish_all(better)
    raise AssertionError("the comparison never ends")


def undecided(show: Show) -> VersionComparison:
    """Write the row of a comparison of Ana's bot with one block, for pages and API."""
    row = VersionComparison.objects.create(
        bot=show.anas.bot,
        new=show.anas,
        old=show.rejected,
        by=show.anas.bot.owner,
        ladder=show.season.ladder,
        ruleset="yucata",
        limits=factories.LIMITS,
        sizes=[2],
        nelo0=0.0,
        nelo1=50.0,
        error=0.05,
        max_games=1000,
        note=factories.HOSTILE,
    )
    row.blocks.create(number=0, match=show.match, score=0.25)
    return row
