"""Searches for anomalies: how often honest seasons are reported, and what is found.

`python -m tests.bench.anomalies` prints the whole table; it takes some minutes. The
seasons are simulated, so that the truth is known (`tests.ratings.anomaly_runs`).
"""

import time
from collections.abc import Iterator, Sequence

import numpy as np

from tests.bench.sizes import size
from tests.ratings.anomaly_runs import (
    RATE,
    SeasonPlan,
    SimulatedSeason,
    bots_by_skill,
    simulate,
)
from tests.ratings.second_opinion_runs import RecordedLadder
from tests.ratings.simulated_ladder import SimulationPlan
from torres.rating.anomalies.collusion import Gain, find_collusion
from torres.rating.anomalies.sandbagging import find_sandbagging
from torres.rating.anomalies.season_games import SeasonGames, comparisons
from torres.rating.pairing import PairingTerms
from torres.rating.plackett_luce import SeasonResults
from torres.rating.strengths import fit_strengths

Row = tuple[str, float, str, bool]

TERMS = PairingTerms({"2": 0.4, "3": 0.2, "4": 0.4})
HONEST_SEASONS = size(200, short=1)
LADDERS = size(40, short=1)
LADDER_BOTS = 30
LADDER_GAMES = size(150, short=20)
STYLES = size((0.0, 0.6, 1.5), short=(0.6,))
PLANTED = size(12, short=1)
PAIR_GAMES = size((400, 800, 1600), short=(100,))
PAIR_POINTS = size((2.0, 4.0, 8.0), short=(8.0,))
LOSER_GAMES = size((40, 80, 160, 320), short=(40,))
LOSER_POINTS = size((4.0, 8.0, 16.0), short=(16.0,))
MAX_WRONG = 0.05


def measure() -> list[Row]:
    """Return rows of (name, value, target, True if the target is met)."""
    began = time.process_time()
    rows = [*_honest(), _real_matchmaker(), *_collusion(), *_sandbagging()]
    return [
        *rows,
        ("CPU of all these seasons, s", time.process_time() - began, "-", True),
    ]


def _honest() -> Iterator[Row]:
    """Yield the share of honest seasons with a finding, by the strength of styles."""
    for style in STYLES:
        wrong = 0
        for seed in range(HONEST_SEASONS):
            plan = SeasonPlan(bots=30, games_each=150, seed=seed, style_sd=style)
            wrong += _has_findings(simulate(plan))
        share = wrong / HONEST_SEASONS
        what = f"honest seasons with a finding; styles worth {style:g} points"
        yield what, share, "≤ .05", share <= MAX_WRONG


def _has_findings(season: SimulatedSeason) -> bool:
    fit = season.fit()
    finals = int(0.8 * len(season.games.results.blocks))
    return bool(
        season.collusion(fit).findings
        or season.sandbagging(fit, finals_from=finals).findings
    )


def _real_matchmaker() -> Row:
    """Return the share of honest ladders with a finding, paired by the matchmaker."""
    wrong = 0
    for seed in range(LADDERS):
        ladder = RecordedLadder(SimulationPlan(TERMS, LADDER_BOTS, seed))
        seats = 0
        while seats < LADDER_GAMES * LADDER_BOTS:
            seats += ladder.play()
        results = SeasonResults.of(ladder.games)
        games = SeasonGames(
            results,
            np.zeros(results.seats.shape, dtype=bool),
            np.arange(LADDER_BOTS, dtype=np.int64),
        )
        fit = fit_strengths(results, LADDER_BOTS, 2.0)
        compared = comparisons(games, fit.strengths)
        none = np.zeros(LADDER_BOTS, dtype=bool)
        losers = find_sandbagging(
            games, compared, fit, exempt=none, finals_from=None, rate=RATE
        )
        pairs = find_collusion(games, compared, none, RATE)
        wrong += bool(losers.findings or pairs.findings)
    share = wrong / LADDERS
    what = "honest ladders with a finding; the real matchmaker"
    return what, share, "≤ .05", share <= MAX_WRONG


def _collusion() -> Iterator[Row]:
    """Yield how often a planted pair and a planted helper are found."""
    for games_each in PAIR_GAMES:
        for points in PAIR_POINTS:
            yield from _planted_pairs(games_each, points)


def _planted_pairs(games_each: int, points: float) -> Iterator[Row]:
    pairs, helpers, gains, tables = [], [], [], []
    for seed in range(PLANTED):
        order = bots_by_skill(SeasonPlan(seed=seed))
        one, other, giver, taker = order[12], order[14], order[26], order[25]
        plan = SeasonPlan(
            seed=seed,
            games_each=games_each,
            helpers=((one, other, points),),
            givers=((giver, taker, points),),
        )
        season = simulate(plan)
        seated = season.games.bot_seats()
        both = (seated == one).any(axis=1) & (seated == other).any(axis=1)
        tables.append(int((both & (season.games.sizes > 2)).sum()))
        found = season.collusion(season.fit()).findings
        pair = [each for each in found if {each.first, each.second} == {one, other}]
        pairs.append(bool(pair))
        gains += [float(np.mean(each.gains)) for each in pair]
        helpers.append(
            (Gain.HELPS, giver, taker)
            in [(each.gain, each.first, each.second) for each in found]
        )
    what = f"{points:g} points at about {_mean(tables):.0f} tables"
    yield f"pairs found: {what} (gain {_mean(gains):.2f})", _mean(pairs), "-", True
    yield f"helpers found: {what}", _mean(helpers), "-", True


def _sandbagging() -> Iterator[Row]:
    """Yield how often a planted loser is found, by its games with one version."""
    for games in LOSER_GAMES:
        for points in LOSER_POINTS:
            yield from _planted_losers(games, points)


def _planted_losers(games: int, points: float) -> Iterator[Row]:
    rises, finals, dips = [], [], []
    for seed in range(PLANTED):
        plan = SeasonPlan(
            seed=seed,
            games_each=3 * games,
            holds=((20, points, 0.5),),
            dips=((5, points),),
        )
        season = simulate(plan)
        found = season.sandbagging(season.fit()).findings
        rises.append(62 in [each.submission for each in found])
        dips.append(16 in [each.submission for each in found])
        plan = SeasonPlan(
            seed=seed, games_each=games, steady=True, holds=((20, points, 0.75),)
        )
        season = simulate(plan)
        begin = int(0.75 * len(season.games.results.blocks))
        found = season.sandbagging(season.fit(), finals_from=begin).findings
        finals.append(60 in [each.submission for each in found])
    what = f"{points:g} points, {games} games of the version"
    yield f"rises found: {what}", _mean(rises), "-", True
    yield f"rises in finals found: {what}", _mean(finals), "-", True
    yield f"dips found: {what}", _mean(dips), "-", True


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if len(values) else float("nan")


if __name__ == "__main__":
    for name, value, target, holds in measure():
        print(f"{value:8.2f}  {target:8}{'' if holds else 'MISS'} {name}", flush=True)
