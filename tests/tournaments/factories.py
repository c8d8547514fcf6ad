"""Builders of whole tournaments, in memory and in rows."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from random import Random
from typing import Any, TypeVar

from ladder.games.models import Game
from ladder.games.worker import registry
from ladder.games.worker.play import play
from ladder.service.containment import Containment, Unit
from ladder.tournaments import advance, selectors, services
from ladder.tournaments.models import (
    Fixture as FixtureRow,
    Tournament,
    TournamentStatus,
)
from tests.games.factories import LIMITS, bots
from torres.formats.config import Config, read_config
from torres.formats.plan import plan_fixtures
from torres.formats.standings import Standings
from torres.formats.values import (
    FixtureKey,
    FixtureRecord,
    FixtureResult,
    GameResult,
    ResultKind,
    SeededEntrant,
    effective_result,
    match_result,
)

T = TypeVar("T")
Rule = Callable[[FixtureRecord], FixtureResult | None]
"""Decides the result of a fixture."""
Interfere = Callable[[Tournament, int], None]
"""Called with the tournament and the number of the turn, before games are played."""
HALF = Fraction(1, 2)
WORKER = registry.WorkerInfo(versions={}, slots=2)
FORMATS: list[dict[str, Any]] = [
    {"format": "round_robin"},
    {"format": "round_robin", "seats": 3, "duplicate": False},
    {"format": "swiss", "rounds": 3},
    {"format": "single_elimination", "best_of": 3},
    {"format": "double_elimination"},
    {"format": "groups", "groups": 2, "advance": 1},
]


def entrants(n: int) -> list[SeededEntrant]:
    return [SeededEntrant(key, key) for key in range(1, n + 1)]


def config(form: str, **more: object) -> Config:
    return read_config({"format": form, **more})


def better_seed_wins(fixture: FixtureRecord) -> FixtureResult:
    """Let the entrant with the smaller key win."""
    ranks = [1 + sum(k < key for k in fixture.entrants) for key in fixture.entrants]
    game = GameResult(tuple(ranks), tuple(100 - key for key in fixture.entrants))
    return match_result(len(fixture.entrants), [game])


def seeded(seed: int) -> Rule:
    """Return a rule that decides by chance, but the same fixture always the same."""

    def rule(fixture: FixtureRecord) -> FixtureResult:
        key = fixture.key
        name = f"{key.round}.{key.pool}.{key.table}.{key.leg}"
        rng = Random(f"{seed}/{name}/{fixture.entrants}")
        if rng.random() < 0.03:
            return match_result(len(fixture.entrants), [])
        scores = [rng.randrange(30, 40) for _ in fixture.entrants]
        ranks = [1 + sum(s > score for s in scores) for score in scores]
        return match_result(len(scores), [GameResult(tuple(ranks), tuple(scores))])

    return rule


def step(
    config: Config,
    entrants: Sequence[SeededEntrant],
    fixtures: list[FixtureRecord],
    rule: Rule,
) -> bool:
    """Add the next fixtures and decide all open ones; False if it is over."""
    plan = plan_fixtures(config, entrants, fixtures)
    left = frozenset(e.key for e in entrants if e.left)
    fixtures += plan.next_fixtures
    for k, fixture in enumerate(fixtures):
        if fixture.result is None:
            result = effective_result(fixture, left) or rule(fixture)
            fixtures[k] = fixture._replace(result=result)
    return not plan.over


def play_in_memory(
    config: Config,
    entrants: Sequence[SeededEntrant],
    rule: Rule = better_seed_wins,
    leave: dict[int, int] | None = None,
) -> list[FixtureRecord]:
    """Play to the end. ``leave`` maps an entrant to the number of steps it stays."""
    field = list(entrants)
    fixtures: list[FixtureRecord] = []
    for turn in range(10_000):
        for k, entrant in enumerate(field):
            if (leave or {}).get(entrant.key) == turn:
                field[k] = replace(entrant, left=True)
        if not step(config, field, fixtures, rule):
            return fixtures
    raise AssertionError("the tournament never ends")


def fixture(
    round_: int,
    table: int,
    pair: Sequence[int],
    points: str,
    how: ResultKind = ResultKind.PLAYED,
) -> FixtureRecord:
    """Return a fixture with a published result: points such as ``1 0`` or ``½ ½``."""
    values = tuple(HALF if word == "½" else Fraction(word) for word in points.split())
    result = FixtureResult(how, values, (0,) * len(values))
    return FixtureRecord(FixtureKey(round_, 0, table), tuple(pair), result)


def tournament(config: Mapping[str, Any], **more: Any) -> Tournament:
    """Create a tournament with open entry."""
    row = Tournament.objects.create(
        slug=more.pop("slug", "cup"),
        name="Cup",
        limits=LIMITS,
        config=dict(config),
        **more,
    )
    services.announce(row)
    return row


def begun(config: Mapping[str, Any], count: int, **more: Any) -> Tournament:
    """Start a tournament of bots that entered in the order of their names."""
    row = tournament(config, **more)
    for bot in bots(count):
        services.enter(row, bot)
    services.start(row)
    return row


class Uncontained(Containment):
    """Lets every error pass, so that a test sees it."""

    def run(self, unit: Unit, action: Callable[[], T], default: T) -> T:
        return action()


def tick(slots: int) -> int:
    return advance.tick(slots, Uncontained())


def worker() -> int:
    return registry.register(WORKER)


def play_scheduled(worker_id: int) -> int:
    """Play every scheduled game; return how many there were."""
    scheduled = Game.objects.filter(status="scheduled").order_by("pk")
    games = list(scheduled.values_list("pk", flat=True))
    for game in games:
        play(game, worker_id)
    return len(games)


def play_out(row: Tournament, interfere: Interfere | None = None) -> Tournament:
    """Tick and play until the tournament is over."""
    worker_id = worker()
    for turn in range(200):
        tick(slots=2)
        row.refresh_from_db()
        if row.status != TournamentStatus.RUNNING:
            return row
        if interfere is not None:
            interfere(row, turn)
        play_scheduled(worker_id)
    raise AssertionError("the tournament never ends")


def schedule(row: Tournament) -> list[tuple[Any, ...]]:
    """Return every fixture with its entrants and result, to compare tournaments."""
    fixtures = FixtureRow.objects.filter(tournament=row).prefetch_related(
        "seats__entrant__bot"
    )
    return [
        (
            (fixture.round, fixture.pool, fixture.table, fixture.leg),
            fixture.how,
            [(s.entrant.bot.slug, s.points, s.score) for s in fixture.seats.all()],
        )
        for fixture in fixtures
    ]


def standings(row: Tournament) -> Standings:
    fixtures = list(selectors.fixture_records(row).values())
    return Standings(selectors.config(row), selectors.seeded_entrants(row), fixtures)
