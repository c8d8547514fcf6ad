"""TrueSkill as pure functions: skills and ranks in, skills and probabilities out.

Games without ties are rated by `message_passing`, which computes the same as the
package `trueskill`, bit for bit, but faster. Games with ties are rated by the package
itself. This module hides its global environment, and ratings of tied seats that depend
on the order of the arguments, and rates the ties that the package gets wrong. It knows
no bots, games or ladders beyond their ids.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import trueskill

from torres.rating import message_passing

SHOWN_RATING_SIGMAS = 3
"""The shown rating lies this many standard deviations below the mean."""

NEW_VERSION_SIGMA_DIVISOR = 4
"""A new version widens sigma to at least a newcomer's sigma divided by this."""

TIE_TOLERANCE = 0.01
"""Points by which the package's rating of a tie may differ from the exact limit."""

NEGLIGIBLE_DISTANCE = 15.0
"""From this scaled difference of two means on, a game tells nothing (0 nats)."""


class Skill(NamedTuple):
    """The estimate of a bot's skill: a normal distribution, in points of skill."""

    mu: float
    sigma: float

    @property
    def shown_rating(self) -> float:
        """The number that leaderboards show and sort by: μ - 3σ."""
        return self.mu - SHOWN_RATING_SIGMAS * self.sigma


@dataclass(frozen=True, slots=True)
class Parameters:
    """TrueSkill's constants, in points of skill.

    A newcomer starts at `mu` and `sigma`. `beta` is the standard deviation of a bot's
    performance in one game. `tau` is added to each sigma before a game; it is 0 in
    finals.
    """

    mu: float = 25.0
    sigma: float = 25.0 / 3
    beta: float = 25.0 / 6
    tau: float = 0.008

    @property
    def newcomer(self) -> Skill:
        return Skill(self.mu, self.sigma)


def rate(
    skills: Mapping[int, Skill], ranks: Mapping[int, int], parameters: Parameters
) -> dict[int, Skill]:
    """Return the skill of each bot after one game.

    Keys are bot ids; ranks are 1-based and may be equal. The order of the mappings does
    not matter: seats are rated in order of rank, and tied seats in order of id.
    """
    order = sorted(skills, key=lambda bot: (ranks[bot], bot))
    seat_skills = [skills[bot] for bot in order]
    seat_ranks = [ranks[bot] for bot in order]
    if len(set(seat_ranks)) == len(seat_ranks):
        rated = _rate_without_ties(seat_skills, parameters)
    else:
        rated = _rate_ties(seat_skills, seat_ranks, parameters)
    return dict(zip(order, rated, strict=True))


def _rate_without_ties(skills: list[Skill], parameters: Parameters) -> list[Skill]:
    """Rate seats that are in order of rank."""
    rated = message_passing.rate(skills, parameters.beta, parameters.tau)
    return [Skill(mu, sigma) for mu, sigma in rated]


def _rate_by_package(
    skills: list[Skill], ranks: list[int], parameters: Parameters
) -> list[Skill]:
    rated = _environment(parameters).rate(
        [(trueskill.Rating(skill.mu, skill.sigma),) for skill in skills], ranks=ranks
    )
    return [Skill(float(after.mu), float(after.sigma)) for (after,) in rated]


def _rate_ties(
    skills: list[Skill], ranks: list[int], parameters: Parameters
) -> list[Skill]:
    """Rate a game with ties: by the package if it is right, otherwise exactly.

    The package models a tie as a factor with a draw margin of nearly 0, whose precision
    is nearly infinite. Cancellation then makes some results wrong by whole points, and
    others not a number.
    """
    exact = _rate_ties_exactly(skills, ranks, parameters)
    try:
        rated = _rate_by_package(skills, ranks, parameters)
    except (ValueError, ArithmeticError):
        return exact
    package_is_right = all(
        abs(one.mu - other.mu) < TIE_TOLERANCE
        and abs(one.sigma - other.sigma) < TIE_TOLERANCE
        for one, other in zip(rated, exact, strict=True)
    )
    return rated if package_is_right else exact


