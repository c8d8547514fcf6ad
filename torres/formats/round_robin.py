"""Schedules of round robins: every entrant meets every other one.

At tables of two seats the schedule is the Berger table (FIDE Handbook C.05, Annex 1):
the circle method, with first and second seats that differ by at most one. There is no
such table for larger tables and every number of entrants. There a seeded search evens
out how often two entrants meet, and an edge colouring evens out the seats.
"""

from collections.abc import Sequence
from itertools import combinations
from math import ceil, exp, gcd
from random import Random

RoundTables = list[tuple[int, ...]]
"""One round: for each table its entrants in the order of the seats."""

EXCHANGES = 60_000
"""Steps of the search. They take less than a second for any number of entrants."""
MIN_TEMPERATURE = 0.05
"""Below this the search accepts no exchange that makes the schedule worse."""


def berger(entrants: Sequence[int]) -> list[RoundTables]:
    """Return the rounds of a single round robin at tables of two.

    With entrants numbered 1 to n, where n is even, those whose numbers add up to r + 1
    (modulo n - 1) meet in round r; entrant n meets the one that is left over. If the
    number of entrants is odd, the opponent of the missing entrant n rests.
    """
    n = len(entrants) + len(entrants) % 2
    rounds = []
    for r in range(1, n):
        tables: RoundTables = []
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


def equal_rest_rounds(n: int, seats: int) -> int:
    """Return the smallest number of rounds after which all have rested equally often.

    In each round n modulo ``seats`` entrants rest, because only full tables are
    played.
    """
    seated = n // seats * seats
    return n // gcd(n, seated) if seated else 1


def default_rounds(n: int, seats: int) -> int:
    """Return the smallest multiple of `equal_rest_rounds` in which all can meet."""
    seated = n // seats * seats
    if not seated:
        return 1
    step = equal_rest_rounds(n, seats)
    meetings = n * (n - 1)
    meetings_per_round = seated * (seats - 1)
    return ceil(ceil(meetings / meetings_per_round) / step) * step


def balanced_rounds(
    entrants: Sequence[int], seats: int, rounds: int
) -> list[RoundTables]:
    """Return ``rounds`` rounds at full tables of ``seats``, 3 or more.

    Entrants without a full table rest; the numbers of rests differ by at most one, and
    so does how often an entrant has each seat. Meetings are as even as the search gets
    them. The same arguments always give the same schedule.
    """
    n = len(entrants)
    seats = min(seats, n)
    seated = n // seats * seats
    seated_by_round = [
        [(r * (n - seated) + k) % n for k in range(n - seated, n)]
        for r in range(rounds)
    ]
    search = _MeetingSearch(n, seats, seated_by_round)
    search.run(Random(f"{n}/{seats}/{rounds}"))  # noqa: S311 -- a schedule, no secret
    schedule = _assign_seats(search.rounds(), seats)
    return [
        [tuple(entrants[i] for i in table) for table in tables] for tables in schedule
    ]


