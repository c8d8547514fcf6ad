"""Convergence of 500 bots over 5 seeds. Takes some minutes of one core."""

from collections.abc import Callable

import pytest

from tests.ratings.simulated_ladder import (
    SimulationPlan,
    SimulationPoint,
    average,
    converge,
)
from tests.ratings.simulations import played_ladder, ranks_lost
from torres.rating.pairing import PairingTerms

pytestmark = pytest.mark.soak
BOTS, GAMES, SEEDS, GOAL = 500, 39, range(1, 6), 0.90
CASES = [("2", 0.885, 100), ("4", 0.92, 50)]


def curve(seats: str, policy: str, games: int) -> list[SimulationPoint]:
    terms = PairingTerms({seats: 1.0})
    runs = [
        converge(SimulationPlan(terms, BOTS, seed, policy), games) for seed in SEEDS
    ]
    return [average(looks) for looks in zip(*runs, strict=True)]


def first(
    curve: list[SimulationPoint], holds: Callable[[SimulationPoint], bool]
) -> int:
    return next(look.games for look in curve if holds(look))


@pytest.mark.parametrize(("seats", "floor", "enough"), CASES)
def test_the_order_is_known_soon_and_everybody_plays(seats, floor, enough):
    ours = curve(seats, "ours", GAMES)
    by_chance = curve(seats, "random", enough)

    needed = first(
        [*ours, SimulationPoint(99, 1, 1, 0, 0)], lambda look: look.shown >= GOAL
    )
    usual = first(by_chance, lambda look: look.shown >= GOAL)
    print(f"{seats} seats: {ours[-1]}; τ = {GOAL} after {needed}, by chance {usual}")
    assert ours[-1].shown >= floor
    assert needed <= 0.75 * usual
    assert ours[-1].fewest >= 0.6 * GAMES
    assert ours[-1].most <= 1.7 * GAMES


def test_a_new_version_falls_at_most_15_places():
    terms = PairingTerms({"2": 0.4, "3": 0.2, "4": 0.4})
    for seed in SEEDS:
        ladder = played_ladder(SimulationPlan(terms, 60, seed), 100)
        falls = {
            better: [
                ranks_lost(ladder, index, better, after=40) for index in (0, 15, 30, 45)
            ]
            for better in (0.0, 3.0)
        }
        print(f"seed {seed}: places lost by points better: {falls}")
        assert max(max(places) for places in falls.values()) <= 15
