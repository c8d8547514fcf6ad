"""Swiss rounds at tables of three or four: near in score, met as little as possible.

There is no exact method at this size (it is a partition problem, not a matching), so
the ranking is cut into tables and improved by exchanges until none helps: fewer
repeated meetings first, then scores closer together. With a number that does not
divide, tables differ by one seat and nobody has a bye.
"""

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, pairwise, permutations
from math import lcm

from ladder.tournaments.formats.swiss import SwissEntrant

REACH = 3
"""Exchanges are tried with so many tables further down."""
PASSES = 20

Cost = tuple[int, int]


def tables(players: Sequence[SwissEntrant], seats: int) -> list[tuple[int, ...]]:
    """Return the tables of the next round, each in the order of its seats.

    ``Player.seats`` are the numbers of the seats it had, from 0.
    """
    ranked = sorted(players, key=lambda p: (-p.score, p.seed))
    count = -(-len(ranked) // seats)
    cuts = [len(ranked) * k // count for k in range(count + 1)]
    cut = [ranked[a:b] for a, b in pairwise(cuts)]
    unit = lcm(*(p.score.denominator for p in ranked))
    met = {p.key: Counter(p.met) for p in ranked}
    for _ in range(PASSES):
        if not _improve(cut, met, unit):
            break
    return [_seated(table) for table in cut]


def _improve(
    cut: list[list[SwissEntrant]], met: dict[int, Counter[int]], unit: int
) -> bool:
    """Make every exchange that helps, once through; False if there was none."""
    better = False
    for a, b in combinations(range(len(cut)), 2):
        if b - a > REACH:
            continue
        for i in range(len(cut[a])):
            for j in range(len(cut[b])):
                before = _sum(cut[a], cut[b], met, unit)
                cut[a][i], cut[b][j] = cut[b][j], cut[a][i]
                if _sum(cut[a], cut[b], met, unit) < before:
                    better = True
                else:
                    cut[a][i], cut[b][j] = cut[b][j], cut[a][i]
    return better


def _sum(
    one: Sequence[SwissEntrant],
    two: Sequence[SwissEntrant],
    met: dict[int, Counter[int]],
    unit: int,
) -> Cost:
    again = apart = 0
    for table in (one, two):
        for a, b in combinations(table, 2):
            again += met[a.key][b.key]
            apart += int((a.score - b.score) * unit) ** 2
    return again, apart


def _seated(table: Sequence[SwissEntrant]) -> tuple[int, ...]:
    """Seat a table so that everybody had its seat as rarely as possible before."""
    had = [Counter(player.seats) for player in table]

    def burden(order: tuple[int, ...]) -> tuple[Fraction, tuple[int, ...]]:
        again = sum((2 * had[k][seat] + 1 for seat, k in enumerate(order)), 0)
        return Fraction(again), order

    best = min(permutations(range(len(table))), key=burden)
    return tuple(table[k].key for k in best)
