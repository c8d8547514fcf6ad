"""Whole tournaments in memory: a rule decides every fixture, the fold does the rest."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from random import Random

from ladder.tournaments.config import Config, read
from ladder.tournaments.plan import plan
from ladder.tournaments.values import (
    Entrant,
    Fixture,
    GameResult,
    How,
    Outcome,
    Place,
    judge,
    settled,
)

Rule = Callable[[Fixture], Outcome | None]
HALF = Fraction(1, 2)


def entrants(n: int) -> list[Entrant]:
    return [Entrant(key, key) for key in range(1, n + 1)]


def config(form: str, **more: object) -> Config:
    return read({"format": form, **more})


def better_seed_wins(fixture: Fixture) -> Outcome:
    """Decide for the smaller key, everywhere."""
    ranks = [1 + sum(k < key for k in fixture.entrants) for key in fixture.entrants]
    game = GameResult(tuple(ranks), tuple(100 - key for key in fixture.entrants))
    return judge(len(fixture.entrants), [game])


def seeded(seed: int) -> Rule:
    """Decide by chance, the same for the same place and entrants in any order."""

    def rule(fixture: Fixture) -> Outcome:
        rng = Random(f"{seed}/{fixture.place}/{fixture.entrants}")
        if rng.random() < 0.03:
            return judge(len(fixture.entrants), [])
        scores = [rng.randrange(30, 40) for _ in fixture.entrants]
        ranks = [1 + sum(s > score for s in scores) for score in scores]
        return judge(len(scores), [GameResult(tuple(ranks), tuple(scores))])

    return rule


def step(
    config: Config, field: Sequence[Entrant], fixtures: list[Fixture], rule: Rule
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


def play(
    config: Config,
    field: Sequence[Entrant],
    rule: Rule = better_seed_wins,
    leave: dict[int, int] | None = None,
) -> list[Fixture]:
    """Play to the end; ``leave`` says after how many steps an entrant leaves."""
    fixtures: list[Fixture] = []
    for turn in range(10_000):
        for k, entrant in enumerate(field):
            if (leave or {}).get(entrant.key) == turn:
                field = [*field[:k], replace(entrant, left=True), *field[k + 1 :]]
        if not step(config, field, fixtures, rule):
            return fixtures
    raise AssertionError("it never ends")


def fixture(
    round_: int, table: int, pair: Sequence[int], points: str, how: How = How.PLAYED
) -> Fixture:
    """Write down a published result: points such as ``1 0`` or ``½ ½``."""
    values = tuple(HALF if word == "½" else Fraction(word) for word in points.split())
    outcome = Outcome(how, values, (0,) * len(values))
    return Fixture(Place(round_, 0, table), tuple(pair), outcome)
