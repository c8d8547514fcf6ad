"""The sequential test against published results, theory and simulation."""

import math
from random import Random

import pytest

from tests.ratings.sequential_runs import (
    EQUAL_BOTS,
    mean,
    runs,
    shifted,
)
from torres.rating.betting import confidence_sequence, e_value, mirrored
from torres.rating.blocks import NEW, OLD, against_field, block_score, head_to_head
from torres.rating.sprt import SequentialTest, SprtDecision, llr, moments
from torres.rating.stopped_effect import BrownianOutcome, stopped_effect

PENTANOMIAL = (0.0, 0.25, 0.5, 0.75, 1.0)
TRINOMIAL = (0.0, 0.5, 1.0)
# The results of tests of chess programs, with their bounds in normalised Elo and the
# LLR that fastchess publishes in app/tests/sprt_test.cpp.
PUBLISHED_LLR = [
    (TRINOMIAL, (36_027, 68_692, 36_433), (0, 2), 0.92),
    (TRINOMIAL, (10_650, 20_431, 10_871), (-1.75, 0.25), 2.30),
    (PENTANOMIAL, (365, 16_618, 36_229, 16_974, 390), (0, 2), 2.25),
    (PENTANOMIAL, (127, 4_883, 10_712, 5_150, 104), (-1.75, 0.25), 3.01),
]
# Effects and lower ends of 95 % intervals in logistic Elo that fishtest publishes in
# server/tests/test_stats_sprt.py. Its tests have the bounds [0, 2].
PUBLISHED_EFFECTS = [
    ((1, 60, 500, 1_200, 600), (188.3595, 170.7252, 214.8484)),
    ((1, 20, 300, 900, 779), (245.4729, 223.6370, 289.7981)),
]


@pytest.mark.parametrize(("values", "counts", "bounds", "published"), PUBLISHED_LLR)
def test_the_llr_is_the_published_one(values, counts, bounds, published) -> None:
    games = 1 if values is TRINOMIAL else 2
    test = SequentialTest(*bounds, games_per_block=games)

    assert test.llr(dict(zip(values, counts, strict=True))) == pytest.approx(
        published, abs=0.005
    )


@pytest.mark.parametrize(("counts", "published"), PUBLISHED_EFFECTS)
def test_the_brownian_motion_has_the_published_effect_and_interval(
    counts, published
) -> None:
    """fishtest puts a test that went on too long back to where it met its boundary.

    Its motion is the LLR, with the variance around the assumed mean.
    """
    test = SequentialTest(0, 2)
    measured = moments(dict(zip(PENTANOMIAL, counts, strict=True)))
    deviation = math.sqrt(measured.variance)
    width = test.t1 - test.t0
    middle = (test.t0 + test.t1) / 2
    linear_llr = width * measured.blocks * (measured.t_value - middle)
    time = measured.blocks * test.upper / linear_llr

    def probability_below(elo: float) -> float:
        score = 1 / (1 + 10 ** (-elo / 400))
        spread = 1 + ((measured.mean - score) / deviation) ** 2
        drift = width * ((score - 0.5) / deviation - middle) / spread
        sigma = width / math.sqrt(spread)
        outcome = BrownianOutcome(
            test.lower / sigma, test.upper / sigma, time, test.upper / sigma
        )
        return outcome.probability_below(drift / sigma)

    for elo, share in zip(published, (0.5, 0.975, 0.025), strict=True):
        assert probability_below(elo) == pytest.approx(share, abs=1e-4)


def test_the_closed_formula_is_the_limit_for_small_effects() -> None:
    scores = {0.0: 2_300, 0.5: 5_100, 1.0: 2_600}
    t = moments(scores).t_value
    t0, t1 = 0.0, 0.06

    closed = 10_000 / 2 * math.log((1 + (t - t0) ** 2) / (1 + (t - t1) ** 2))

    assert llr(scores, t0, t1) == pytest.approx(closed, rel=0.02)


def test_a_version_that_wins_everything_is_accepted_after_a_few_blocks() -> None:
    test = SequentialTest()

    assert test.decide({1.0: 15}) == SprtDecision.CONTINUE  # min_blocks
    assert test.decide({1.0: 17}) == SprtDecision.ACCEPT_H1
    assert test.decide({0.0: 17}) == SprtDecision.ACCEPT_H0
    # Two points at 0 and 1 are the best explanation of each t-value.
    assert test.llr({1.0: 100}) == pytest.approx(
        100 * math.log(1 + test.t1 / math.sqrt(1 + test.t1**2)), rel=0.01
    )


def test_two_equal_programs_end_as_equal() -> None:
    test = SequentialTest()

    assert test.decide({0.5: 80}) == SprtDecision.ACCEPT_H0


def test_the_expected_number_of_games_follows_from_the_bounds() -> None:
    """The figures of fishtest: 1.047e6 / width² games in the middle of the bounds."""
    for width in (3, 50, 100):
        test = SequentialTest(0, width)
        assert test.worst_expected_games == pytest.approx(1.047e6 / width**2, rel=0.01)
        assert test.expected_games(0) == pytest.approx(test.expected_games(width))
        assert test.expected_games(0) == pytest.approx(0.64e6 / width**2, rel=0.01)
        assert test.pass_probability(0) == pytest.approx(0.05)
        assert test.pass_probability(width) == pytest.approx(0.95)
        assert test.pass_probability(width / 2) == pytest.approx(0.5)


