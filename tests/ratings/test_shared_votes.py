"""Copies on a ladder: they lift the bot that beats them, unless they share one vote."""

from functools import cache

import numpy as np
import pytest

from tests.ratings.second_opinion_runs import RecordedLadder
from tests.ratings.simulated_ladder import SimulationPlan, draw_ranks
from torres.rating.pairing import PairingTerms
from torres.rating.plackett_luce import SeasonResults
from torres.rating.shared_votes import Voter, connected, shared_vote_weights
from torres.rating.strengths import fit_strengths, logits_per_point

BOTS = 20
TERMS = PairingTerms({"2": 1.0})
POINT = logits_per_point(TERMS.parameters)
WINNER, BEATEN = 11, 10
"""The winner beats the other one, and each of its copies, as if it were 6 points
better."""
BONUS = 6.0


class CopiesLadder(RecordedLadder):
    """Bots 1 to 20 are 1.5 points apart; all others are copies of `BEATEN`."""

    def __init__(self, plan: SimulationPlan) -> None:
        super().__init__(plan)
        for bot in self.skills:
            original = bot if bot <= BOTS else BEATEN
            self.skills[bot] = 25 + 1.5 * (BOTS / 2 - original)

    def draw(self, bots, rng):
        skills = [self.skills[bot] for bot in bots]
        if WINNER in bots and any(bot == BEATEN or bot > BOTS for bot in bots):
            skills[bots.index(WINNER)] += BONUS
        return draw_ranks(skills, self.plan.terms.parameters.beta, rng)


@cache
def strengths(copies: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean strengths of the bots, plain and with shared votes, in points."""
    plain, weighted = [], []
    for seed in range(8):
        ladder = CopiesLadder(SimulationPlan(TERMS, BOTS + copies, seed))
        ladder.play_until(100)
        results = SeasonResults.of(ladder.games)
        voters = [
            Voter(bot, bot if bot <= BOTS else BEATEN)
            for bot in range(1, BOTS + copies + 1)
        ]
        weights = shared_vote_weights(results.seats, voters)
        shared = SeasonResults(results.seats, results.ranks, results.blocks, weights)
        for found, games in ((plain, results), (weighted, shared)):
            fit = fit_strengths(games, len(voters), 8.3 * POINT)
            values = fit.strengths[:BOTS] / POINT
            others = [bot for bot in range(BOTS) if bot + 1 not in (WINNER, BEATEN)]
            found.append(values - values[others].mean())
    return np.mean(plain, axis=0), np.mean(weighted, axis=0)


def ranks(values: np.ndarray) -> np.ndarray:
    return np.argsort(np.argsort(-values)) + 1


@pytest.mark.parametrize("copies", [2, 5, 10])
def test_copies_move_no_other_bot_by_more_than_a_rank(copies: int) -> None:
    _, alone = strengths(0)
    _, among_copies = strengths(copies)

    moved = np.abs(ranks(among_copies) - ranks(alone))
    print(copies, ranks(alone), ranks(among_copies), among_copies[WINNER - 1])
    others = np.delete(moved, BEATEN - 1)
    assert others.max() <= 1


def test_without_shared_votes_ten_copies_lift_the_bot_that_beats_them() -> None:
    alone, _ = strengths(0)
    among_copies, _ = strengths(10)

    assert among_copies[WINNER - 1] > alone[WINNER - 1] + 2


def test_a_voice_weighs_as_much_as_the_bot_that_was_met_most_often() -> None:
    seats = np.array([[0, 1, -1, -1]] * 3 + [[0, 2, -1, -1]] * 3 + [[1, 0, 3, -1]] * 3)
    apart = [Voter(bot, bot) for bot in range(4)]
    copies = [*apart[:2], Voter(2, 2), Voter(3, 2)]
    versions = [*apart[:2], Voter(2, 2), Voter(2, 2)]

    assert shared_vote_weights(seats, apart).tolist() == [1] * 9
    assert shared_vote_weights(seats, versions).tolist() == [1] * 9
    assert shared_vote_weights(seats[3:], copies).tolist() == [0.5] * 6


def test_pairs_connect_bots_by_way_of_others() -> None:
    assert connected([(5, 4), (2, 3), (4, 3)]) == dict.fromkeys((2, 3, 4, 5), 2)
    assert connected([]) == {}
