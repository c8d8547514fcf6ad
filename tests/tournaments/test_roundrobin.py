"""Round robins: the published tables for two seats, even counts for more."""

from itertools import combinations

import pytest
from hypothesis import given, settings, strategies as st

from ladder.tournaments.formats.round_robin import balance, berger, fair_rounds, tables


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
def test_meetings_and_seats_are_even_and_printed(n: int, seats: int, most: int) -> None:
    """``most`` is the largest difference between two pairs' meetings."""
    rounds = fair_rounds(n, seats)
    counts = balance(tables(range(n), seats, rounds))
    print(f"{n} entrants, {seats} seats, {rounds} rounds:", counts)

    assert max(counts["meetings"]) - min(counts["meetings"]) <= most
    assert max(counts["seats"]) - min(counts["seats"]) <= 1
    assert len(counts["played"]) == 1


@settings(max_examples=5, deadline=None)
@given(n=st.integers(3, 24), seats=st.integers(3, 4), rounds=st.integers(1, 9))
def test_any_schedule_seats_everybody_evenly(n: int, seats: int, rounds: int) -> None:
    found = tables(range(n), seats, rounds)
    counts = balance(found)

    assert max(counts["seats"]) - min(counts["seats"]) <= 1
    assert max(counts["played"]) - min(counts["played"]) <= 1
    for each in found:
        players = [player for table in each for player in table]
        assert len(set(players)) == len(players)
