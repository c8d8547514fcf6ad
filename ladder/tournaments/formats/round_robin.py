"""Round robins: everybody meets everybody, two at a table or more.

Two seats: the Berger tables (FIDE Handbook C.05, Annex 1), which are the circle
method with seats that differ by one at most. More seats: there is no table of that
kind for every number, so opponents are balanced by a seeded search, and seats by
colouring, which leaves every entrant within one of an even share.
"""

from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from math import ceil, exp, gcd
from random import Random

Tables = list[tuple[int, ...]]
"""One round: at each table the entrants in the order of their seats."""

TRIES = 60_000
"""Exchanges tried to even the meetings out: under a second for any field."""


def berger(entrants: Sequence[int]) -> list[Tables]:
    """Return the rounds of a single round robin; with an odd number one rests each.

    Entrants are numbered as they come. In round r those whose numbers add up to r + 1
    (modulo n - 1) meet; the last number meets the one left over.
    """
    n = len(entrants) + len(entrants) % 2
    rounds = []
    for r in range(1, n):
        tables: Tables = []
        for i in range(1, n):
            j = (r + 1 - i - 1) % (n - 1) + 1
            if i == j:
                j = n
            if i > j or max(i, j) > len(entrants):
                continue
            lower_first = i <= n // 2 if j == n else (i + j) % 2 == 1
            pair = (i, j) if lower_first else (j, i)
            tables.append((entrants[pair[0] - 1], entrants[pair[1] - 1]))
        rounds.append(tables)
    return rounds


def fair(n: int, seats: int) -> int:
    """Return after how many rounds all have rested equally often."""
    seated = n // seats * seats
    return n // gcd(n, seated) if seated else 1


def fair_rounds(n: int, seats: int) -> int:
    """Return the fewest rounds in which all could meet, and all rest equally often."""
    seated = n // seats * seats
    if not seated:
        return 1
    every = fair(n, seats)
    return ceil(ceil((n - 1) * n / (seated * (seats - 1))) / every) * every


def tables(entrants: Sequence[int], seats: int, rounds: int) -> list[Tables]:
    """Return ``rounds`` rounds at tables of ``seats``, as balanced as was found.

    Those for whom no full table is left rest, each equally often (give or take one).
    The same arguments always give the same schedule.
    """
    n = len(entrants)
    seats = min(seats, n)
    seated = n // seats * seats
    playing = [
        [(r * (n - seated) + k) % n for k in range(n - seated, n)]
        for r in range(rounds)
    ]
    search = _Search(n, seats, playing)
    search.run(Random(f"{n}/{seats}/{rounds}"))  # noqa: S311 -- a schedule, no secret
    found = _seated(search.rounds(), seats)
    return [[tuple(entrants[i] for i in table) for table in each] for each in found]


