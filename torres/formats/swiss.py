"""Swiss pairings at tables of two: the best round by a fixed order of criteria.

Each criterion outweighs all later ones together:

1. The number of repeats is as small as possible. A repeat is an earlier meeting of the
   two entrants of a pair, or an earlier bye of the entrant that has the bye.
2. The bye goes to an entrant with the lowest possible score.
3. The scores within the pairs are as close as possible: the sum of the squared
   differences is as small as possible.
4. Seats alternate and stay balanced. The seat in the first game of a match counts.
5. An entrant that leaves its score group, or has the bye, is the lowest of it, and
   meets the highest of the other group. Inside a group the upper half meets the lower
   half in order (1-5, 2-6, …).

What holds for one round: if the present entrants can be paired without any repeat, the
round has none. Otherwise it has as few as possible, and a rematch counts as much as a
second bye. Criteria 2 and 3 are optimal under this condition. No round looks ahead, so
the choice in one round may make a repeat in a later one unavoidable. In the first n/2
rounds (n is the number of entrants, plus one for the bye if it is odd) no pair meets
twice and no entrant has two byes, as long as none leaves: each entrant then has at
least n/2 opponents left, and by Dirac's theorem there is a pairing without repeats.

Criteria 3 to 5 follow the aims of the FIDE (Dutch) system (Handbook C.04.3). FIDE
describes a procedure for humans. This module gives each pair one cost and takes the
cheapest perfect matching (`matching`), so that the result does not depend on the order
of attempts.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby, pairwise
from math import ceil, lcm
from typing import NamedTuple

from torres.formats.matching import cheapest_matching

FIRST, SECOND = 1, -1
MAX_EXACT_ENTRANTS = 64
"""Up to this number all criteria are optimised together, over all pairs.

