"""Tournaments in rows: bots enter, and everything that is due is played here."""

from collections.abc import Callable, Mapping
from typing import Any

from ladder.bots.models import Bot
from ladder.games import workers
from ladder.games.models import Game
from ladder.games.play import play
from ladder.tournaments import running, services
from ladder.tournaments.models import Fixture, Status, Tournament
from tests.games.cast import LIMITS, bots

Interfere = Callable[[Tournament, int], None]
CARD = workers.Card(versions={}, slots=2)


def tournament(config: Mapping[str, Any], **more: Any) -> Tournament:
    """Make a tournament whose entry is open."""
    made = Tournament.objects.create(
        slug=more.pop("slug", "cup"),
        name="Cup",
        limits=LIMITS,
        config=dict(config),
        **more,
    )
    services.announce(made)
    return made


def begun(config: Mapping[str, Any], count: int, **more: Any) -> Tournament:
    """Start a tournament of bots that entered in the order of their names."""
    made = tournament(config, **more)
    for bot in bots(count):
        services.enter(made, bot)
    services.start(made)
    return made


def worker() -> int:
    return workers.register(CARD)


def play_due(who: int) -> int:
    """Play every scheduled game; return how many."""
    due = list(
        Game.objects.filter(status="scheduled")
        .order_by("pk")
        .values_list("pk", flat=True)
    )
    for game in due:
        play(game, who)
    return len(due)


def play_out(made: Tournament, interfere: Interfere | None = None) -> Tournament:
    """Tick and play until it is over."""
    who = worker()
    for turn in range(200):
        running.tick(slots=2)
        made.refresh_from_db()
        if made.status != Status.RUNNING:
            return made
        if interfere is not None:
            interfere(made, turn)
        play_due(who)
    raise AssertionError("it never ends")


def schedule(made: Tournament) -> list[tuple[Any, ...]]:
    """Return every fixture with its entrants and outcome, to compare tournaments."""
    rows = Fixture.objects.filter(tournament=made).prefetch_related(
        "chairs__entrant__bot"
    )
    return [
        (
            (row.round, row.pool, row.table, row.leg),
            row.how,
            [(c.entrant.bot.slug, c.points, c.score) for c in row.chairs.all()],
        )
        for row in rows
    ]


def bot_of(made: Tournament, slug: str) -> Bot:
    return made.entrants.get(bot__slug=slug).bot
