"""Whole tournaments, in memory and in rows."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from random import Random
from typing import Any

from ladder.bots.models import Bot
from ladder.games.models import Game
from ladder.games.worker import registry
from ladder.games.worker.play import play
from ladder.tournaments import advance, services
from ladder.tournaments.formats.config import Config, read
from ladder.tournaments.formats.plan import plan
from ladder.tournaments.formats.values import (
    FixtureKey,
    FixtureRecord,
    FixtureResult,
    GameResult,
    How,
    SeededEntrant,
    judge,
    settled,
)
from ladder.tournaments.models import (
    Fixture as FixtureRow,
    Tournament,
    TournamentStatus,
)
from tests.games.factories import LIMITS, bots

Rule = Callable[[FixtureRecord], FixtureResult | None]
HALF = Fraction(1, 2)


def entrants(n: int) -> list[SeededEntrant]:
    return [SeededEntrant(key, key) for key in range(1, n + 1)]


def config(form: str, **more: object) -> Config:
    return read({"format": form, **more})


def better_seed_wins(fixture: FixtureRecord) -> FixtureResult:
    """Decide for the smaller key, everywhere."""
    ranks = [1 + sum(k < key for k in fixture.entrants) for key in fixture.entrants]
    game = GameResult(tuple(ranks), tuple(100 - key for key in fixture.entrants))
    return judge(len(fixture.entrants), [game])


def seeded(seed: int) -> Rule:
    """Decide by chance, the same for the same place and entrants in any order."""

    def rule(fixture: FixtureRecord) -> FixtureResult:
        key = fixture.place
        where = f"{key.round}.{key.pool}.{key.table}.{key.leg}"
        rng = Random(f"{seed}/{where}/{fixture.entrants}")
        if rng.random() < 0.03:
            return judge(len(fixture.entrants), [])
        scores = [rng.randrange(30, 40) for _ in fixture.entrants]
        ranks = [1 + sum(s > score for s in scores) for score in scores]
        return judge(len(scores), [GameResult(tuple(ranks), tuple(scores))])

    return rule


def step(
    config: Config,
    field: Sequence[SeededEntrant],
    fixtures: list[FixtureRecord],
    rule: Rule,
) -> bool:
    """Schedule what is due and decide what is open; False when it is over."""
    found = plan(config, field, fixtures)
    left = frozenset(e.key for e in field if e.left)
    fixtures += found.due
    for k, fixture in enumerate(fixtures):
        if fixture.outcome is None:
            outcome = settled(fixture, left) or rule(fixture)
            fixtures[k] = replace(fixture, outcome=outcome)
    return not found.over


def play_in_memory(
    config: Config,
    field: Sequence[SeededEntrant],
    rule: Rule = better_seed_wins,
    leave: dict[int, int] | None = None,
) -> list[FixtureRecord]:
    """Play to the end; ``leave`` says after how many steps an entrant leaves."""
    fixtures: list[FixtureRecord] = []
    for turn in range(10_000):
        for k, entrant in enumerate(field):
            if (leave or {}).get(entrant.key) == turn:
                field = [*field[:k], replace(entrant, left=True), *field[k + 1 :]]
        if not step(config, field, fixtures, rule):
            return fixtures
    raise AssertionError("it never ends")


def fixture(
    round_: int, table: int, pair: Sequence[int], points: str, how: How = How.PLAYED
) -> FixtureRecord:
    """Write down a published result: points such as ``1 0`` or ``½ ½``."""
    values = tuple(HALF if word == "½" else Fraction(word) for word in points.split())
    outcome = FixtureResult(how, values, (0,) * len(values))
    return FixtureRecord(FixtureKey(round_, 0, table), tuple(pair), outcome)


Interfere = Callable[[Tournament, int], None]
CARD = registry.WorkerInfo(versions={}, slots=2)


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
    return registry.register(CARD)


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
        advance.tick(slots=2)
        made.refresh_from_db()
        if made.status != TournamentStatus.RUNNING:
            return made
        if interfere is not None:
            interfere(made, turn)
        play_due(who)
    raise AssertionError("it never ends")


def schedule(made: Tournament) -> list[tuple[Any, ...]]:
    """Return every fixture with its entrants and outcome, to compare tournaments."""
    rows = FixtureRow.objects.filter(tournament=made).prefetch_related(
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