With more entrants, criteria 1 to 3 and the first half of 5 are. Those that stay in
their score group are then paired anew by all criteria, in blocks of at most this size.
So criterion 4 and the order inside a group may be slightly worse than possible;
the first three never are.
"""
NEAREST = 6
"""Neighbours on each side of a preferred opponent that are tried first."""


class SeatPreference(NamedTuple):
    """FIRST or SECOND with a strength from 1 to 3 (absolute), or 0 and 0 for none."""

    seat: int
    strength: int


NO_PREFERENCE = SeatPreference(0, 0)
PREFERENCES = [
    NO_PREFERENCE,
    *(
        SeatPreference(seat, strength)
        for seat in (FIRST, SECOND)
        for strength in (1, 2, 3)
    ),
]
"""All possible preferences; costs are computed once for each, not for each pair."""
CLASH_COSTS = (0, 1, 8, 64)
"""The cost of two entrants that want the same seat, by the weaker strength."""


@dataclass(frozen=True, slots=True)
class SwissEntrant:
    """One entrant as the pairing sees it.

    ``met`` has every earlier opponent, once for each meeting. ``seats`` are FIRST or
    SECOND for each match played, oldest first; at larger tables they are seat numbers
    from 0. ``seed`` 1 is the best.
    """

    key: int
    seed: int
    score: Fraction = Fraction(0)
    met: tuple[int, ...] = ()
    seats: tuple[int, ...] = ()
    byes: int = 0


@dataclass(frozen=True, slots=True)
class SwissRound:
    """The pairs in the order of the tables, first seat first, and the bye or None."""

    pairs: tuple[tuple[int, int], ...]
    bye: int | None


def pair(entrants: Sequence[SwissEntrant]) -> SwissRound:
    """Return the pairs of the next round."""
    ranked = sorted(entrants, key=lambda e: (-e.score, e.seed))
    if len(ranked) <= 1:
        return SwissRound((), ranked[0].key if ranked else None)
    costs = _PairCosts(ranked)
    if len(ranked) <= MAX_EXACT_ENTRANTS:
        mates = cheapest_matching(costs.all_criteria(), costs.promising())
    else:
        mates = cheapest_matching(costs.between_groups(), costs.neighbours())
        for group in costs.paired_inside(mates):
            _pair_group_again(ranked, group, mates)
    pairs = []
    bye = None
    for i, j in enumerate(mates):
        if j == len(ranked):
            bye = ranked[i].key
        elif i < j:
            pairs.append(_in_order_of_seats(ranked[i], ranked[j]))
    return SwissRound(tuple(pairs), bye)


def _pair_group_again(
    ranked: Sequence[SwissEntrant], group: Sequence[int], mates: list[int]
) -> None:
    """Replace the mates of one score group by those that meet all criteria.

    ``group`` are the indices of entrants that are paired with each other. Each block
    takes a stretch of the upper half and the same stretch of the lower half. If one
    block cannot avoid a repeat, the whole group keeps its mates, because a mate that a
    block keeps may be in another block.
    """
    better: dict[int, int] = {}
    half = len(group) // 2
    blocks = ceil(len(group) / MAX_EXACT_ENTRANTS)
    cuts = [half * k // blocks for k in range(blocks + 1)]
    for start, end in pairwise(cuts):
        block = [*group[start:end], *group[half + start : half + end]]
        block_costs = _PairCosts([ranked[i] for i in block])
        costs = block_costs.all_criteria()
        block_mates = cheapest_matching(costs, block_costs.promising())
        if any(costs[i][j] >= block_costs.repeat for i, j in enumerate(block_mates)):
            return
        better |= {block[i]: block[j] for i, j in enumerate(block_mates)}
    for entrant, mate in better.items():
        mates[entrant] = mate


class _PairCosts:
    """The cost of every pair of entrants, by their index in the ranking.

    If the number of entrants is odd, one more vertex stands for the bye. A cost is the
    sum of the criteria, each times a weight. A weight is larger than anything to which
    all later criteria can add up in a round.
    """

    def __init__(self, ranked: Sequence[SwissEntrant]) -> None:
        self.ranked = ranked
        n = len(ranked)
        self.size = n + n % 2
        unit = lcm(*(e.score.denominator for e in ranked))
        self.scores = [int(e.score * unit) for e in ranked]
        self.preferences = [seat_preference(e) for e in ranked]
        self.preference_index = [PREFERENCES.index(p) for p in self.preferences]
        # For each entrant its index within its score group, and the group's size.
        self.index_in_group: list[int] = []
        self.group_size: list[int] = []
        for _, members in groupby(self.scores):
            size = len(list(members))
            self.index_in_group += range(size)
            self.group_size += [size] * size
        spread = self.scores[0] - self.scores[-1] + 1
        # The weights, from the least to the most important criterion.
        self.same_half = n * n * n + 1  # 5: both in the same half of their group
        self.leave_group = self.same_half * (n + 1)  # 5: the one that leaves the group
        self.seat = self.leave_group * (2 * n * n * n + 1)  # 4
        self.close = self.seat * (64 * n + 1)  # 3
        self.low_bye = self.close * (spread * spread * n + 1)  # 2
        self.repeat = self.low_bye * (spread + 1)  # 1

    def all_criteria(self) -> list[list[int]]:
        """Return the cost of each pair by all criteria, as a symmetric matrix."""
        return self._matrix(self._row)

    def between_groups(self) -> list[list[int]]:
        """Return the costs without seats, and 0 for a pair inside a score group."""
        return self._matrix(self._row_between_groups)

    def _matrix(self, upper_row: Callable[[int], list[int]]) -> list[list[int]]:
        """Return the matrix of its upper rows, with repeats and the bye added."""
        n = len(self.ranked)
        rows = [[0] * self.size for _ in range(self.size)]
        index = {entrant.key: i for i, entrant in enumerate(self.ranked)}
        for i, entrant in enumerate(self.ranked):
            row = upper_row(i)
            for key in entrant.met:
                j = index.get(key, 0)  # 0 is never after i, so leavers are skipped
                if j > i:
                    row[j - i - 1] += self.repeat
            if self.size > n:
                row.append(self._bye(i))
            rows[i][i + 1 :] = row
            for j, cost in enumerate(row, i + 1):
                rows[j][i] = cost
        return rows

    def _row(self, i: int) -> list[int]:
        """Return the costs of entrant i with all entrants below it in the ranking."""
        index = self.index_in_group[i]
        end = i - index + self.group_size[i]
        half = self.group_size[i] // 2
        ideal = index + half
        clash = [self.seat * _clash(self.preferences[i], p) for p in PREFERENCES]
        inside = [
            (other - ideal) ** 2
            + clash[preference]
            + (self.same_half if (other < half) == (index < half) else 0)
            for other, preference in zip(
                self.index_in_group[i + 1 : end],
                self.preference_index[i + 1 : end],
                strict=True,
            )
        ]
        below = [
            cost + clash[preference]
            for cost, preference in zip(
                self._below_group(i, end), self.preference_index[end:], strict=True
            )
        ]
        return inside + below

    def _row_between_groups(self, i: int) -> list[int]:
        end = i - self.index_in_group[i] + self.group_size[i]
        return [0] * (end - i - 1) + self._below_group(i, end)

    def _below_group(self, i: int, end: int) -> list[int]:
        """Return the costs of entrant i with those of lower score groups, from ``end``.

        They grow with the difference of the scores, the distance of i from the bottom
        of its group and the distance of the other from the top of its group.
        """
        score = self.scores[i]
        from_bottom = (end - 1 - i) ** 2
        return [
            self.close * (score - other_score) ** 2
            + self.leave_group * (from_bottom + from_top * from_top)
            for other_score, from_top in zip(
                self.scores[end:], self.index_in_group[end:], strict=True
            )
        ]

    def _bye(self, i: int) -> int:
        above_lowest = self.scores[i] - self.scores[-1]
        from_bottom = self.group_size[i] - 1 - self.index_in_group[i]
        return (
            self.repeat * self.ranked[i].byes
            + self.low_bye * above_lowest
            + self.leave_group * from_bottom * from_bottom
        )

    def paired_inside(self, mates: Sequence[int]) -> list[list[int]]:
        """Return, for each score group, its entrants that are paired inside it."""
        n = len(self.ranked)
        inside = [
            i
            for i in range(n)
            if mates[i] < n and self.scores[mates[i]] == self.scores[i]
        ]
        return [list(group) for _, group in groupby(inside, self.scores.__getitem__)]

    def neighbours(self) -> list[list[int]]:
        """Return the opponents to try first if pairs inside a group cost nothing.

        These are the nearest in the ranking and the nearest of the adjacent groups.
        """
        n = len(self.ranked)
        around = []
        for i in range(n):
            start = i - self.index_in_group[i]
            end = start + self.group_size[i]
            near = {
                *range(i - 3, i + 4),
                *range(start - 3, start),
                *range(end, end + 3),
            }
            around.append([j for j in near if 0 <= j < n and j != i])
        if self.size > n:
            around.append(list(range(n)))
        return around

    def promising(self) -> list[list[int]]:
        """Return the opponents to try first by all criteria, without rematches.

        These are the nearest to the ideal opponent in the other half of the group, to
        the entrant itself, and to the ends of the group.
        """
        n = len(self.ranked)
        around: list[list[int]] = []
        for i in range(n):
            half = self.group_size[i] // 2
            start = i - self.index_in_group[i]
            centres = (i + half, i - half, i, start - 1, start + self.group_size[i])
            near = {
                j
                for centre in centres
                for j in range(centre - NEAREST, centre + NEAREST + 1)
                if 0 <= j < n and j != i
            }
            around.append(
                [j for j in near if self.ranked[j].key not in self.ranked[i].met]
            )
        if self.size > n:
            around.append(list(range(n)))
        return around


def seat_preference(entrant: SwissEntrant) -> SeatPreference:
    """Return which seat the entrant should have next (FIDE C.04.3, A.6, colours).

    - absolute (3): the numbers of both seats differ by two or more, or the last two
      seats were the same;
    - strong (2): the numbers differ by one;
    - mild (1): the numbers are equal; the other seat than last time.
    """
    seats = entrant.seats
    if not seats:
        return NO_PREFERENCE
    difference = sum(seats)
    if abs(difference) > 1:
        return SeatPreference(SECOND if difference > 0 else FIRST, 3)
    if len(seats) > 1 and seats[-1] == seats[-2]:
        return SeatPreference(-seats[-1], 3)
    if difference:
        return SeatPreference(-difference, 2)
    return SeatPreference(-seats[-1], 1)


def _clash(one: SeatPreference, two: SeatPreference) -> int:
    """Return the cost of the weaker preference if both want the same seat."""
    if one.seat != two.seat or not one.seat:
        return 0
    return CLASH_COSTS[min(one.strength, two.strength)]


def _in_order_of_seats(upper: SwissEntrant, lower: SwissEntrant) -> tuple[int, int]:
    """Return the keys, first seat first. ``upper`` is ahead in the ranking."""
    if _upper_is_first(upper, lower):
        return upper.key, lower.key
    return lower.key, upper.key


def _upper_is_first(upper: SwissEntrant, lower: SwissEntrant) -> bool:
    """True if the upper entrant gets the first seat.

    1. The only or the stronger preference is granted.
    2. If both want the same seat equally, the latest round in which they had different
       seats decides: both change.
    3. Otherwise the upper entrant's preference is granted.
    4. Without any preference the upper entrant is first if its seed is odd.
    """
    own = seat_preference(upper)
    other = seat_preference(lower)
    if own.seat:
        is_stronger = own.strength > other.strength
        if not other.seat or other.seat != own.seat or is_stronger:
            return own.seat == FIRST
    if other.seat and (not own.seat or other.strength > own.strength):
        return other.seat == SECOND
    for seat_upper, seat_lower in zip(
        reversed(upper.seats), reversed(lower.seats), strict=False
    ):
        if seat_upper != seat_lower:
            return seat_upper == SECOND
    return own.seat == FIRST if own.seat else bool(upper.seed % 2)
