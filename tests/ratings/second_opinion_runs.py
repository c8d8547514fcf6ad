"""Simulated ladders of known truth, on the live board and in the second opinion."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass
from typing import NamedTuple

import numpy as np

from tests.ratings.simulated_ladder import (
    SimulatedLadder,
    SimulationPlan,
    kendall,
)
from torres.rating.joint_claims import RankRange, interval_95_errors
from torres.rating.ledger import EntryKind
from torres.rating.plackett_luce import SeasonResults
from torres.rating.rank_sets import rank_sets
from torres.rating.strengths import StrengthFit, fit_strengths, logits_per_point

GUMBEL_SCALE = math.sqrt(6) / math.pi
"""The scale of a Gumbel distribution with the standard deviation 1."""
GUMBEL_POINTS = math.sqrt(math.pi) / 2 / GUMBEL_SCALE
"""A point is a difference that changes the chance in a duel of equal bots by as much as
with normal noise. With Gumbel noise of the same standard deviation a difference of one
is this many points: the slopes of the chance are 1/(4s) and 1/(2β√π)."""


class RecordedLadder(SimulatedLadder):
    """A simulated ladder that remembers its games as (submission, rank) by seat.

    With `gumbel` the bots perform with Gumbel noise instead of normal noise.
    """

    def __init__(self, plan: SimulationPlan, *, gumbel: bool = False) -> None:
        self.games: list[list[tuple[int, int]]] = []
        self.gumbel = gumbel
        super().__init__(plan)

    def append(self, kind, inputs, bots) -> None:
        if kind == EntryKind.GAME:
            game = [(seat["submission"] - 1, seat["rank"]) for seat in inputs["seats"]]
            self.games.append(game)
        super().append(kind, inputs, bots)

    def draw(self, bots, rng) -> list[int]:
        if not self.gumbel:
            return super().draw(bots, rng)
        scale = GUMBEL_SCALE * self.plan.terms.parameters.beta
        performances = [
            self.skills[bot] - scale * math.log(-math.log(rng.random())) for bot in bots
        ]
        order = sorted(performances, reverse=True)
        return [order.index(performance) + 1 for performance in performances]

    def play_until(self, games_per_bot: float) -> None:
        """Play until each bot has played this many games on average."""
        seats = sum(len(game) for game in self.games)
        while seats < games_per_bot * self.plan.bots:
            seats += self.play()

    def truth(self) -> np.ndarray:
        """Return the true strengths in logits of the fit, by bot."""
        skills = np.array([self.skills[bot + 1] for bot in range(self.plan.bots)])
        points = skills * (GUMBEL_POINTS if self.gumbel else 1.0)
        return points * logits_per_point(self.plan.terms.parameters)

    def fit(self) -> StrengthFit:
        parameters = self.plan.terms.parameters
        typical_sd = parameters.sigma * logits_per_point(parameters)
        results = SeasonResults.of(self.games)
        return fit_strengths(results, self.plan.bots, typical_sd)


@dataclass(frozen=True, slots=True)
class OpinionQuality:
    """The agreement of both boards with the truth after `games` games a bot.

    `live` and `second` are Kendall's τ with the true order. `live_covered` is the share
    of the intervals μ ± 1.96 σ that contain the true skill, and `covered` that of the
    intervals that a page shows. `all_sets` is the share of ladders whose possible ranks
    contain all true ranks, `all_orders` that of ladders on which no order is wrong that
    a page calls certain, and `width` the mean number of possible ranks.
    """

    games: int
    live: float
    second: float
    live_covered: float
    covered: float
    all_sets: float
    all_orders: float
    width: float


class LadderPlan(NamedTuple):
    """One simulated ladder, and the noise of its games."""

    plan: SimulationPlan
    gumbel: bool = False


def qualities(world: LadderPlan, games: Sequence[int]) -> Iterator[OpinionQuality]:
    """Yield the qualities of one simulated ladder after each number of games a bot."""
    plan = world.plan
    ladder = RecordedLadder(plan, gumbel=world.gumbel)
    truth = ladder.truth()
    true_ranks = np.argsort(np.argsort(-truth)) + 1
    for games_per_bot in games:
        ladder.play_until(games_per_bot)
        fit = ladder.fit()
        values, errors = fit.above([])
        states = [ladder.state.bots[bot + 1] for bot in range(plan.bots)]
        widths = errors * [interval_95_errors(state.games) for state in states]
        sets = rank_sets(fit.strengths, fit.covariance)
        inside = (sets.best <= true_ranks) & (true_ranks <= sets.worst)
        ranks = np.argsort(np.argsort(-values)) + 1
        claims = [
            RankRange(*row) for row in zip(ranks, sets.best, sets.worst, strict=True)
        ]
        yield OpinionQuality(
            games_per_bot,
            kendall(truth.tolist(), [state.skill.shown_rating for state in states]),
            kendall(truth.tolist(), values.tolist()),
            _live_coverage(ladder, states),
            float((np.abs(values - (truth - truth.mean())) < widths).mean()),
            float(inside.all()),
            float(not _wrong_orders(claims, true_ranks)),
            float((sets.worst - sets.best + 1).mean()),
        )


def _live_coverage(ladder: RecordedLadder, states) -> float:
    """Return the share of μ ± 1.96 σ that contain the skill, without a common shift."""
    skills = np.array([ladder.skills[bot + 1] for bot in range(ladder.plan.bots)])
    off = np.array([state.skill.mu for state in states]) - skills
    sigmas = np.array([state.skill.sigma for state in states])
    return float((np.abs(off - off.mean()) < 1.96 * sigmas).mean())


def _wrong_orders(claims: Sequence[RankRange], true_ranks: np.ndarray) -> bool:
    """True if a pair is called certain in the wrong order."""
    best_first = sorted(range(len(claims)), key=lambda bot: true_ranks[bot])
    return any(
        claims[worse].is_surely_above(claims[better])
        for place, worse in enumerate(best_first)
        for better in best_first[:place]
    )


def mean_qualities(
    worlds: Sequence[LadderPlan], games: Sequence[int]
) -> list[OpinionQuality]:
    """Return the means over several ladders, by number of games."""
    runs = [[astuple(row) for row in qualities(world, games)] for world in worlds]
    means = np.mean(runs, axis=0).tolist()
    return [OpinionQuality(int(games), *others) for games, *others in means]
