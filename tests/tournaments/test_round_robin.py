"""Round robins: the published tables for two seats, even schedules for more."""

from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import pytest
from hypothesis import given, settings, strategies as st

from torres.formats.round_robin import (
    RoundTables,
    balanced_rounds,
    berger,
    default_rounds,
    pairs_left_out,
)


class Balance(NamedTuple):
    """How even a schedule is.

    ``meetings``: the number of pairs by how often they met. ``seats``: the number of
    entrant and seat pairs by how often the entrant had the seat. ``played``: the number
    of entrants by how many tables they had.
    """

    meetings: Counter[int]
    seats: Counter[int]
    played: Counter[int]


def balance(rounds: Sequence[RoundTables]) -> Balance:
    meetings: Counter[tuple[int, int]] = Counter()
    seats: Counter[tuple[int, int]] = Counter()
    played: Counter[int] = Counter()
    tables = [table for each in rounds for table in each]
    for table in tables:
        meetings.update(combinations(sorted(table), 2))
        seats.update((entrant, seat) for seat, entrant in enumerate(table))
        played.update(table)
    size = max(len(table) for table in tables)
    return Balance(
        meetings=Counter(meetings[pair] for pair in combinations(sorted(played), 2)),
        seats=Counter(seats[entrant, s] for entrant in played for s in range(size)),
        played=Counter(played.values()),
    )


def test_berger_tables_for_eight() -> None:
    """FIDE Handbook C.05, Annex 1, "7 or 8 players": rounds 1 to 3."""
    rounds = [set(tables) for tables in berger(range(1, 9))]

    assert rounds[0] == {(1, 8), (2, 7), (3, 6), (4, 5)}
    assert rounds[1] == {(8, 5), (6, 4), (7, 3), (1, 2)}
    assert rounds[2] == {(2, 8), (3, 1), (4, 7), (5, 6)}


@given(n=st.integers(2, 60))
def test_everybody_meets_everybody_once_with_balanced_seats(n: int) -> None:
    rounds = berger(range(n))
    pairs = [table for each in rounds for table in each]

    assert sorted(tuple(sorted(p)) for p in pairs) == sorted(combinations(range(n), 2))
    for each in rounds:
        assert len({player for table in each for player in table}) == 2 * len(each)
    for player in range(n):
        first = sum(p[0] == player for p in pairs)
        assert abs(first - (n - 1 - first)) <= 1


@pytest.mark.parametrize(
    ("n", "seats", "most"),
    [(4, 4, 0), (5, 4, 0), (7, 3, 0), (9, 3, 0), (16, 4, 0), (13, 4, 2), (20, 4, 2)],
)
def test_meetings_and_seats_are_even(n: int, seats: int, most: int) -> None:
    """``most`` is the largest difference between two pairs' meetings."""
    rounds = default_rounds(n, seats)
    counts = balance(balanced_rounds(range(n), seats, rounds))
    print(f"{n} entrants, {seats} seats, {rounds} rounds:", counts)

    assert max(counts.meetings) - min(counts.meetings) <= most
    assert max(counts.seats) - min(counts.seats) <= 1
    assert len(counts.played) == 1


def left_out(n: int, seats: int) -> int:
    rounds = balanced_rounds(range(n), seats, default_rounds(n, seats))
    return pairs_left_out(rounds, n)


@pytest.mark.slow
@pytest.mark.parametrize("seats", [3, 4])
def test_no_pair_is_left_out_of_a_small_round_robin(seats: int) -> None:
    """With 8 entrants at tables of 4, 4 of 28 pairs never met; with 12, 11 of 66."""
    assert {n: left_out(n, seats) for n in range(seats, 21) if left_out(n, seats)} == {}


@pytest.mark.slow
@pytest.mark.parametrize("seats", [3, 4])
@pytest.mark.parametrize(
    "n",
    [*range(21, 31), *(pytest.param(n, marks=pytest.mark.deep) for n in range(31, 41))],
)
def test_no_pair_is_left_out_of_a_round_robin(n: int, seats: int) -> None:
    assert left_out(n, seats) == 0


@pytest.mark.parametrize(
    ("n", "seats", "rounds", "most"),
    [(15, 3, 7, 1), (16, 4, 5, 1), (9, 3, 4, 1), (18, 3, 9, 2), (24, 3, 12, 2)],
)
def test_known_designs_are_found(n: int, seats: int, rounds: int, most: int) -> None:
    """Kirkman's schoolgirls and the like: a pair meets once, in the fewest rounds."""
    counts = balance(balanced_rounds(range(n), seats, rounds))

    assert default_rounds(n, seats) == rounds
    assert min(counts.meetings) == 1
    assert max(counts.meetings) == most


@settings(max_examples=5, deadline=None)
@given(n=st.integers(3, 24), seats=st.integers(3, 4), rounds=st.integers(1, 9))
def test_any_schedule_seats_everybody_evenly(n: int, seats: int, rounds: int) -> None:
    schedule = balanced_rounds(range(n), seats, rounds)
    counts = balance(schedule)

    assert max(counts.seats) - min(counts.seats) <= 1
    assert max(counts.played) - min(counts.played) <= 1
    for each in schedule:
        players = [player for table in each for player in table]
        assert len(set(players)) == len(players)
