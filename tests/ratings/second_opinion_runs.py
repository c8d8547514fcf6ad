"""Simulated ladders of known truth, on the live board and in the second opinion."""

from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass

import numpy as np

from torres.rating.ledger import EntryKind
from torres.rating.plackett_luce import SeasonResults
from torres.rating.rank_sets import rank_sets
from torres.rating.simulation import SimulatedLadder, SimulationPlan, kendall
from torres.rating.strengths import fit_strengths, logits_per_point


class RecordedLadder(SimulatedLadder):
    """A simulated ladder that remembers its games as (submission, rank) by seat."""

    def __init__(self, plan: SimulationPlan) -> None:
        self.games: list[list[tuple[int, int]]] = []
        super().__init__(plan)

    def append(self, kind, inputs, bots) -> None:
        if kind == EntryKind.GAME:
            game = [(seat["bot"] - 1, seat["rank"]) for seat in inputs["seats"]]
            self.games.append(game)
        super().append(kind, inputs, bots)


@dataclass(frozen=True, slots=True)
class OpinionQuality:
    """The agreement of both boards with the truth after `games` games a bot.

    `live` and `second` are Kendall's τ with the true order. `covered` is the share of
    95 % intervals that contain the true strength, `all_sets` the share of ladders whose
    simultaneous rank sets contain all true ranks, and `width` the mean number of ranks
    in a set.
    """

    games: int
    live: float
    second: float
    covered: float
    all_sets: float
    width: float


def qualities(plan: SimulationPlan, games: Sequence[int]) -> Iterator[OpinionQuality]:
    """Yield the qualities of one simulated ladder after each number of games a bot."""
    ladder = RecordedLadder(plan)
    parameters = plan.terms.parameters
    factor = logits_per_point(parameters)
    truth = np.array([ladder.skills[bot + 1] for bot in range(plan.bots)]) * factor
    true_ranks = np.argsort(np.argsort(-truth)) + 1
    seats = 0
    for games_per_bot in games:
        while seats < games_per_bot * plan.bots:
            seats += ladder.play()
        results = SeasonResults.of(ladder.games)
        fit = fit_strengths(results, plan.bots, parameters.sigma * factor)
        values, errors = fit.above([])
        sets = rank_sets(fit.strengths, fit.covariance)
        inside = (sets.best <= true_ranks) & (true_ranks <= sets.worst)
        states = [ladder.state.bots[bot + 1] for bot in range(plan.bots)]
        off = np.abs(values - (truth - truth.mean()))
        yield OpinionQuality(
            games_per_bot,
            kendall(truth.tolist(), [state.skill.shown_rating for state in states]),
            kendall(truth.tolist(), values.tolist()),
            float((off < 1.96 * errors).mean()),
            float(inside.all()),
            float((sets.worst - sets.best + 1).mean()),
        )


def mean_qualities(
    plans: Sequence[SimulationPlan], games: Sequence[int]
) -> list[OpinionQuality]:
    """Return the means over several ladders, by number of games."""
    runs = [[astuple(row) for row in qualities(plan, games)] for plan in plans]
    means = np.mean(runs, axis=0).tolist()
    return [OpinionQuality(int(games), *others) for games, *others in means]
