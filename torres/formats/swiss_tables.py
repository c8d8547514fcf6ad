"""Swiss pairings at tables of three or four: close in score, few repeated meetings.

Cutting a field into tables is a partition problem, for which no exact method is fast
enough, unlike the matching for tables of two. So this is a local search:

1. Cut the ranking into consecutive tables. If the number of entrants is not a multiple
   of the seats, the sizes differ by one, and no entrant has a bye.
2. Exchange two entrants of tables that are near each other if that gives fewer repeated
   meetings, or as many and closer scores.
3. Repeat until no exchange helps, at most MAX_PASSES times.
4. Give each entrant a seat that it has had as rarely as possible.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations, pairwise, permutations
from math import ceil, lcm
from typing import NamedTuple

from torres.formats.swiss import SwissEntrant

MAX_TABLE_DISTANCE = 3
"""Entrants are exchanged only between tables that are at most this far apart."""
MAX_PASSES = 20

Meetings = Mapping[int, Mapping[int, int]]
"""How often an entrant has met another one, by their keys."""


class _TablesCost(NamedTuple):
    """The cost of some tables; a smaller one is better, the first field decides."""

    repeats: int
    squared_differences: int


def swiss_tables(entrants: Sequence[SwissEntrant], seats: int) -> list[tuple[int, ...]]:
    """Return the tables of the next round, each in the order of its seats.

    ``SwissEntrant.seats`` must be seat numbers from 0.
    """
    ranked = sorted(entrants, key=lambda e: (-e.score, e.seed))
    count = ceil(len(ranked) / seats)
    cuts = [len(ranked) * k // count for k in range(count + 1)]
    tables = [ranked[start:end] for start, end in pairwise(cuts)]
    unit = lcm(*(e.score.denominator for e in ranked))
    met = {e.key: Counter(e.met) for e in ranked}
    for _ in range(MAX_PASSES):
        if not _improve(tables, met, unit):
            break
    return [_in_order_of_seats(table) for table in tables]


def _improve(tables: list[list[SwissEntrant]], met: Meetings, unit: int) -> bool:
    """Try each exchange once and keep those that help; True if one did."""
    improved = False
    for a, b in combinations(range(len(tables)), 2):
        if b - a > MAX_TABLE_DISTANCE:
            continue
        one = tables[a]
        two = tables[b]
        for i in range(len(one)):
            for j in range(len(two)):
                before = _cost(one, two, met, unit)
                one[i], two[j] = two[j], one[i]
                if _cost(one, two, met, unit) < before:
                    improved = True
                else:
                    one[i], two[j] = two[j], one[i]
    return improved


def _cost(
    one: Sequence[SwissEntrant], two: Sequence[SwissEntrant], met: Meetings, unit: int
) -> _TablesCost:
    """Return the cost of two tables; ``unit`` turns scores into whole numbers."""
    repeats = 0
    squared_differences = 0
    for table in (one, two):
        for a, b in combinations(table, 2):
            repeats += met[a.key][b.key]
            squared_differences += int((a.score - b.score) * unit) ** 2
    return _TablesCost(repeats, squared_differences)


def _in_order_of_seats(table: Sequence[SwissEntrant]) -> tuple[int, ...]:
    """Return the keys in the order of seats that repeats earlier seats least.

    The sum of the squared numbers of times that each entrant has had its seat grows by
    2 x times + 1 with each entrant. Of equally good orders the first one is taken.
    """
    times = [Counter(entrant.seats) for entrant in table]

    def growth(order: tuple[int, ...]) -> tuple[int, tuple[int, ...]]:
        return sum(2 * times[k][seat] + 1 for seat, k in enumerate(order)), order

    best = min(permutations(range(len(table))), key=growth)
    return tuple(table[k].key for k in best)