@pytest.mark.deep
@pytest.mark.parametrize("kind", ["two seats", "four seats"])
def test_errors_and_power_are_those_of_the_bounds(kind: str) -> None:
    """200 runs; `tests/soak/test_sequential.py` has 10,000 of each kind."""
    test = SequentialTest()
    number = 200
    for nelo, wanted in ((0, SprtDecision.ACCEPT_H0), (50, SprtDecision.ACCEPT_H1)):
        truth = shifted(EQUAL_BOTS[kind], test.block_t(nelo))
        found = list(runs(test, truth, number, f"{kind}/{nelo}"))
        right = sum(run.decision == wanted for run in found)
        assert right >= 0.95 * number - 3 * math.sqrt(number * 0.05 * 0.95)
        games = sum(2 * run.blocks for run in found) / number
        assert games == pytest.approx(test.expected_games(nelo), rel=0.3)


@pytest.mark.deep
def test_the_interval_contains_the_true_effect_in_95_of_100_tests() -> None:
    test = SequentialTest()
    for nelo in (0, 25, 50, 300):
        truth = shifted(EQUAL_BOTS["two seats"], test.block_t(nelo))
        found = [
            stopped_effect(test, run.scores)
            for run in runs(test, truth, 100, f"interval/{nelo}")
        ]
        covered = sum(e.low <= mean(truth) <= e.high for e in found)
        below = sum(e.score < mean(truth) for e in found)
        assert covered >= 89, nelo
        assert 33 <= below <= 67, nelo
        assert all(e.low < e.score < e.high for e in found)


@pytest.mark.parametrize(
    ("scores", "low", "high", "nelo"),
    [
        ({0.5: 73}, (0.4, 0.5), (0.5, 0.6), 0),
        ({1.0: 17}, (0.6, 0.95), (0.999, 1.0), 500),
        ({0.0: 17, 0.5: 0}, (0.0, 0.001), (0.05, 0.4), -500),
        ({0.5: 72, 1.0: 1}, (0.48, 0.51), (0.50, 0.56), 20),
    ],
)
def test_an_effect_without_chance_is_not_exaggerated(scores, low, high, nelo) -> None:
    effect = stopped_effect(SequentialTest(), scores)

    assert low[0] <= effect.low <= low[1]
    assert high[0] <= effect.high <= high[1]
    assert effect.nelo == pytest.approx(nelo, rel=1, abs=1)


def test_stopping_at_the_best_moment_does_not_produce_evidence() -> None:
    """An author looks after each block and stops as soon as the e-value is 20."""
    rng = Random(3)
    truth = EQUAL_BOTS["two seats, the deal decides often"]
    rich = 0
    for _ in range(300):
        scores = dict.fromkeys(truth, 0.0)
        for score in rng.choices(list(truth), list(truth.values()), k=150):
            scores[score] += 1
            if e_value(scores) >= 20:
                rich += 1
                break
    assert rich <= 15


def test_the_e_value_grows_with_the_evidence() -> None:
    assert e_value({}) == pytest.approx(1)
    assert e_value({0.5: 1_000}) == pytest.approx(1)
    assert e_value({1.0: 10}) > 20
    assert e_value({0.0: 10}) < 1
    assert e_value(mirrored({0.0: 10})) == e_value({1.0: 10})
    assert e_value({0.0: 400, 1.0: 600}) > 1e6


def test_the_interval_for_all_times_shrinks_and_never_has_no_width() -> None:
    assert confidence_sequence({}) == (0.0, 1.0)
    previous = 1.0
    for n in (2, 10, 100, 1_000):
        low, high = confidence_sequence({0.0: n, 1.0: n})
        assert low < 0.5 < high
        assert high - low < previous
        previous = high - low
    low, high = confidence_sequence({1.0: 30})
    assert 0.7 < low < 1
    assert high > 0.999


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_both_versions_have_each_seat_once_in_a_block(seats: int) -> None:
    for block in range(6):
        first, second = head_to_head(block, seats)
        for one, other in zip(first.seats, second.seats, strict=True):
            assert {one, other} == {NEW, OLD}
        assert {NEW, OLD} == set(first.seats)


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_each_opponent_of_a_field_is_met_from_each_seat(seats: int) -> None:
    met = set()
    for block in range(40):
        new, old = against_field(block, seats, 4)
        assert [s if s != NEW else OLD for s in new.seats] == list(old.seats)
        own_seat = new.seats.index(NEW)
        met |= {(own_seat, rival) for rival in new.seats if rival != NEW}
    assert len(met) == seats * 4


def test_a_block_score_counts_pairs_of_versions() -> None:
    two = head_to_head(0, 2)
    four = head_to_head(0, 4)
    assert four[0].seats == (NEW, OLD, NEW, OLD)

    assert block_score(two, [(1, 2), (2, 1)], field=False) == 1.0
    assert block_score(two, [(1, 2), (1, 2)], field=False) == 0.5
    assert block_score(two, [(1, 1), (2, 1)], field=False) == 0.75
    assert block_score(four, [(1, 3, 2, 4), (3, 1, 4, 2)], field=False) == 1.0
    assert block_score(four, [(1, 2, 3, 4), (1, 2, 3, 4)], field=False) == 0.5


def test_a_block_score_against_a_field_compares_the_beaten_shares() -> None:
    games = against_field(0, 3, 2)
    assert games[0].seats == (NEW, 0, 1)

    assert block_score(games, [(1, 2, 3), (3, 1, 2)], field=True) == 1.0
    assert block_score(games, [(2, 1, 3), (2, 3, 1)], field=True) == 0.5
    assert block_score(games, [(3, 1, 2), (1, 2, 3)], field=True) == 0.0


def test_blocks_of_one_program_always_score_one_half() -> None:
    """The ranks depend on the seat alone, as in two games of the same program."""
    rng = Random(5)
    for seats in (2, 3, 4):
        for block in range(12):
            ranks = rng.sample(range(1, seats + 1), seats)
            games = head_to_head(block, seats)
            assert block_score(games, [ranks, ranks], field=False) == 0.5
