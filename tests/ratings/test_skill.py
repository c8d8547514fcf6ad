import itertools
import math

import pytest
import trueskill
from hypothesis import given, strategies as st

from ladder.ratings.core.trueskill import (
    Parameters,
    Skill,
    chance,
    information,
    rate,
    renewed,
)

LADDER = Parameters()
numbers = st.tuples(st.floats(0, 50), st.floats(0.5, 9))


def peer(skills, ranks, parameters, draws=0.0):
    env = trueskill.TrueSkill(
        parameters.mu, parameters.sigma, parameters.beta, parameters.tau, draws
    )
    rated = env.rate([(env.create_rating(*skill),) for skill in skills], ranks)
    return [(after.mu, after.sigma) for (after,) in rated]


@given(st.lists(numbers, min_size=2, max_size=4), st.randoms())
def test_it_agrees_with_trueskill(skills, rng):
    ranks = list(range(1, len(skills) + 1))
    rng.shuffle(ranks)
    bots = {k: Skill(*skill) for k, skill in enumerate(skills)}

    ours = rate(bots, dict(enumerate(ranks)), LADDER)

    for k, (mu, sigma) in enumerate(peer(skills, ranks, LADDER)):
        assert ours[k].mu == pytest.approx(mu, abs=1e-9)
        assert ours[k].sigma == pytest.approx(sigma, abs=1e-9)


@given(
    st.lists(st.tuples(numbers, st.integers(1, 4)), min_size=2, max_size=4),
    st.floats(0, 0.1),
)
def test_it_agrees_with_trueskill_where_seats_are_tied(seats, tau):
    """At a draw margin so small that it hardly counts, but does not cancel."""
    seats = sorted(seats, key=lambda seat: seat[1])
    skills, ranks = [skill for skill, _ in seats], [rank for _, rank in seats]
    parameters = Parameters(tau=tau)
    bots = {k: Skill(*skill) for k, skill in enumerate(skills)}

    ours = rate(bots, dict(enumerate(ranks)), parameters)

    for k, (mu, sigma) in enumerate(peer(skills, ranks, parameters, draws=1e-3)):
        assert ours[k].mu == pytest.approx(mu, abs=0.02)
        assert ours[k].sigma == pytest.approx(sigma, abs=0.02)


@pytest.mark.parametrize(
    ("skills", "ranks"),
    [
        ([(25, 8), (27, 7)], [1, 1]),
        ([(31, 2), (25, 8), (22, 5)], [1, 2, 2]),
        ([(20, 3), (25, 6), (29, 4), (18, 8)], [1, 2, 2, 2]),
        ([(30, 3), (28, 4), (25, 6), (20, 8)], [1, 2, 3, 3]),
    ],
)
def test_ordinary_ties_are_what_trueskill_says_exactly(skills, ranks):
    bots = {k: Skill(*skill) for k, skill in enumerate(skills)}

    ours = rate(bots, dict(enumerate(ranks)), LADDER)

    for k, (mu, sigma) in enumerate(peer(skills, ranks, LADDER)):
        assert ours[k].mu == pytest.approx(mu, abs=1e-9)
        assert ours[k].sigma == pytest.approx(sigma, abs=1e-9)


def test_two_newcomers_that_tie_are_known_better_and_not_worse():
    """The package makes 10.26 of two sigmas of 9."""
    ours = rate({1: Skill(25, 9), 2: Skill(25, 9)}, {1: 1, 2: 1}, Parameters(tau=0.0))

    # By hand: 1/81 and, through 81 + 2β² for the other's skill and both performances.
    seen = 1 / (81 + 2 * (25 / 6) ** 2)
    assert ours[1].sigma == pytest.approx((1 / (1 / 81 + seen)) ** 0.5)
    assert ours[1] == ours[2]


def test_a_tie_that_breaks_trueskill_is_rated_all_the_same():
    skills = [(25.0, 0.5), (25.0, 1.9926387968640102), (0.0, 9.0), (50.0, 9.0)]
    still = Parameters(tau=0.0)
    with pytest.raises(ValueError, match="math domain"):
        peer(skills, [3] * 4, still)

    ours = rate(
        {k: Skill(*s) for k, s in enumerate(skills)}, dict.fromkeys(range(4), 3), still
    )

    for k, (mu, sigma) in enumerate(peer(skills, [3] * 4, still, draws=1e-3)):
        assert ours[k].mu == pytest.approx(mu, abs=1e-3)
        assert ours[k].sigma == pytest.approx(sigma, abs=1e-3)


def test_what_is_expected_to_be_learnt_is_what_is_learnt_on_average():
    one, other = Skill(26, 5), Skill(24, 3)
    still = Parameters(tau=0.0)
    wins = chance(one, other, still)
    kept = 0.0
    for share, ranks in ((wins, {1: 1, 2: 2}), (1 - wins, {1: 2, 2: 1})):
        after = rate({1: one, 2: other}, ranks, still)
        kept += share * math.log(after[1].sigma / one.sigma)
        kept += share * math.log(after[2].sigma / other.sigma)

    told = information(one.mu - other.mu, one.sigma**2, other.sigma**2, still.beta)
    assert told == pytest.approx(-kept, rel=0.05)


@pytest.mark.parametrize("apart", [0, 1, 50, 500, 1e9])
def test_what_is_learnt_falls_with_the_distance_to_nothing(apart):
    told = information(apart, 16, 16, LADDER.beta)

    assert 0 <= told <= information(0, 16, 16, LADDER.beta)


def test_the_order_in_which_tied_seats_are_told_changes_no_bit():
    bots = {1: Skill(25, 8), 2: Skill(27, 3), 3: Skill(22, 5), 4: Skill(30, 2)}
    ranks = {1: 1, 2: 2, 3: 2, 4: 2}

    results = [
        rate({bot: bots[bot] for bot in order}, ranks, LADDER)
        for order in itertools.permutations(bots)
    ]

    assert all(result == results[0] for result in results)


def test_a_winner_rises_and_everybody_is_better_known():
    after = rate({1: Skill(25, 8), 2: Skill(25, 8)}, {1: 1, 2: 2}, LADDER)

    assert after[1].mu > 25 > after[2].mu
    assert after[1].sigma < 8


def test_a_new_version_keeps_the_mean_and_is_less_known():
    assert renewed(Skill(31, 1), LADDER) == Skill(31, LADDER.sigma / 4)
    assert renewed(Skill(31, 5), LADDER) == Skill(31, 5)


def test_chances_add_up():
    one, other = Skill(30, 2), Skill(25, 4)

    assert chance(one, other, LADDER) > 0.5
    assert chance(one, other, LADDER) + chance(other, one, LADDER) == pytest.approx(1)


def test_a_result_that_nobody_expected_does_not_break_it():
    after = rate({1: Skill(500, 1), 2: Skill(-500, 1)}, {1: 2, 2: 1}, LADDER)

    assert after[1].sigma > 0
