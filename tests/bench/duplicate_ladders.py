"""Measure what duplicates do to the order of a ladder, at equal numbers of games.

`python -m tests.bench duplicate_ladders` simulates ladders of known truth with the real
matchmaker and the real ratings, once with single games and once with duplicates. The
games of a block are correlated so that their mean has the variance that `python -m
tests.bench duplicates` measured. A block costs as many games as it has seats, so bots
meet fewer others. `--ratio` shows what another variance would do.
"""

import argparse
import math
from collections.abc import Iterator
from statistics import fmean, stdev

from tests.ratings.simulated_ladder import SimulatedLadder, SimulationPlan, kendall
from torres.rating.ledger import EntryKind
from torres.rating.pairing import PairingTerms, Seating

RATIOS = {2: 0.926, 4: 0.952}
"""Of the rank share, by seats: the variance in blocks to that of single games."""
LADDERS = 40
BOTS = 60
GAMES_PER_BOT = (20, 40, 80)


class BlockLadder(SimulatedLadder):
    """A simulated ladder whose matches may be blocks of correlated games."""

    def __init__(self, plan: SimulationPlan, ratio: float) -> None:
        self.ratio = ratio
        super().__init__(plan)

    def _decide(self, seating: Seating) -> int:
        """Draw and fold the games of a match; return their seats."""
        bots = [profile.bot for profile in seating.seats]
        games = len(bots) if self.plan.terms.duplicate else 1
        performances = [self._performances(self.skills[bot], games) for bot in bots]
        for of_game in zip(*performances, strict=True):
            seats = [
                {
                    "bot": bot,
                    "submission": bot,
                    "rank": 1 + sum(other > own for other in of_game),
                    "fault": "",
                }
                for bot, own in zip(bots, of_game, strict=True)
            ]
            for bot in bots:
                self._policy.game_ended(bot)
            self.append(EntryKind.GAME, {"seats": seats}, bots)
        return games * len(bots)

    def _performances(self, skill: float, games: int) -> list[float]:
        """Return normal performances with the variance β² each.

        That of their mean is `ratio` β² / games. So the common part of independent
        errors is made smaller, and what differs between the games larger.
        """
        beta = self.plan.terms.parameters.beta
        if games == 1:
            return [self._results_rng.gauss(skill, beta)]
        errors = [self._results_rng.gauss(0, 1) for _ in range(games)]
        mean = fmean(errors)
        common = math.sqrt(self.ratio)
        apart = math.sqrt((games - self.ratio) / (games - 1))
        return [
            skill + beta * (common * mean + apart * (error - mean)) for error in errors
        ]


def taus(plan: SimulationPlan, ratio: float) -> Iterator[float]:
    """Yield Kendall's τ of μ with the true order, after each number of games a bot."""
    ladder = BlockLadder(plan, ratio)
    seats = 0
    for games in GAMES_PER_BOT:
        while seats < games * plan.bots:
            seats += ladder.play()
        bots = ladder.state.bots
        skills = [state.skill.mu for state in bots.values()]
        yield kendall([ladder.skills[bot] for bot in bots], skills)


def report(arguments: list[str]) -> None:
    """Simulate the ladders, and print the table."""
    parser = argparse.ArgumentParser("python -m tests.bench duplicate_ladders")
    parser.add_argument("--ratio", type=float, help="for all numbers of seats")
    options = parser.parse_args(arguments)
    print("| seats | games of a bot | τ with single games | with duplicates | change |")
    print("|---|---|---|---|---|", flush=True)
    for seats, measured in RATIOS.items():
        ratio = options.ratio or measured
        found = []
        for seed in range(1, LADDERS + 1):
            single, blocks = (
                list(taus(SimulationPlan(_terms(seats, blocks), BOTS, seed), ratio))
                for blocks in (False, True)
            )
            found.append((single, blocks))
        for number, games in enumerate(GAMES_PER_BOT):
            one = [single[number] for single, _ in found]
            other = [blocks[number] for _, blocks in found]
            gains = [b - a for a, b in zip(one, other, strict=True)]
            error = stdev(gains) / math.sqrt(LADDERS)
            print(
                f"| {seats} | {games} | {fmean(one):.4f} | {fmean(other):.4f} |"
                f" {fmean(gains):+.4f} ± {error:.4f} |",
                flush=True,
            )


def _terms(seats: int, duplicate: bool) -> PairingTerms:  # noqa: FBT001 - of a setting
    return PairingTerms({str(seats): 1.0}, duplicate=duplicate)