def _rate_ties_exactly(
    skills: list[Skill], ranks: list[int], parameters: Parameters
) -> list[Skill]:
    """Rate tied seats with a draw margin of exactly 0. Ranks are ascending.

    Performances are distributed as N(μ, σ² + τ² + β²) (Herbrich et al., TrueSkill,
    2006). A draw margin of 0 means that tied seats performed equally.

    1. Join the seats of each rank to one performance: the product of the densities.
    2. Rate these performances against each other; no two of them are tied.
    3. For each seat, take its own prior out of the performance that step 2 returned.
       What remains is the message of all other seats.
    4. Pass that message through the performance noise β² to the seat's skill, and
       multiply it with the prior.
    """
    noise = parameters.beta**2
    priors = [skill.sigma**2 + parameters.tau**2 for skill in skills]
    groups = [
        [k for k, seat_rank in enumerate(ranks) if seat_rank == rank]
        for rank in sorted(set(ranks))
    ]
    performances = [
        _product([(skills[k].mu, priors[k] + noise) for k in group]) for group in groups
    ]
    if len(groups) > 1:
        noiseless = Parameters(parameters.mu, parameters.sigma, beta=0.0, tau=0.0)
        group_skills = [Skill(mu, math.sqrt(var)) for mu, var in performances]
        rated = _rate_without_ties(group_skills, noiseless)
        performances = [(after.mu, after.sigma**2) for after in rated]
    results = []
    for group, (mu, variance) in zip(groups, performances, strict=True):
        for k in group:
            own_variance = priors[k] + noise
            message_precision = 1 / variance - 1 / own_variance
            weight = message_precision / (1 + noise * message_precision)
            weighted_mean = (mu / variance - skills[k].mu / own_variance) / (
                1 + noise * message_precision
            )
            precision = 1 / priors[k] + weight
            mean = (skills[k].mu / priors[k] + weighted_mean) / precision
            results.append(Skill(mean, math.sqrt(1 / precision)))
    return results


def _product(normals: list[tuple[float, float]]) -> tuple[float, float]:
    """Return mean and variance of the product of normal densities."""
    precision = sum(1 / variance for _, variance in normals)
    return sum(mu / variance for mu, variance in normals) / precision, 1 / precision


def after_new_version(skill: Skill, parameters: Parameters) -> Skill:
    """Return the skill of a bot whose code changed: same mean, wider sigma."""
    least = parameters.sigma / NEW_VERSION_SIGMA_DIVISOR
    return Skill(skill.mu, max(skill.sigma, least))


def win_probability(one: Skill, other: Skill, parameters: Parameters) -> float:
    """Return the probability that `one` finishes ahead of `other` in one game."""
    c = math.sqrt(2 * parameters.beta**2 + one.sigma**2 + other.sigma**2)
    return 0.5 * (1 + math.erf((one.mu - other.mu) / (c * math.sqrt(2))))


def higher_skill_probability(one: Skill, other: Skill) -> float:
    """Return the probability that the skill of `one` is higher than that of `other`."""
    distance = (one.mu - other.mu) / math.hypot(one.sigma, other.sigma)
    return 0.5 * math.erfc(-distance / math.sqrt(2))


def expected_information(
    mean_difference: float, one_variance: float, other_variance: float, beta: float
) -> float:
    """Return the information that a game of two bots is expected to give, in nats.

    With c² = 2β² + σ₁² + σ₂², t = (μ₁ - μ₂) / c and w = φ(t)² / (Φ(t) Φ(-t)), which is
    TrueSkill's shrinking of a variance averaged over both results, the entropy of each
    bot's skill falls by -½ ln(1 - σ² w / c²). The result is the sum for both bots.
    """
    c_squared = 2 * beta * beta + one_variance + other_variance
    t = mean_difference / math.sqrt(2 * c_squared)
    if abs(t) > NEGLIGIBLE_DISTANCE:
        return 0.0
    both_tails = math.erfc(t) * math.erfc(-t)
    w = 2 / math.pi * math.exp(-2 * t * t) / both_tails / c_squared
    return -0.5 * (math.log1p(-one_variance * w) + math.log1p(-other_variance * w))


@lru_cache(maxsize=64)
def _environment(parameters: Parameters) -> "_Environment":
    return _Environment(
        mu=parameters.mu,
        sigma=parameters.sigma,
        beta=parameters.beta,
        tau=parameters.tau,
        draw_probability=0.0,
        backend=None,
    )


class _Environment(trueskill.TrueSkill):  # type: ignore[misc]
    """TrueSkill that also rates results which the package considers impossible.

    The package raises an error if its normal distribution underflows.
    """

    def w_win(self, diff: float, draw_margin: float) -> float:
        return message_passing.win_moments(diff, draw_margin)[1]
