"""New versions in the joint fit: near the old one, unless the games say otherwise."""

from functools import cache

import numpy as np
import pytest
from trueskillthroughtime import History

from tests.ratings.second_opinion_runs import RecordedLadder
from tests.ratings.simulated_ladder import SimulationPlan
from torres.rating.ledger import EntryKind
from torres.rating.pairing import PairingTerms
from torres.rating.plackett_luce import SeasonResults
from torres.rating.strengths import fit_strengths, logits_per_point
from torres.rating.trueskill import Parameters

TERMS = PairingTerms({"2": 0.4, "3": 0.2, "4": 0.4})
POINT = logits_per_point(TERMS.parameters)
BOTS = 40
RENEWED = 4
LADDERS = 12


@cache
def ladder_with_new_versions(seed: int, jump: float) -> RecordedLadder:
    """Return a ladder whose first bots have played 10 games with a new version."""
    ladder = RecordedLadder(SimulationPlan(TERMS, BOTS, seed))
    ladder.play_until(40)
    for bot in range(1, RENEWED + 1):
        inputs = {"bot": bot, "submission": BOTS + bot, "digest": "new"}
        ladder.append(EntryKind.NEW_VERSION, inputs, [bot])
        ladder.skills[bot] += jump
    while min(ladder.state.bots[bot].fresh for bot in range(1, RENEWED + 1)) < 10:
        ladder.play()
    return ladder


def off(ladder: RecordedLadder, estimates: np.ndarray) -> np.ndarray:
    """Return how far the new versions are from the truth, in points.

    `estimates` are those of all submissions; bots that changed nothing are zero.
    """
    others = slice(RENEWED, BOTS)
    skills = np.array([ladder.skills[bot + 1] for bot in range(BOTS)])
    shift = estimates[others].mean() - skills[others].mean()
    return estimates[BOTS:] - shift - skills[:RENEWED]


def errors(jump: float, estimate) -> np.ndarray:
    """Return the errors of all new versions on all ladders."""
    ladders = (ladder_with_new_versions(seed, jump) for seed in range(LADDERS))
    return np.concatenate([off(ladder, estimate(ladder)) for ladder in ladders])


def joint_fit(ladder: RecordedLadder, *, linked: bool = True) -> np.ndarray:
    versions = [(bot, BOTS + bot) for bot in range(RENEWED)] if linked else []
    results = SeasonResults.of(ladder.games)
    sd = TERMS.parameters.sigma * POINT
    fit = fit_strengths(results, BOTS + RENEWED, sd, versions)
    return fit.strengths / POINT


def unlinked_fit(ladder: RecordedLadder) -> np.ndarray:
    return joint_fit(ladder, linked=False)


def live_board(ladder: RecordedLadder) -> np.ndarray:
    found = [ladder.state.bots[bot + 1].skill.mu for bot in range(BOTS)]
    return np.array([*found, *found[:RENEWED]])


def through_time(ladder: RecordedLadder) -> np.ndarray:
    """Return the estimates of trueskillthroughtime.

    A new version is a step in time with a normal change, as wide as on the live board.
    """
    parameters = Parameters()
    order = [sorted(game, key=lambda seat: seat[1]) for game in ladder.games]
    history = History(
        [[[str(bot % BOTS)] for bot, _ in game] for game in order],
        times=[int(any(bot >= BOTS for bot, _ in game)) for game in order],
        mu=parameters.mu,
        sigma=parameters.sigma,
        beta=parameters.beta,
        gamma=parameters.sigma / 4,
    )
    history.convergence(iterations=6, verbose=False)
    curves = history.learning_curves()
    found = [curves[str(bot)] for bot in range(BOTS)]
    first = [curve[0][1].mu for curve in found]
    return np.array(first + [found[bot][-1][1].mu for bot in range(RENEWED)])


@pytest.mark.deep
def test_a_version_that_is_much_better_is_found_within_ten_games():
    ours = errors(8.0, joint_fit)
    theirs = errors(8.0, through_time)
    live = errors(8.0, live_board)
    print(f"+8: {ours.mean():.2f}; through time {theirs.mean():.2f}; {live.mean():.2f}")

    assert ours.mean() >= -2.5
    assert abs(ours).mean() < abs(theirs).mean()
    assert live.mean() < ours.mean() - 1


@pytest.mark.deep
def test_a_version_that_changes_nothing_costs_little():
    ours = errors(0.0, joint_fit)
    theirs = errors(0.0, through_time)
    unlinked = errors(0.0, unlinked_fit)
    print(abs(ours).mean(), abs(theirs).mean(), abs(unlinked).mean())

    assert abs(ours).mean() <= abs(theirs).mean() + 0.3
    assert abs(ours).mean() < abs(unlinked).mean() - 0.3
    assert ours.mean() == pytest.approx(0, abs=0.3)


def test_the_version_before_is_a_witness_also_for_a_bot_without_games():
    games = [[(0, 1), (1, 2)]] * 12 + [[(2, 1), (1, 2)]]
    apart = fit_strengths(SeasonResults.of(games), 3, 2.2).strengths
    linked = fit_strengths(SeasonResults.of(games), 3, 2.2, [(0, 2)]).strengths

    assert linked[2] > apart[2] + 0.3
    assert linked[2] < linked[0] + 0.1
