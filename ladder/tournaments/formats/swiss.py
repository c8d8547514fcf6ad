"""Swiss pairings: every round, the best legal one by a stated order of wishes.

The wishes, each of which outweighs all later ones together:

1. nobody gets a second bye, and nobody meets an earlier opponent again;
2. the bye goes to the lowest score;
3. scores within a pairing are as close as possible (least sum of squared differences);
4. seats alternate and stay balanced (who sits first in the first game of a match);
5. who leaves its score group, or has the bye, is the lowest of it and meets the highest
   of the other; inside a group the upper half meets the lower, in order (1-5, 2-6, …).

3 to 5 are the aims of the FIDE (Dutch) system, C.04.3; that system fixes an order of
attempts by hand, this module one number for every pair and takes the smallest sum
(`matching`), so that nothing is left to the order in which things were tried.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby, pairwise
from math import lcm

from ladder.tournaments.formats.matching import cheapest

FIRST, SECOND = 1, -1
AT_ONCE = 64
"""Up to so many entrants all wishes are weighed at once, for all of them together.

With more, 1 to 3 (and who leaves its group) still are; those who stay in their score
group are then paired by all wishes in blocks of at most this size. Wishes 4 and 5 may
so come out a little worse than they could, the first three never.
"""
NEAREST = 6
"""How many neighbours on each side of a wish are tried before all the others."""


KINDS = [(0, 0), *((seat, much) for seat in (FIRST, SECOND) for much in (1, 2, 3))]
"""What `due` can answer."""


@dataclass(frozen=True, slots=True)
class SwissEntrant:
    """One entrant as pairing sees it.

    ``met`` has every earlier opponent, once for each meeting; ``seats`` are FIRST or
    SECOND for each match it played, oldest first; ``seed`` 1 is the best.
    """

    key: int
    seed: int
    score: Fraction = Fraction(0)
    met: tuple[int, ...] = ()
    seats: tuple[int, ...] = ()
    byes: int = 0


@dataclass(frozen=True, slots=True)
class Round:
    """``pairs`` in the order of the tables, first seat first; ``bye`` or None."""

    pairs: tuple[tuple[int, int], ...]
    bye: int | None


def pair(players: Sequence[SwissEntrant]) -> Round:
    """Pair the next round of a Swiss tournament."""
    ranked = sorted(players, key=lambda p: (-p.score, p.seed))
    if len(ranked) <= 1:
        return Round((), ranked[0].key if ranked else None)
    wishes = _Wishes(ranked)
    if len(ranked) <= AT_ONCE:
        mates = cheapest(wishes.table(), wishes.promising())
    else:
        mates = cheapest(wishes.crossings(), wishes.neighbours())
        for group in wishes.stayed(mates):
            _pair_inside(wishes, group, mates)
    pairs, bye = [], None
    for i, j in enumerate(mates):
        if j == len(ranked):
            bye = ranked[i].key
        elif i < j:
            pairs.append(_seated(ranked[i], ranked[j]))
    return Round(tuple(pairs), bye)


def _pair_inside(wishes: "_Wishes", group: list[int], mates: list[int]) -> None:
    """Pair one score group anew by all wishes, each block for itself."""
    half = len(group) // 2
    blocks = -(-len(group) // AT_ONCE)
    cuts = [half * k // blocks for k in range(blocks + 1)]
    for start, end in pairwise(cuts):
        block = group[start:end] + group[half + start : half + end]
        inner = _Wishes([wishes.ranked[i] for i in block])
        costs = inner.table()
        found = cheapest(costs, inner.promising())
        if any(costs[i][j] >= inner.again for i, j in enumerate(found)):
            return  # the block is too small for its history: keep what is legal
        for i, j in enumerate(found):
            mates[block[i]] = block[j]


class _Wishes:
    """The cost of every pair; with an odd number the last vertex is the bye."""

    def __init__(self, ranked: Sequence[SwissEntrant]) -> None:
        self.ranked = ranked
        self.size = len(ranked) + len(ranked) % 2
        unit = lcm(*(p.score.denominator for p in ranked))
        self.scores = [int(p.score * unit) for p in ranked]
        self.due = [due(p) for p in ranked]
        self.kind = [KINDS.index(wish) for wish in self.due]
        self.place: list[int] = []
        self.group: list[int] = []
        for _, members in groupby(self.scores):
            group = len(list(members))
            self.place += range(group)
            self.group += [group] * group
        n, spread = len(ranked), self.scores[0] - self.scores[-1] + 1
        # Each weight is larger than all that the wishes after it can add up to.
        self.halves = n * n * n + 1
        self.cross = self.halves * (n + 1)
        self.seat = self.cross * (2 * n * n * n + 1)
        self.close = self.seat * (64 * n + 1)
        self.low = self.close * (spread * spread * n + 1)
        self.again = self.low * (spread + 1)

    def table(self) -> list[list[int]]:
        """Return what it costs to pair the i-th and the j-th of the ranking."""
        return self._mirrored(self._full)

    def crossings(self) -> list[list[int]]:
        """Return the same, with 4 and 5 only for pairs of different score groups."""
        return self._mirrored(self._crossing)

    def _mirrored(self, upper: Callable[[int], list[int]]) -> list[list[int]]:
        """Make the square of its upper rows, with earlier meetings and the bye."""
        n = len(self.ranked)
        rows = [[0] * self.size for _ in range(self.size)]
        index = {player.key: i for i, player in enumerate(self.ranked)}
        for i, player in enumerate(self.ranked):
            row = upper(i)
            for key in player.met:
                if (j := index.get(key, 0)) > i:
                    row[j - i - 1] += self.again
            if self.size > n:
                row.append(self._bye(i))
            rows[i][i + 1 :] = row
            for j, cost in enumerate(row, i + 1):
                rows[j][i] = cost
        return rows

    def _full(self, i: int) -> list[int]:
        end = i - self.place[i] + self.group[i]
        half = self.group[i] // 2
        middle = self.place[i] + half
        clash = [self.seat * _clash(self.due[i], other) for other in KINDS]
        same = [
            (place - middle) ** 2
            + clash[kind]
            + (self.halves if (place < half) == (self.place[i] < half) else 0)
            for place, kind in zip(
                self.place[i + 1 : end], self.kind[i + 1 : end], strict=True
            )
        ]
        below = [
            cost + clash[kind]
            for cost, kind in zip(self._below(i, end), self.kind[end:], strict=True)
        ]
        return same + below

    def _crossing(self, i: int) -> list[int]:
        end = i - self.place[i] + self.group[i]
        return [0] * (end - i - 1) + self._below(i, end)

    def _below(self, i: int, end: int) -> list[int]:
        """Return what it costs to meet each of a lower score group."""
        mine, left = self.scores[i], (end - 1 - i) ** 2
        return [
            self.close * (mine - score) ** 2 + self.cross * (left + place * place)
            for score, place in zip(self.scores[end:], self.place[end:], strict=True)
        ]

    def _bye(self, i: int) -> int:
        above = self.scores[i] - self.scores[-1]
        last = self.group[i] - 1 - self.place[i]
        low = self.low * above + self.cross * last * last
        return self.again * self.ranked[i].byes + low

    def stayed(self, mates: Sequence[int]) -> list[list[int]]:
        """Return those of each score group who were paired inside it, by rank."""
        n = len(self.ranked)
        inside = [
            i
            for i in range(n)
            if mates[i] < n and self.scores[mates[i]] == self.scores[i]
        ]
        return [list(group) for _, group in groupby(inside, self.scores.__getitem__)]

    def neighbours(self) -> list[list[int]]:
        """Return, for each, those around it and the nearest of other groups."""
        n, around = len(self.ranked), []
        for i in range(n):
            start = i - self.place[i]
            end = start + self.group[i]
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
        """Return, for each, whom the wishes would rather have it meet."""
        n = len(self.ranked)
        around: list[list[int]] = []
        for i in range(n):
            half = self.group[i] // 2
            start = i - self.place[i]
            centres = (i + half, i - half, i, start - 1, start + self.group[i])
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


def due(player: SwissEntrant) -> tuple[int, int]:
    """Return the seat that is due and how much: 0 not at all, up to 3 (absolute).

    As FIDE C.04.3, A.6: absolute after a difference of two or twice the same seat,
    strong after a difference of one, mild where only the last seat counts.
    """
    seats = player.seats
    if not seats:
        return 0, 0
    difference = sum(seats)
    if abs(difference) > 1:
        return (SECOND if difference > 0 else FIRST), 3
    if len(seats) > 1 and seats[-1] == seats[-2]:
        return -seats[-1], 3
    if difference:
        return -difference, 2
    return -seats[-1], 1


def _clash(one: tuple[int, int], two: tuple[int, int]) -> int:
    """Return what it costs that both want the same seat: the weaker wish."""
    if one[0] != two[0] or not one[0]:
        return 0
    return (0, 1, 8, 64)[min(one[1], two[1])]


def _seated(upper: SwissEntrant, lower: SwissEntrant) -> tuple[int, int]:
    """Put the pair in the order of its seats; the stronger wish is granted."""
    first = _first_is_upper(upper, lower)
    return (upper.key, lower.key) if first else (lower.key, upper.key)


def _first_is_upper(upper: SwissEntrant, lower: SwissEntrant) -> bool:
    (want_u, much_u), (want_l, much_l) = due(upper), due(lower)
    if want_u and (not want_l or want_l != want_u or much_u > much_l):
        return want_u == FIRST
    if want_l and (not want_u or much_l > much_u):
        return want_l == SECOND
    # The same wish, equally strong: the last round in which they sat apart decides.
    for seat_u, seat_l in zip(
        reversed(upper.seats), reversed(lower.seats), strict=False
    ):
        if seat_u != seat_l:
            return seat_u == SECOND
    return want_u == FIRST if want_u else bool(upper.seed % 2)
