"""The second opinion: its time for a large season, and its quality against the truth.

The quality is that of simulated ladders with the real matchmaker, where the truth is
known: `python -m tests.bench.second_opinion` prints the whole table.
"""

import time

from tests.bench.sizes import size
from tests.ratings.second_opinion_runs import (
    OpinionQuality,
    RecordedLadder,
    mean_qualities,
)
from torres.rating.pairing import PairingTerms
from torres.rating.plackett_luce import SeasonResults
from torres.rating.rank_sets import rank_sets, top_probabilities
from torres.rating.simulation import SimulationPlan
from torres.rating.strengths import fit_strengths

TERMS = PairingTerms({"2": 0.4, "3": 0.2, "4": 0.4})
BOTS = size(1_000, short=20)
GAMES = size(100_000, short=500)
LIMIT_S = 10.0
LADDERS = size(40, short=2)
LADDER_BOTS = size(100, short=10)
GAMES_PER_BOT = size((10, 20, 40), short=(5, 10))


def measure() -> list[tuple[str, float, str, bool]]:
    """Return rows of (name, value, target, True if the target is met)."""
    spent = _seconds()
    what = f"re-estimate of {GAMES:,} games of {BOTS:,} bots, s of CPU"
    rows = [(what, spent, f"≤ {LIMIT_S:.0f} s", spent <= LIMIT_S)]
    for quality in _qualities():
        games = f"after {quality.games} games a bot"
        gain = quality.second - quality.live
        rows += [
            (f"τ of the live board {games}", quality.live, "-", True),
            (f"τ of the second opinion {games}", quality.second, "more", gain > 0),
            (
                f"share of 95 % intervals that are right {games}",
                quality.covered,
                ".93 - .97",
                0.93 <= quality.covered <= 0.97,
            ),
            (
                f"share of ladders whose rank sets are all right {games}",
                quality.all_sets,
                "≥ .95",
                quality.all_sets >= 0.95,
            ),
        ]
    return rows


def _qualities() -> list[OpinionQuality]:
    plans = [SimulationPlan(TERMS, LADDER_BOTS, seed) for seed in range(1, LADDERS + 1)]
    return mean_qualities(plans, GAMES_PER_BOT)


def _seconds() -> float:
    """Return the CPU time of the fit, the rank sets and P(top 3)."""
    ladder = RecordedLadder(SimulationPlan(TERMS, BOTS, policy="random"))
    while len(ladder.games) < GAMES:
        ladder.play()
    start = time.process_time()
    fit = fit_strengths(SeasonResults.of(ladder.games), BOTS, 2.2)
    rank_sets(fit.strengths, fit.covariance)
    top_probabilities(fit.strengths, fit.covariance, 3)
    return time.process_time() - start


if __name__ == "__main__":
    print(f"{LADDERS} ladders of {LADDER_BOTS} bots, {TERMS.shares}")
    print("games   τ live  τ second   covered  all sets  ranks in a set")
    for row in _qualities():
        print(
            f"{row.games:>5}  {row.live:>7.4f} {row.second:>9.4f} {row.covered:>9.3f}"
            f" {row.all_sets:>9.2f} {row.width:>15.1f}"
        )
