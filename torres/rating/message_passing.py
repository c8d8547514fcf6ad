"""TrueSkill's update of one game without ties, with plain floats.

The package `trueskill` builds a graph of Python objects for each game. This module
performs the same floating-point operations in the same order, without the objects, so
that each result is the same to the last bit and about ten times as fast. A test
compares both. Each seat is a team of its own, and no two seats are tied.

A message is a normal distribution, stored as its precision (`pi`, 1/σ²) and its
precision-adjusted mean (`tau`, μ/σ²). Terms such as `x**2` must not be simplified to
`x * x`: the last bit may differ.
"""

from collections.abc import Sequence
from itertools import pairwise
from math import exp, inf, pi as PI, sqrt  # noqa: N812 -- `pi` is a precision here

from trueskill import DELTA
from trueskill.backends import ppf

UNDERFLOW_SDS = -35.0
"""Below this many standard deviations a normal density underflows in a double."""

MAX_ROUNDS = 10
"""The messages between seats are passed at most this often."""

_SQRT_2 = sqrt(2)
_DENSITY_SCALE = 1 / sqrt(2 * PI)
_NO_DRAW = ppf(0.5)
"""Nearly 0: the package approximates the quantile."""


def rate(
    seats: Sequence[tuple[float, float]], beta: float, tau: float
) -> list[tuple[float, float]]:
    """Return (μ, σ) of each seat after a game; the seats are in order of rank.

    1. Widen each skill by `tau`, and pass it through the performance noise `beta`.
    2. Compare neighbours from the winner down and up again, until nothing changes.
    3. Pass what was learnt back to the skills.

    Raises ArithmeticError or ValueError exactly if the package does.
    """
    skills = [_Seat(mu, sigma, beta, tau) for mu, sigma in seats]
    margin = _NO_DRAW * sqrt(2) * beta
    pairs = [_Neighbours(one, other, margin) for one, other in pairwise(skills)]
    first, last = pairs[0], pairs[-1]
    for _ in range(MAX_ROUNDS):
        if first is last:
            delta = first.compare()
        else:
            delta = 0.0
            for pair in pairs[:-1]:
                delta = max(delta, pair.compare())
                pair.tell_loser()
            for pair in pairs[:0:-1]:
                delta = max(delta, pair.compare())
                pair.tell_winner()
        if delta <= DELTA:
            break
    first.tell_winner()
    last.tell_loser()
    return [seat.result() for seat in skills]


class _Seat:
    """The performance of one seat, and the messages that it was made of."""

    __slots__ = (
        "own_pi",
        "own_tau",
        "pi",
        "sent_pi",
        "sent_tau",
        "skill_pi",
        "skill_tau",
        "tau",
        "variance",
    )

    def __init__(self, mu: float, sigma: float, beta: float, dynamic: float) -> None:
        pi = sigma**-2
        mu = pi * mu / pi
        sigma = sqrt(sqrt(1 / pi) ** 2 + dynamic**2)
        self.skill_pi = pi = sigma**-2
        self.skill_tau = tau = pi * mu
        self.variance = beta**2
        share = 1.0 / (1.0 + self.variance * pi)
        self.sent_pi = pi = share * pi
        self.sent_tau = tau = share * tau
        mu = tau / pi
        self.pi = self.own_pi = 1.0 / (1 / pi)
        self.tau = self.own_tau = self.own_pi * mu

    def result(self) -> tuple[float, float]:
        """Pass the message of the other seats back to the skill."""
        pi = self.pi - self.own_pi
        mu = pi and (self.tau - self.own_tau) / pi
        pi = 1.0 / (1 / pi if pi else inf)
        tau = pi * mu
        pi = self.sent_pi + pi - self.sent_pi
        tau = self.sent_tau + tau - self.sent_tau
        share = 1.0 / (1.0 + self.variance * pi)
        pi = self.skill_pi + share * pi
        tau = self.skill_tau + share * tau
        # The package converts the result to μ and σ and back.
        mu = tau / pi
        pi = sqrt(1 / pi) ** -2
        tau = pi * mu
        return tau / pi, sqrt(1 / pi)