class _Search:
    """Exchanges players between tables until meetings are as even as it can get.

    ``rows[r]`` are the players of round r; each ``seats`` of them are a table. What
    sinks is the sum of squares of the meetings, which is least when they are even.
    """

    def __init__(self, n: int, seats: int, playing: list[list[int]]) -> None:
        self.n, self.seats = n, seats
        self.rows = playing
        self.met = [[0] * n for _ in range(n)]

    def run(self, rng: Random) -> None:
        for row in self.rows:
            rng.shuffle(row)
        for table in (table for each in self.rounds() for table in each):
            for a, b in combinations(table, 2):
                self._meet(a, b, 1)
        if len(self.rows[0]) <= self.seats:
            return
        for step in range(TRIES):
            heat = 2.0 * (1 - step / TRIES) ** 2
            row = rng.choice(self.rows)
            i, j = rng.randrange(len(row)), rng.randrange(len(row))
            if i // self.seats != j // self.seats:
                self._try(row, i, j, heat, rng)

    def _try(self, row: list[int], i: int, j: int, heat: float, rng: Random) -> None:
        change = self._change(row, i, j)
        if change > 0 and (heat < 0.05 or rng.uniform(0, 1) > exp(-change / heat)):
            return
        a, b = row[i], row[j]
        for k, other in self._others(row, i):
            if k != i:
                self._meet(a, other, -1)
                self._meet(b, other, 1)
        for k, other in self._others(row, j):
            if k != j:
                self._meet(b, other, -1)
                self._meet(a, other, 1)
        row[i], row[j] = b, a

    def _change(self, row: list[int], i: int, j: int) -> int:
        """Return by how much half the sum of squares would grow."""
        a, b, met = self.met[row[i]], self.met[row[j]], 0
        for k, other in self._others(row, i):
            if k != i:
                met += b[other] - a[other] + 1
        for k, other in self._others(row, j):
            if k != j:
                met += a[other] - b[other] + 1
        return met

    def _others(self, row: list[int], i: int) -> list[tuple[int, int]]:
        start = i - i % self.seats
        return [(k, row[k]) for k in range(start, start + self.seats)]

    def _meet(self, a: int, b: int, times: int) -> None:
        self.met[a][b] += times
        self.met[b][a] += times

    def rounds(self) -> list[Tables]:
        return [
            [tuple(row[k : k + self.seats]) for k in range(0, len(row), self.seats)]
            for row in self.rows
        ]


def _seated(rounds: list[Tables], seats: int) -> list[Tables]:
    """Give out the seats: in any ``seats`` tables of one entrant, each seat once.

    That is an edge colouring of the graph of entrants (split into stretches of
    ``seats`` tables) and tables, which is bipartite with at most ``seats`` edges at a
    node, so ``seats`` colours are enough (König); alternating paths find it.
    """
    colour: dict[tuple[object, int], object] = {}
    count: Counter[int] = Counter()
    for r, each in enumerate(rounds):
        for t, table in enumerate(each):
            for player in table:
                stretch = ("player", player, count[player] // seats)
                count[player] += 1
                _colour(colour, stretch, ("table", r, t), seats)
    return [
        [
            tuple(
                colour[("table", r, t), seat][1]  # type: ignore[index]
                for seat in range(seats)
            )
            for t in range(len(each))
        ]
        for r, each in enumerate(rounds)
    ]


def _colour(
    colour: dict[tuple[object, int], object], one: object, two: object, seats: int
) -> None:
    """Add the edge between ``one`` and ``two``, in a colour free at both."""
    free_one = next(c for c in range(seats) if (one, c) not in colour)
    free_two = next(c for c in range(seats) if (two, c) not in colour)
    if free_one != free_two:
        # Swap both colours along the path that leaves `two` in `free_one`: it cannot
        # reach `one`, and afterwards `free_one` is free at both.
        node, wanted, path = two, free_one, []
        while (node, wanted) in colour:
            other = colour[node, wanted]
            path.append((node, other, wanted))
            node, wanted = other, free_one + free_two - wanted
        for a, b, was in path:
            del colour[a, was], colour[b, was]
        for a, b, was in path:
            colour[a, free_one + free_two - was] = b
            colour[b, free_one + free_two - was] = a
    colour[one, free_one] = two
    colour[two, free_one] = one


def balance(rounds: Sequence[Sequence[Sequence[int]]]) -> dict[str, Counter[int]]:
    """Count how even a schedule is.

    ``meetings``: how many pairs met how often; ``seats``: how often an entrant had a
    seat, over all entrants and seats; ``played``: how many tables an entrant had.
    """
    meetings: Counter[tuple[int, int]] = Counter()
    places: Counter[tuple[int, int]] = Counter()
    played: Counter[int] = Counter()
    for table in (table for each in rounds for table in each):
        meetings.update(combinations(sorted(table), 2))
        places.update((player, seat) for seat, player in enumerate(table))
        played.update(table)
    size = max(len(table) for each in rounds for table in each)
    return {
        "meetings": Counter(meetings[pair] for pair in combinations(sorted(played), 2)),
        "seats": Counter(places[player, s] for player in played for s in range(size)),
        "played": Counter(played.values()),
    }
