"""The forecast of rounds and games agrees with what the formats really schedule."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.tournaments.factories import better_seed_wins, entrants, play_in_memory
from torres.formats.config import max_entrants, read_config
from torres.formats.forecast import forecast
from torres.formats.values import (
    FINAL,
    FixtureRecord,
    FixtureResult,
    GameResult,
    match_result,
)

CONFIGS: list[dict[str, Any]] = [
    {"format": "round_robin"},
    {"format": "round_robin", "rounds": 3, "duplicate": False},
    {"format": "round_robin", "seats": 3},
    {"format": "round_robin", "seats": 4, "rounds": 5, "duplicate": False},
    {"format": "swiss"},
    {"format": "swiss", "rounds": 4, "duplicate": False},
    {"format": "swiss", "seats": 3},
    {"format": "swiss", "seats": 4, "rounds": 2, "duplicate": False},
    {"format": "single_elimination"},
    {"format": "single_elimination", "best_of": 3, "best_of_final": 5},
    {"format": "double_elimination"},
    {"format": "double_elimination", "reset": False, "best_of": 3},
    {"format": "double_elimination", "best_of_final": 3, "duplicate": False},
    {"format": "groups"},
    {"format": "groups", "groups": 3, "advance": 1, "best_of": 3},
    {"format": "groups", "groups": 4, "advance": 3, "final": "double_elimination"},
    {"format": "groups", "seats": 3, "rounds": 2},
]
SIZES = [2, 3, 4, 5, 7, 8, 9, 13, 16]


def in_turns(fixture: FixtureRecord) -> FixtureResult:
    """Let a contest last as long as possible: its matches are won in turns.

    The better seed wins it, but the worse one, who comes from the losers' bracket, wins
    the grand final, so that there is a reset.
    """
    winner, loser = sorted(fixture.entrants)
    if fixture.key.pool == FINAL:
        winner, loser = loser, winner
    if fixture.key.leg % 2:
        winner = loser
    ranks = [1 if key == winner else 2 for key in fixture.entrants]
    scores = [60 if key == winner else 50 for key in fixture.entrants]
    return match_result(2, [GameResult(tuple(ranks), tuple(scores))])


def either(fixture: FixtureRecord) -> FixtureResult:
    """Let contests at tables of two last, and let better seeds win larger tables."""
    return (in_turns if len(fixture.entrants) == 2 else better_seed_wins)(fixture)


def counts(
    config: Any, size: int, rule: Callable[[FixtureRecord], FixtureResult]
) -> tuple[int, int, int]:
    """Play a tournament in memory; return its rounds, matches and games."""
    fixtures = play_in_memory(config, entrants(size), rule)
    matches = [f for f in fixtures if len(f.entrants) > 1]
    games = sum(len(f.entrants) if config.duplicate else 1 for f in matches)
    return max(f.key.round for f in matches), len(matches), games


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("document", CONFIGS, ids=str)
def test_the_forecast_agrees_with_the_schedule(
    document: dict[str, Any], size: int
) -> None:
    config = read_config(document)
    size_before = forecast(config, size)

    shortest = counts(config, size, better_seed_wins)
    longest = counts(config, size, either)

    least = (
        size_before.least_rounds,
        size_before.least_matches,
        size_before.least_games,
    )
    most = (size_before.most_rounds, size_before.most_matches, size_before.most_games)
    assert shortest == least
    assert all(
        low <= n <= high for low, n, high in zip(least, longest, most, strict=True)
    )
    if least == most or "elimination" in document["format"]:
        assert longest == most


@pytest.mark.parametrize("document", CONFIGS, ids=str)
def test_the_largest_field_has_a_forecast(document: dict[str, Any]) -> None:
    config = read_config(document)

    size = forecast(config, max_entrants(config))

    assert 0 < size.least_games <= size.most_games


def test_slots_shorten_a_round_but_not_the_wait_for_the_next_one() -> None:
    swiss = forecast(read_config({"format": "swiss", "rounds": 3}), 8)
    robin = forecast(read_config({"format": "round_robin"}), 8)

    assert swiss.turns(1) == (24, 24)
    assert swiss.turns(8) == (3, 3)
    assert swiss.turns(1000) == (3, 3)
    assert robin.turns(1000) == (1, 1)
