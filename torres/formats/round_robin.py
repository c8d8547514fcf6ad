"""Schedules of round robins: every entrant meets every other one.

At tables of two seats the schedule is the Berger table (FIDE Handbook C.05, Annex 1):
the circle method, with first and second seats that differ by at most one. There is no
such table for larger tables and every number of entrants. There the schedule is a
cyclic design, if there is one: no pair is left out, and few meet twice. Otherwise a
seeded search evens out how often two entrants meet. An edge colouring evens out the
seats.
"""

from collections.abc import Sequence
from functools import lru_cache
from itertools import chain, combinations
from math import ceil, exp, gcd
from random import Random

RoundTables = list[tuple[int, ...]]
"""One round: for each table its entrants in the order of the seats."""

EXCHANGES = 60_000
SEARCHES = 2
"""Steps of a search, and searches of which the best counts. They take about a second
for any number of entrants."""
SMALL = 9
SEARCHES_OF_SMALL = 10
"""With so few entrants, a schedule in which all meet equally often is searched longer,
if their number permits it."""
LEFT_OUT_COST = 2
"""The cost of a pair that never meets, in half squares of meetings."""
DESIGN_EXCHANGES = 15_000
DESIGN_TRIES = 8
"""Attempts to find the first round of a cyclic design."""
ROUNDS_IN_WHICH_ALL_MEET = {
    (6, 3): 4,
    (12, 3): 7,
    (21, 3): 12,
    (27, 3): 16,
    (33, 3): 20,
    (36, 3): 22,
    (39, 3): 24,
    (12, 4): 5,
    (20, 4): 8,
    (24, 4): 10,
    (28, 4): 12,
    (32, 4): 14,
    (36, 4): 16,
    (40, 4): 19,
}
"""Where the smallest number of rounds leaves pairs out, a number that leaves none out,
by (entrants, seats). Up to 40 entrants; a test makes all these schedules."""
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
    """Return how many rounds are played so that all entrants meet.

    That is the smallest multiple of `equal_rest_rounds` in which all can meet, or more
    if no such schedule is known that leaves no pair out (`ROUNDS_IN_WHICH_ALL_MEET`).
    """
    seated = n // seats * seats
    if not seated:
        return 1
    step = equal_rest_rounds(n, seats)
    meetings = n * (n - 1)
    meetings_per_round = seated * (seats - 1)
    fewest = ceil(ceil(meetings / meetings_per_round) / step) * step
    return ROUNDS_IN_WHICH_ALL_MEET.get((n, seats), fewest)


def pairs_left_out(rounds: Sequence[RoundTables], n: int) -> int:
    """Return how many pairs of `n` entrants never meet."""
    tables = [table for each in rounds for table in each]
    met = {pair for table in tables for pair in combinations(sorted(table), 2)}
    return n * (n - 1) // 2 - len(met)


def balanced_rounds(
    entrants: Sequence[int], seats: int, rounds: int
) -> list[RoundTables]:
    """Return ``rounds`` rounds at full tables of ``seats``, 3 or more.

    Entrants without a full table rest; the numbers of rests differ by at most one, and
    so does how often an entrant has each seat. If a cyclic design has these numbers,
    it is the schedule. Otherwise meetings are as even as the search gets them. The same
    arguments always give the same schedule.
    """
    n = len(entrants)
    seats = min(seats, n)
    tables = _cyclic_design(n, seats, rounds) or _searched(n, seats, rounds)
    return [
        [tuple(entrants[i] for i in table) for table in each]
        for each in _assign_seats(tables, seats)
    ]


@lru_cache
def _searched(n: int, seats: int, rounds: int) -> list[RoundTables]:
    seated = n // seats * seats
    seated_by_round = [
        [(r * (n - seated) + k) % n for k in range(n - seated, n)]
        for r in range(rounds)
    ]
    pairs = [[a * n + b if a < b else b * n + a for b in range(n)] for a in range(n)]
    rng = Random(f"{n}/{seats}/{rounds}")  # noqa: S311 -- a schedule, no secret
    meetings = rounds * seated * (seats - 1)
    may_be_even = n <= SMALL and meetings % (n * (n - 1)) == 0
    searches: list[_MeetingSearch] = []
    while len(searches) < SEARCHES or (
        may_be_even and len(searches) < SEARCHES_OF_SMALL and searches[-1].is_uneven()
    ):
        rows = [list(row) for row in seated_by_round]
        searches.append(_MeetingSearch(seats, rows, pairs))
        searches[-1].run(rng, EXCHANGES)
    return min(searches, key=lambda search: search.cost).rounds()


