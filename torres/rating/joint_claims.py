"""The claims of a joint fit about bots: intervals of strengths, and sure orders.

The fit itself needs numpy (`strengths.py`, `rank_sets.py`). Pages need only the numbers
that are stored of it, and import no numpy.
"""

from typing import NamedTuple

INTERVAL_95_SDS = 1.96
"""Standard deviations on each side of a normal mean that make its 95 % interval."""


class RankRange(NamedTuple):
    """The rank of a bot in the joint fit, and the ranks that are not excluded."""

    rank: int
    best: int
    worst: int

    def is_surely_above(self, other: "RankRange") -> bool:
        """True if the games exclude that the other bot is the better one.

        The ranges count the pairs whose order is sure. If the bots that are surely
        below this one reach up to the other, and those surely above the other reach
        down to this one, their order is sure. With 95 % no such claim about any pair
        is wrong.
        """
        return self.worst < other.rank and self.rank < other.best


def interval_95_errors(games: int) -> float:
    """Return the standard errors on each side of a value that make its 95 % interval.

    That is Student's quantile with as many degrees of freedom as there are games,
    because the errors are estimated from the games, too. Source: Cornish and Fisher's
    expansion (Abramowitz & Stegun, 26.7.5), which is right to .005 from 10 games on.
    """
    z = INTERVAL_95_SDS
    first = (z**3 + z) / 4
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    return z + first / games + second / games**2