class _Neighbours:
    """The difference of the performances of two seats with consecutive ranks.

    `sum_…` is the message from the two seats, `cut_…` that of the result. The messages
    to the seats are `up_…` (to the winner) and `down_…` (to the loser).
    """

    __slots__ = (
        "cut_pi",
        "cut_tau",
        "down_pi",
        "down_tau",
        "loser",
        "margin",
        "pi",
        "sum_pi",
        "sum_tau",
        "tau",
        "up_pi",
        "up_tau",
        "winner",
    )

    def __init__(self, winner: _Seat, loser: _Seat, margin: float) -> None:
        self.winner = winner
        self.loser = loser
        self.margin = margin
        self.pi = self.tau = self.sum_pi = self.sum_tau = 0.0
        self.cut_pi = self.cut_tau = 0.0
        self.up_pi = self.up_tau = self.down_pi = self.down_tau = 0.0

    def compare(self) -> float:
        """Truncate the difference to the result; return how much changed."""
        winner, loser = self.winner, self.loser
        winner_pi = winner.pi - self.up_pi
        loser_pi = loser.pi - self.down_pi
        mu = _mean(winner_pi, winner.tau - self.up_tau) - _mean(
            loser_pi, loser.tau - self.down_tau
        )
        pi = 1.0 / _variance(winner_pi, loser_pi)
        tau = pi * mu
        before_pi = self.pi - self.sum_pi + pi
        before_tau = self.tau - self.sum_tau + tau
        self.sum_pi = pi
        self.sum_tau = tau
        pi = before_pi - self.cut_pi
        tau = before_tau - self.cut_tau
        root = sqrt(pi)
        v, w = win_moments(tau / root, self.margin * root)
        rest = 1.0 - w
        self.pi = pi = pi / rest
        self.tau = tau = (tau + root * v) / rest
        self.cut_pi = pi + self.cut_pi - before_pi
        self.cut_tau = tau + self.cut_tau - before_tau
        change = abs(before_pi - pi)
        return 0.0 if change == inf else max(abs(before_tau - tau), sqrt(change))

    def tell_loser(self) -> None:
        """Send the loser what the winner's performance and the result say."""
        winner, loser = self.winner, self.loser
        winner_pi = winner.pi - self.up_pi
        own_pi = self.pi - self.sum_pi
        mu = _mean(winner_pi, winner.tau - self.up_tau) - _mean(
            own_pi, self.tau - self.sum_tau
        )
        pi = 1.0 / _variance(winner_pi, own_pi)
        tau = pi * mu
        loser.pi = loser.pi - self.down_pi + pi
        loser.tau = loser.tau - self.down_tau + tau
        self.down_pi = pi
        self.down_tau = tau

    def tell_winner(self) -> None:
        """Send the winner what the loser's performance and the result say."""
        winner, loser = self.winner, self.loser
        own_pi = self.pi - self.sum_pi
        loser_pi = loser.pi - self.down_pi
        mu = _mean(own_pi, self.tau - self.sum_tau) + _mean(
            loser_pi, loser.tau - self.down_tau
        )
        pi = 1.0 / _variance(own_pi, loser_pi)
        tau = pi * mu
        winner.pi = winner.pi - self.up_pi + pi
        winner.tau = winner.tau - self.up_tau + tau
        self.up_pi = pi
        self.up_tau = tau


def _mean(pi: float, tau: float) -> float:
    return pi and tau / pi


def _variance(one_pi: float, other_pi: float) -> float:
    """Return the variance of a sum of two variables; infinite if one is unknown."""
    variance = 1 / one_pi if one_pi else inf
    if variance == inf:
        return inf
    return variance + 1 / other_pi if other_pi else inf


def win_moments(difference: float, margin: float) -> tuple[float, float]:
    """Return TrueSkill's V and W: how much a win moves the mean and the variance.

    `difference` is that of the means and `margin` the draw margin, both in standard
    deviations of the performances. The package raises an error where its normal
    distribution underflows. The limits of the formulas are used there, because a ladder
    must not stop because of one game.
    """
    x = difference - margin
    if x < UNDERFLOW_SDS:
        return _v_win(x), 1 - 1 / x**2
    v = _v_win(x)
    w = v * (v + x)
    if 0 < w < 1:
        return v, w
    if v == 0:
        return v, 0.0  # the result was certain and tells nothing
    raise FloatingPointError("TrueSkill's W is not between 0 and 1.")


def _v_win(x: float) -> float:
    """Return φ(x) / Φ(x), with the approximation of Φ that the package uses."""
    z = abs(-x / _SQRT_2)
    t = 1.0 / (1.0 + z / 2.0)
    inner = t * (1.48851587 + t * (-0.82215223 + t * 0.17087277))
    inner = t * (0.27886807 + t * (-1.13520398 + inner))
    inner = t * (0.09678418 + t * (-0.18628806 + inner))
    inner = t * (1.00002368 + t * (0.37409196 + inner))
    erfc = t * exp(-z * z - 1.26551223 + inner)
    below = 0.5 * (erfc if x <= 0 else 2.0 - erfc)
    return _DENSITY_SCALE * exp(-(x**2 / 2)) / below if below else -x