class _MeetingSearch:
    """Evens out the meetings by simulated annealing.

    ``rows[r]`` are the seated entrants of round r; each ``seats`` consecutive ones are
    a table. A step picks two entrants at different tables of one round. It exchanges
    them if that lowers the sum of the squared numbers of meetings, which is smallest
    when they are even, and with a falling probability if it does not.
    """

    def __init__(self, n: int, seats: int, rows: list[list[int]]) -> None:
        self.seats = seats
        self.rows = rows
        self.met = [[0] * n for _ in range(n)]

    def run(self, rng: Random) -> None:
        for row in self.rows:
            rng.shuffle(row)
        for tables in self.rounds():
            for table in tables:
                for a, b in combinations(table, 2):
                    self._count_meeting(a, b, 1)
        if len(self.rows[0]) <= self.seats:
            return  # one table: there is nothing to exchange
        for step in range(EXCHANGES):
            temperature = 2.0 * (1 - step / EXCHANGES) ** 2
            row = rng.choice(self.rows)
            i = rng.randrange(len(row))
            j = rng.randrange(len(row))
            if i // self.seats != j // self.seats:
                self._try_exchange(row, i, j, temperature, rng)

    def _try_exchange(
        self, row: list[int], i: int, j: int, temperature: float, rng: Random
    ) -> None:
        growth = self._growth(row, i, j)
        if growth > 0:
            if temperature < MIN_TEMPERATURE:
                return
            if rng.uniform(0, 1) > exp(-growth / temperature):
                return
        a = row[i]
        b = row[j]
        for k, other in self._table_of(row, i):
            if k != i:
                self._count_meeting(a, other, -1)
                self._count_meeting(b, other, 1)
        for k, other in self._table_of(row, j):
            if k != j:
                self._count_meeting(b, other, -1)
                self._count_meeting(a, other, 1)
        row[i] = b
        row[j] = a

    def _growth(self, row: list[int], i: int, j: int) -> int:
        """Return by how much an exchange would raise half the sum of squares."""
        met_a = self.met[row[i]]
        met_b = self.met[row[j]]
        growth = 0
        for k, other in self._table_of(row, i):
            if k != i:
                growth += met_b[other] - met_a[other] + 1
        for k, other in self._table_of(row, j):
            if k != j:
                growth += met_a[other] - met_b[other] + 1
        return growth

    def _table_of(self, row: list[int], i: int) -> list[tuple[int, int]]:
        start = i - i % self.seats
        return [(k, row[k]) for k in range(start, start + self.seats)]

    def _count_meeting(self, a: int, b: int, times: int) -> None:
        self.met[a][b] += times
        self.met[b][a] += times

    def rounds(self) -> list[RoundTables]:
        return [
            [tuple(row[k : k + self.seats]) for k in range(0, len(row), self.seats)]
            for row in self.rows
        ]


Node = tuple[str, int, int]
"""("entrant", its index, number of the stretch) or ("table", round, table)."""
Colouring = dict[tuple[Node, int], Node]
"""For a node and a colour (a seat) the node at the other end of that edge."""


def _assign_seats(rounds: list[RoundTables], seats: int) -> list[RoundTables]:
    """Order each table so that every entrant has each seat equally often.

    1. Cut the tables of each entrant into stretches of ``seats`` tables. An entrant
       shall have each seat once in a stretch.
    2. Build a graph with an edge between each stretch and each of its tables. It is
       bipartite with at most ``seats`` edges at a node.
    3. Colour the edges with ``seats`` colours. That is always possible (Kőnig's
       theorem), and alternating paths find such a colouring. The colours are the seats.
    """
    colouring: Colouring = {}
    played = [0] * (1 + max(k for tables in rounds for t in tables for k in t))
    for r, tables in enumerate(rounds):
        for t, table in enumerate(tables):
            for entrant in table:
                stretch = ("entrant", entrant, played[entrant] // seats)
                played[entrant] += 1
                _colour_edge(colouring, stretch, ("table", r, t), seats)
    return [
        [
            tuple(colouring[("table", r, t), seat][1] for seat in range(seats))
            for t in range(len(tables))
        ]
        for r, tables in enumerate(rounds)
    ]


def _colour_edge(colouring: Colouring, one: Node, two: Node, seats: int) -> None:
    """Add the edge between ``one`` and ``two``, in a colour that both have free."""
    free_one = next(c for c in range(seats) if (one, c) not in colouring)
    free_two = next(c for c in range(seats) if (two, c) not in colouring)
    if free_one != free_two:
        # Swap both colours along the path that leaves `two` in `free_one`. In a
        # bipartite graph it cannot reach `one`, so both then have `free_one` free.
        path = []
        node = two
        colour = free_one
        while (node, colour) in colouring:
            other = colouring[node, colour]
            path.append((node, other, colour))
            node = other
            colour = free_one + free_two - colour
        for a, b, old in path:
            del colouring[a, old], colouring[b, old]
        for a, b, old in path:
            new = free_one + free_two - old
            colouring[a, new] = b
            colouring[b, new] = a
    colouring[one, free_one] = two
    colouring[two, free_one] = one
