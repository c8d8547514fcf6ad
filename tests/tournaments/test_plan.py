"""Whole tournaments: every format ends, nothing blocks it, and it can resume."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from random import Random

import pytest
from hypothesis import given, settings, strategies as st

from tests.tournaments.factories import (
    better_seed_wins,
    config,
    entrants,
    play_in_memory,
    seeded,
)
from torres.formats.config import BadConfig, Config, read_config
from torres.formats.plan import plan_fixtures
from torres.formats.standings import Standings
from torres.formats.values import GameResult, ResultKind, match_result, settle

EVERY = [
    config("round_robin"),
    config("round_robin", seats=4),
    config("round_robin", seats=3, rounds=4),
    config("swiss"),
    config("swiss", seats=4, rounds=4),
    config("single_elimination"),
    config("double_elimination", best_of=3),
    config("groups", groups=2, advance=2),
    config("groups", groups=3, advance=1, final="double_elimination"),
]
IDS = [f"{c.format}-{c.seats}-{k}" for k, c in enumerate(EVERY)]


@pytest.mark.parametrize("rules", EVERY, ids=IDS)
@pytest.mark.parametrize("n", [2, 7, 13])
def test_the_best_seed_wins_if_the_better_seed_always_wins(
    rules: Config, n: int
) -> None:
    field = entrants(n)
    played = play_in_memory(rules, field)
    lines = Standings(rules, field, played).lines

    assert lines[0].key == 1 or rules.rounds  # otherwise the pairings decide
    assert sorted(line.key for line in lines) == list(range(1, n + 1))
    assert all(f.result is not None for f in played)


@pytest.mark.parametrize("rules", EVERY, ids=IDS)
def test_leavers_block_nobody(rules: Config) -> None:
    field = entrants(9)
    played = play_in_memory(rules, field, seeded(3), leave={1: 0, 4: 1, 9: 2})
    stays = [replace(e, left=e.key in (1, 4, 9)) for e in field]
    lines = Standings(rules, stays, played).lines

    assert plan_fixtures(rules, stays, played).over
    assert {line.key for line in lines} == set(range(1, 10))


@pytest.mark.parametrize("rules", EVERY, ids=IDS)
def test_a_tournament_that_everybody_leaves_ends(rules: Config) -> None:
    play_in_memory(rules, entrants(5), leave=dict.fromkeys(range(1, 6), 1))


@settings(max_examples=20, deadline=None)
@given(rules=st.sampled_from(EVERY), n=st.integers(2, 14), seed=st.integers(0, 2**32))
def test_the_order_in_which_results_come_does_not_matter(
    rules: Config, n: int, seed: int
) -> None:
    """Results that arrive one at a time, in any order, give the same tournament."""
    rule, rng, field = seeded(seed), Random(seed), entrants(n)
    together = play_in_memory(rules, field, rule)
    one_by_one = []
    while True:
        plan = plan_fixtures(rules, field, one_by_one)
        if plan.over:
            break
        one_by_one += plan.next_fixtures
        # A bye counts at once, before its result is stored.
        waiting = [
            k
            for k, f in enumerate(one_by_one)
            if f.result is None and len(f.entrants) > 1
        ]
        if waiting:
            k = rng.choice(waiting)
            one_by_one[k] = one_by_one[k]._replace(result=rule(one_by_one[k]))

    assert settle(one_by_one, field, rules.points) == settle(
        together, field, rules.points
    )


def test_sixty_four_bots_resume_to_the_same_bracket_from_every_point() -> None:
    """After any number of results a new process comes to the same end."""
    rules, field, rule = config("double_elimination"), entrants(64), seeded(64)
    whole = play_in_memory(rules, field, rule)
    rng = Random(64)
    for cut in sorted(rng.sample(range(1, len(whole)), 10)):
        fixtures = list(whole[:cut])  # everything that was on disk
        while True:
            plan = plan_fixtures(rules, field, fixtures)
            if plan.over:
                break
            fixtures += [f._replace(result=rule(f)) for f in plan.next_fixtures]

        assert sorted(fixtures, key=lambda f: f.key) == sorted(
            whole, key=lambda f: f.key
        )


def test_a_swiss_waits_for_open_matches_but_not_for_leavers() -> None:
    rules, field = config("swiss", rounds=2), entrants(4)
    first = plan_fixtures(rules, field, []).next_fixtures
    half = [first[0]._replace(result=better_seed_wins(first[0])), first[1]]

    assert plan_fixtures(rules, field, half).next_fixtures == ()
    gone = [replace(e, left=e.key in first[1].entrants) for e in field]
    (again,) = plan_fixtures(rules, gone, half).next_fixtures
    assert set(again.entrants) == set(first[0].entrants)


def test_results_against_an_early_leaver_of_a_round_robin_do_not_count() -> None:
    rules, field = config("round_robin"), entrants(5)
    played = play_in_memory(rules, field, leave={1: 0})
    stays = [replace(e, left=e.key == 1) for e in field]
    lines = Standings(rules, stays, played).lines

    assert {line.key: line.points for line in lines}[1] == 0
    assert lines[0].points == 3


def test_groups_are_dealt_back_and_forth_and_do_not_meet_again_at_once() -> None:
    rules, field = config("groups", groups=4, advance=2), entrants(16)
    played = play_in_memory(rules, field)
    groups = {
        pool: {k for f in played if f.key.pool == pool for k in f.entrants}
        for pool in range(1, 5)
    }
    after = max(f.key.round for f in played if f.key.pool > 0)
    first = [f for f in played if f.key.pool == 0 and f.key.round == after + 1]

    assert groups[1] == {1, 8, 9, 16}
    assert len(first) == 4
    assert not any(set(f.entrants) <= group for f in first for group in groups.values())


def test_nobody_has_a_second_bye_in_the_first_half_of_a_swiss() -> None:
    # Seven entrants and the bye are eight vertices. Up to the fourth round each has at
    # least four unused partners, so a perfect matching exists (Dirac's theorem).
    played = play_in_memory(config("swiss", rounds=4), entrants(7), seeded(1))
    byes = Counter(f.entrants[0] for f in played if len(f.entrants) == 1)

    assert len(byes) == 4
    assert set(byes.values()) == {1}


# The result of a match.


def game(*scores: int) -> GameResult:
    ranks = [1 + sum(s > score for s in scores) for score in scores]
    return GameResult(tuple(ranks), scores)


def test_a_duplicate_match_is_won_by_games_and_then_by_scores() -> None:
    result = match_result(2, [game(60, 50), game(40, 45)])

    assert result.points == (1, 0)
    assert result.scores == (100, 95)
    assert match_result(2, [game(60, 50), game(40, 50)]).points == (Fraction(1, 2),) * 2


def test_what_a_forfeited_seat_scored_does_not_count() -> None:
    lost = GameResult((2, 1), (90, 10), frozenset({0}))

    assert match_result(2, [lost, game(30, 25)]).points == (0, 1)


def test_a_match_without_a_finished_game_is_dead_and_even() -> None:
    result = match_result(3, [])

    assert result.how == ResultKind.DEAD
    assert result.points == (Fraction(1, 2),) * 3


def test_equal_ranks_share_the_points_of_a_table() -> None:
    four = config("round_robin", seats=4, points=[5, 3, 1, 0]).points

    assert match_result(4, [game(9, 7, 7, 1)], four).points == (5, 2, 2, 0)


def test_an_absent_entrant_ranks_last() -> None:
    result = match_result(3, [GameResult((1, None, 2), (50, None, 40))])

    assert result.points == (1, 0, Fraction(1, 2))


@pytest.mark.parametrize(
    ("document", "why"),
    [
        ({"format": "ladder"}, "format: 'ladder'; it must be one of round_robin"),
        ({"seats": 5}, "seats: 5; it must be a whole number from 2 to 4"),
        ({"seats": True}, "seats: True; it must be a whole number"),
        ({"format": "single_elimination", "seats": 3}, "two seats"),
        ({"best_of": 2}, "best_of: 2; it must be an odd number"),
        ({"points": [1]}, "it must be a list of 2 numbers"),
        ({"points": ["x", 1]}, "points: .*; it must be a list of 2 numbers"),
        ({"tie_breaks": ["luck"]}, "tie_breaks: 'luck'"),
        ({"tie_breaks": 3}, "tie_breaks: 3; it must be a list of names"),
        ({"reset": 1}, "reset: 1; it must be true or false"),
        (
            {"format": "groups", "final": "swiss"},
            "final: swiss; the final of groups must be",
        ),
        ({"fromat": "swiss"}, "unknown key: 'fromat'"),
    ],
)
def test_a_bad_configuration_says_what_is_wrong(
    document: dict[str, object], why: str
) -> None:
    with pytest.raises(BadConfig, match=why):
        read_config(document)