@lru_cache
def _cyclic_design(n: int, seats: int, rounds: int) -> list[RoundTables]:
    """Return rounds in which all entrants meet, each the next one of the one before.

    The entrants are (x, column) with x modulo the number of rounds, and one more that
    never changes if n is not a multiple of that number. A round is the one before with
    x + 1 for each x. So a pair stands for all pairs with the same columns and the same
    difference, and only the first round has to be found. The result is empty if there
    is no such design, or none is found. Source: Handbook of Combinatorial Designs (2nd
    edition), VI.16, difference families; with 3 seats and n = 6t + 3 these are Kirkman
    triple systems, with 4 seats and n = 12t + 4 resolvable designs.
    """
    if n % seats or n % rounds > 1 or n // rounds != seats - 1:
        return []
    moved = n - n % rounds

    def orbit(a: int, b: int) -> int:
        """Number the pairs by their columns and their difference."""
        if b >= moved:
            return -1 - a // rounds
        columns = (a // rounds, b // rounds)
        apart = (b - a) % rounds
        if columns[0] == columns[1]:
            apart = min(apart, rounds - apart)
        return (columns[0] * seats + columns[1]) * rounds + apart

    orbits = [[orbit(min(a, b), max(a, b)) for b in range(n)] for a in range(n)]
    rng = Random(f"{n}/{seats}/{rounds}")  # noqa: S311 -- a schedule, no secret
    for _ in range(DESIGN_TRIES):
        search = _MeetingSearch(seats, [list(range(n))], orbits)
        search.run(rng, DESIGN_EXCHANGES)
        shifted = [
            [
                tuple(k if k >= moved else _next(k, r, rounds) for k in table)
                for table in search.rounds()[0]
            ]
            for r in range(rounds)
        ]
        if not pairs_left_out(shifted, n):
            return shifted
    return []


def _next(entrant: int, by: int, rounds: int) -> int:
    """Return the entrant of the same column that is `by` further."""
    return entrant // rounds * rounds + (entrant + by) % rounds


class _MeetingSearch:
    """Evens out the meetings by simulated annealing.

    ``rows[r]`` are the seated entrants of round r; each ``seats`` consecutive ones are
    a table. ``kinds`` has a number for each pair of entrants, and pairs with the same
    number are counted together. A step picks two entrants at different tables of one
    round. It exchanges them if that lowers the cost, and with a falling probability if
    it does not. The cost is half the sum of the squared numbers of meetings, which is
    smallest when they are even, and `LEFT_OUT_COST` for each kind that never meets.
    """

    def __init__(
        self, seats: int, rows: list[list[int]], kinds: list[list[int]]
    ) -> None:
        self.seats = seats
        self.rows = rows
        self.kinds = kinds
        self.met: dict[int, int] = {}
        self.cost = 0.0

    def is_uneven(self) -> bool:
        """True if some pairs meet more often than others."""
        n = len(self.kinds)
        met = {self.met[self.kinds[a][b]] for a, b in combinations(range(n), 2)}
        return len(met) > 1

    def run(self, rng: Random, steps: int) -> None:
        for row in self.rows:
            rng.shuffle(row)
        self.met = dict.fromkeys(chain.from_iterable(self.kinds), 0)
        for tables in self.rounds():
            for table in tables:
                for a, b in combinations(table, 2):
                    self.met[self.kinds[a][b]] += 1
        self.cost = sum(times**2 for times in self.met.values()) / 2
        self.cost -= LEFT_OUT_COST * sum(times > 0 for times in self.met.values())
        if len(self.rows[0]) <= self.seats:
            return  # one table: there is nothing to exchange
        for step in range(steps):
            temperature = 2.0 * (1 - step / steps) ** 2
            row = rng.choice(self.rows)
            i = rng.randrange(len(row))
            j = rng.randrange(len(row))
            if i // self.seats != j // self.seats:
                self._try_exchange(row, i, j, temperature, rng)

    def _try_exchange(
        self, row: list[int], i: int, j: int, temperature: float, rng: Random
    ) -> None:
        before = self.cost
        self._exchange(row, i, j)
        growth = self.cost - before
        if growth > 0 and (
            temperature < MIN_TEMPERATURE
            or rng.uniform(0, 1) > exp(-growth / temperature)
        ):
            self._exchange(row, i, j)

    def _exchange(self, row: list[int], i: int, j: int) -> None:
        one = i - i % self.seats
        two = j - j % self.seats
        stay = row[one:i] + row[i + 1 : one + self.seats]
        self._replace(self.kinds[row[i]], self.kinds[row[j]], stay)
        stay = row[two:j] + row[j + 1 : two + self.seats]
        self._replace(self.kinds[row[j]], self.kinds[row[i]], stay)
        row[i], row[j] = row[j], row[i]

    def _replace(self, leaving: list[int], coming: list[int], stay: list[int]) -> None:
        """Count meetings anew if one entrant of a table is replaced by another.

        ``leaving`` and ``coming`` are their rows of ``kinds``. A search calls this two
        hundred thousand times. With a function for each meeting, it took half longer.
        """
        met = self.met
        cost = self.cost
        for other in stay:
            kind = leaving[other]
            times = met[kind]
            met[kind] = times - 1
            cost += 0.5 - times
            if times == 1:
                cost += LEFT_OUT_COST
            kind = coming[other]
            times = met[kind]
            met[kind] = times + 1
            cost += 0.5 + times
            if times == 0:
                cost -= LEFT_OUT_COST
        self.cost = cost

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
