"""What a result says about skill: TrueSkill, as numbers in and numbers out.

The `trueskill` package has a global environment and gives slightly different numbers
for tied seats in another order; both stay in here.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import trueskill

SPREAD = 4
"""A new version widens sigma to at least a quarter of a newcomer's."""

UNDERFLOW = -35.0
"""So many standard deviations off: a double has nothing smaller."""

NEAR = 0.01
"""Points of skill within which the package is believed where seats are tied."""

FAR = 15.0
"""From here on (in standard deviations over the root of 2) nothing is learnt."""


@dataclass(frozen=True, slots=True)
class Skill:
    """What is believed of a bot: a mean and how unsure it is."""

    mu: float
    sigma: float

    @property
    def shown(self) -> float:
        """The number that leaderboards are sorted by."""
        return self.mu - 3 * self.sigma


@dataclass(frozen=True, slots=True)
class Parameters:
    """TrueSkill's constants, in points of skill. `tau` is 0 in finals."""

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
    """Return everybody's skill after one game.

    Keys are bots' ids, ranks are 1-based and may be equal. The order of the mappings
    does not matter: seats are rated by rank, tied ones by id.
    """
    order = sorted(skills, key=lambda bot: (ranks[bot], bot))
    seats = [skills[bot] for bot in order]
    places = [ranks[bot] for bot in order]
    if len(set(places)) == len(places):
        rated = _rated(seats, places, parameters)
    else:
        rated = _tied(seats, places, parameters)
    return dict(zip(order, rated, strict=True))


def _rated(
    seats: list[Skill], places: list[int], parameters: Parameters
) -> list[Skill]:
    rated = _environment(parameters).rate(
        [(trueskill.Rating(seat.mu, seat.sigma),) for seat in seats], ranks=places
    )
    return [Skill(float(after.mu), float(after.sigma)) for (after,) in rated]


def _tied(seats: list[Skill], places: list[int], parameters: Parameters) -> list[Skill]:
    """Rate by the package where it is right, else by the limit that it approaches.

    It has a tie with a draw margin of nearly 0 as a factor of nearly endless precision,
    and what is left after cancelling is sometimes wrong by points or no number at all.
    """
    limit = _limit(seats, places, parameters)
    try:
        rated = _rated(seats, places, parameters)
    except (ValueError, ArithmeticError):
        return limit
    near = all(
        abs(one.mu - other.mu) < NEAR and abs(one.sigma - other.sigma) < NEAR
        for one, other in zip(rated, limit, strict=True)
    )
    return rated if near else limit


def _limit(
    seats: list[Skill], places: list[int], parameters: Parameters
) -> list[Skill]:
    """Rate tied seats as one that performed, which is a draw margin of exactly 0.

    Performances are N(μ, σ² + τ² + β²) (Herbrich et al., TrueSkill, 2006); that equal
    ones are equal multiplies their densities. Places are in ascending order.
    """
    noise = parameters.beta**2
    priors = [seat.sigma**2 + parameters.tau**2 for seat in seats]
    groups = [
        [k for k, place in enumerate(places) if place == rank]
        for rank in sorted(set(places))
    ]
    together = [_product([(seats[k].mu, priors[k] + noise) for k in g]) for g in groups]
    if len(groups) > 1:
        alone = Parameters(parameters.mu, parameters.sigma, beta=0.0, tau=0.0)
        one_each = [Skill(mu, math.sqrt(variance)) for mu, variance in together]
        rated = _rated(one_each, list(range(len(groups))), alone)
        together = [(after.mu, after.sigma**2) for after in rated]
    found = []
    for group, (mu, variance) in zip(groups, together, strict=True):
        for k in group:
            # What the others say of this performance, then of the skill behind it.
            wide = priors[k] + noise
            told = 1 / variance - 1 / wide
            weight = told / (1 + noise * told)
            said = (mu / variance - seats[k].mu / wide) / (1 + noise * told)
            precision = 1 / priors[k] + weight
            mean = (seats[k].mu / priors[k] + said) / precision
            found.append(Skill(mean, math.sqrt(1 / precision)))
    return found


def _product(normals: list[tuple[float, float]]) -> tuple[float, float]:
    """Return mean and variance of the product of normal densities."""
    precision = sum(1 / variance for _, variance in normals)
    return sum(mu / variance for mu, variance in normals) / precision, 1 / precision


def renewed(skill: Skill, parameters: Parameters) -> Skill:
    """Return the skill of a bot whose code changed: the mean stays, less is known."""
    return Skill(skill.mu, max(skill.sigma, parameters.sigma / SPREAD))


def chance(one: Skill, other: Skill, parameters: Parameters) -> float:
    """Return the probability that `one` comes before `other` in a game."""
    c = math.sqrt(2 * parameters.beta**2 + one.sigma**2 + other.sigma**2)
    return 0.5 * (1 + math.erf((one.mu - other.mu) / (c * math.sqrt(2))))


def information(apart: float, one: float, other: float, beta: float) -> float:
    """Return how much two bots' game is expected to tell about their skills, in nats.

    `apart` is the difference of their means, `one` and `other` are their variances.
    With c² = 2β² + σ₁² + σ₂², t = apart / c and w = φ(t)² / (Φ(t) Φ(-t)), which is
    TrueSkill's shrinking of a variance averaged over who wins, each bot's entropy falls
    by -½ ln(1 - σ² w / c²).
    """
    square = 2 * beta * beta + one + other
    t = apart / math.sqrt(2 * square)
    if abs(t) > FAR:
        return 0.0
    spread = math.erfc(t) * math.erfc(-t)
    w = 2 / math.pi * math.exp(-2 * t * t) / spread / square
    return -0.5 * (math.log1p(-one * w) + math.log1p(-other * w))


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
    """TrueSkill that survives a result which it holds for impossible.

    The package gives up where its normal distribution underflows. There the limit is
    known, and a ladder must not stop for one game.
    """

    def w_win(self, diff: float, draw_margin: float) -> float:
        x = diff - draw_margin
        if x < UNDERFLOW:
            return 1 - 1 / x**2
        return float(super().w_win(diff, draw_margin))
