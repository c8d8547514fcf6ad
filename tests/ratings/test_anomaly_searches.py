"""Searches for anomalies: honest seasons are empty, and what is planted is found.

`python -m tests.bench.anomalies` prints from which effect on, after how many games.
"""

import numpy as np
import pytest

from tests.ratings.anomaly_runs import (
    RATE,
    SeasonPlan,
    SimulatedSeason,
    bots_by_skill,
    simulate,
)
from torres.rating.anomalies.collusion import Gain
from torres.rating.anomalies.discovery import common_spread, discoveries
from torres.rating.anomalies.sandbagging import SandbaggingSign
from torres.rating.anomalies.variants import best_of_many

HONEST_SEASONS = 60
MAX_WRONG = 6
"""With a rate of 5 % for both searches, more than 6 of 60 happen in 3 % of cases."""


@pytest.mark.slow
def test_reports_on_honest_seasons_are_empty():
    """Bots differ in style, and new versions are sometimes worse."""
    wrong = 0
    tested = 0
    for seed in range(HONEST_SEASONS):
        season = simulate(SeasonPlan(bots=24, games_each=150, seed=seed))
        fit = season.fit()
        pairs = season.collusion(fit)
        losers = season.sandbagging(fit, finals_from=len(season.games.bots) * 8)
        wrong += bool(pairs.findings or losers.findings)
        tested += pairs.tested + losers.tests

    assert tested > 50 * HONEST_SEASONS
    assert wrong <= MAX_WRONG


def colluding(gain: float, *, games_each: int = 600) -> SimulatedSeason:
    """Two pairs of a field of 40, of about equal skill; one pair, one helper."""
    order = bots_by_skill(SeasonPlan(seed=3))
    return simulate(
        SeasonPlan(
            seed=3,
            games_each=games_each,
            helpers=((order[12], order[14], gain),),
            givers=((order[26], order[25], gain),),
        )
    )


def test_a_pair_and_a_helper_are_found_and_nobody_else():
    order = bots_by_skill(SeasonPlan(seed=3))
    season = colluding(6.0)

    report = season.collusion(season.fit())

    found = {(each.gain, each.first, each.second) for each in report.findings}
    pair = sorted((order[12], order[14]))
    assert found == {(Gain.TOGETHER, *pair), (Gain.HELPS, order[26], order[25])}
    for each in report.findings:
        assert each.chance < RATE / report.tested
        seats = season.games.bot_seats()[each.rows]
        assert len(each.rows) >= 20
        assert all({each.first, each.second} <= set(row) for row in seats.tolist())
    helping = next(each for each in report.findings if each.gain == Gain.HELPS)
    assert helping.gains[0] < 0 < helping.gains[1]


def test_a_small_gain_and_house_bots_are_not_reported():
    order = bots_by_skill(SeasonPlan(seed=3))
    season = colluding(0.5)
    assert not season.collusion(season.fit()).findings

    season = colluding(6.0)
    exempt = season.none_exempt()
    exempt[[order[12], order[26]]] = True
    assert not season.collusion(season.fit(), exempt=exempt).findings


def test_bots_that_suit_tables_of_four_are_honest():
    """A bot that is better at all tables of 3 and 4 gains from nobody."""
    order = bots_by_skill(SeasonPlan(seed=5))
    plan = SeasonPlan(
        seed=5, games_each=400, many_seats=((order[12], 3), (order[14], 3))
    )
    season = simulate(plan)

    assert not season.collusion(season.fit()).findings


def test_a_submission_that_holds_back_is_found():
    season = simulate(SeasonPlan(seed=2, games_each=480, holds=((20, 6.0, 0.5),)))

    report = season.sandbagging(season.fit())

    held = 20 * season.plan.versions + 2
    assert [(each.sign, each.submission) for each in report.findings] == [
        (SandbaggingSign.RISE, held)
    ]
    found = report.findings[0]
    assert found.before < 0 < found.after
    seats = (season.games.results.seats == held).any(axis=1)
    share = seats[: found.turn].sum() / seats.sum()
    assert share == pytest.approx(0.5, abs=0.15)


def test_strength_that_appears_in_the_finals_is_found():
    plan = SeasonPlan(seed=4, games_each=120, steady=True, holds=((20, 8.0, 0.75),))
    season = simulate(plan)
    finals = int(len(season.games.results.blocks) * 0.75)

    report = season.sandbagging(season.fit(), finals_from=finals)

    assert [each.submission for each in report.findings] == [60]
    assert SandbaggingSign.FINALS in {
        each.sign
        for each in season.sandbagging(
            season.fit(), rate=1.0, finals_from=finals
        ).findings
    }


def test_a_weak_version_between_strong_ones_is_found():
    season = simulate(SeasonPlan(seed=1, games_each=360, dips=((5, 16.0),)))

    report = season.sandbagging(season.fit())

    assert [(each.sign, each.submission) for each in report.findings] == [
        (SandbaggingSign.DIP, 16)
    ]
    assert report.findings[0].others == (15, 17)


def test_games_of_one_match_count_as_one():
    """Copies of each game in the same match make nothing much surer."""
    season = colluding(6.0)
    fit = season.fit()

    once = season.collusion(fit).findings
    again = season.repeated(4).collusion(fit).findings

    chances = {(each.first, each.second): each.chance for each in again}
    for each in once:
        ratio = np.log(chances[each.first, each.second]) / np.log(each.chance)
        assert ratio == pytest.approx(1, abs=0.2)  # it would be about 4


def test_the_best_of_many_is_corrected():
    """The naive value of the best is too high, the shrunk one is right on average."""
    rng = np.random.default_rng(1)
    naive, shrunk = [], []
    for _ in range(400):
        truth = rng.normal(0, 0.5, 20)
        errors = rng.uniform(0.4, 0.8, 20)
        best = best_of_many(truth + rng.normal(0, 1, 20) * errors, errors)
        naive.append(best.estimate - truth[best.index])
        shrunk.append(best.shrunk - truth[best.index])

    assert np.mean(naive) > 0.5
    assert abs(np.mean(shrunk)) < 3 * np.std(shrunk) / np.sqrt(len(shrunk)) + 0.05


def test_equal_variants_have_one_value():
    rng = np.random.default_rng(2)
    estimates = rng.normal(0, 0.3, 15)

    best = best_of_many(estimates, np.full(15, 0.5))

    assert best.spread == 0
    assert best.shrunk == pytest.approx(estimates.mean())


def test_discoveries_are_those_of_benjamini_and_hochberg():
    """The example of their paper: 15 tests, of which 4 are discoveries at 5 %."""
    small = [0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459]
    chances = np.array([*small, 0.324, 0.4262, 0.5719, 0.6528, 0.759, 1.0])

    assert discoveries(chances, 0.05).tolist() == [0, 1, 2, 3]
    assert not len(discoveries(np.array([]), 0.05))


@pytest.mark.parametrize("spread", [0.0, 0.5, 2.0])
def test_the_common_spread_is_found_and_ignores_a_few(spread):
    rng = np.random.default_rng(3)
    errors = rng.uniform(0.5, 1.5, 2000)
    effects = rng.normal(0, spread, 2000) + rng.normal(0, 1, 2000) * errors
    effects[:40] += 20

    assert common_spread(effects, errors) == pytest.approx(spread, abs=0.3)
