"""Brackets: seeding, byes, the losers' bracket, the reset, and the end."""

import pytest
from hypothesis import given, settings, strategies as st

from tests.tournaments.factories import (
    better_seed_wins,
    config,
    entrants,
    fixture,
    play_in_memory,
    seeded,
)
from torres.formats.config import Format
from torres.formats.elimination import fold_bracket, seed_order
from torres.formats.standings import Standings
from torres.formats.values import (
    FINAL,
    LOSERS,
    FixtureKey,
    FixtureRecord,
    FixtureResult,
    settle,
)

SINGLE, DOUBLE = "single_elimination", "double_elimination"


def test_seeds_are_in_the_usual_order() -> None:
    assert seed_order(8) == [1, 8, 4, 5, 2, 7, 3, 6]


def test_the_best_seeds_have_no_first_opponent() -> None:
    played = play_in_memory(config(SINGLE), entrants(6))

    assert {f.entrants for f in played if f.key.round == 1} == {(4, 5), (3, 6)}


@pytest.mark.parametrize("n", [2, 3, 5, 8, 13, 64])
def test_everybody_but_the_winner_of_a_double_elimination_loses_twice(n: int) -> None:
    field = entrants(n)
    played = play_in_memory(config(DOUBLE), field)
    lost = [max(f.entrants) for f in played]
    lines = Standings(config(DOUBLE), field, played).lines

    assert lost.count(1) == 0
    assert all(lost.count(k) == 2 for k in range(2, n + 1))
    assert [line.key for line in lines[:2]] == [1, 2]
    assert [line.rank for line in lines[:2]] == [1, 2]


def test_the_winner_of_the_losers_must_win_twice() -> None:
    def rule(one: FixtureRecord) -> FixtureResult:
        """Let the better seed win everywhere but in the grand final."""
        result = better_seed_wins(one)
        if one.key.pool == FINAL:
            return FixtureResult(result.how, result.points[::-1], result.scores[::-1])
        return result

    played = play_in_memory(config(DOUBLE), entrants(4), rule)
    finals = [f for f in played if f.key.pool == FINAL]
    lines = Standings(config(DOUBLE), entrants(4), played).lines

    assert len(finals) == 2
    assert (lines[0].key, lines[0].note) == (2, "wins the tournament")
    without = play_in_memory(config(DOUBLE, reset=False), entrants(4), rule)
    assert sum(f.key.pool == FINAL for f in without) == 1


@settings(max_examples=30, deadline=None)
@given(
    n=st.integers(2, 40),
    seed=st.integers(0, 2**32),
    best_of=st.sampled_from([1, 3]),
    leave=st.dictionaries(st.integers(1, 40), st.integers(0, 6), max_size=8),
    form=st.sampled_from([SINGLE, DOUBLE]),
)
def test_every_bracket_ends_with_one_winner_whatever_happens(
    n: int, seed: int, best_of: int, leave: dict[int, int], form: str
) -> None:
    rules, field = config(form, best_of=best_of), entrants(n)
    played = play_in_memory(rules, field, seeded(seed), leave)
    lines = Standings(rules, field, played).lines

    assert [line.rank for line in lines].count(1) == 1
    assert sorted(line.key for line in lines) == list(range(1, n + 1))


def test_a_best_of_three_ends_when_it_is_decided() -> None:
    played = play_in_memory(config(SINGLE, best_of=3), entrants(2))

    assert [f.key.leg for f in played] == [0, 1]
    assert [f.entrants for f in played] == [(1, 2), (2, 1)]


@pytest.mark.parametrize(
    ("scores", "winner", "why"),
    [
        ((50, 60), 2, "sum of scores (level on matches)"),
        ((50, 50), 1, "seed (level on matches and scores)"),
    ],
)
def test_a_level_contest_is_decided_by_scores_and_then_by_seed(
    scores: tuple[int, int], winner: int, why: str
) -> None:
    level = fixture(1, 0, (1, 2), "½ ½")
    assert level.result
    result = FixtureResult(level.result.how, level.result.points, scores)
    one = FixtureRecord(FixtureKey(1, 0, 0), (1, 2), result)
    bracket = fold_bracket(
        config(SINGLE),
        Format.SINGLE_ELIMINATION,
        entrants(2),
        settle([one], entrants(2)),
    )

    assert bracket.champion == winner
    assert bracket.contests[FixtureKey(1, 0, 0)].why == why


def test_losers_meet_again_late() -> None:
    """With eight entrants, early opponents meet again only in the last rounds."""
    played = play_in_memory(config(DOUBLE), entrants(8))
    first = {frozenset(f.entrants) for f in played if f.key.round == 1}
    early = [f for f in played if f.key.pool == LOSERS and f.key.round <= 3]

    assert not first & {frozenset(f.entrants) for f in early}
