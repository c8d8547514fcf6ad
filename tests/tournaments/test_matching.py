"""The matching is the cheapest there is: every matching is tried, on small graphs."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings, strategies as st

from ladder.tournaments.formats.matching import NoMatching, cheapest


def least(table: Sequence[Sequence[int]], left: tuple[int, ...]) -> int:
    if not left:
        return 0
    one, *rest = left
    return min(
        table[one][other] + least(table, tuple(k for k in rest if k != other))
        for other in rest
    )


@st.composite
def tables(draw: st.DrawFn) -> list[list[int]]:
    n = 2 * draw(st.integers(1, 5))
    most = draw(st.sampled_from([1, 3, 40, 10**30]))
    table = [[0] * n for _ in range(n)]
    for v in range(n):
        for u in range(v):
            table[u][v] = table[v][u] = draw(st.integers(0, most))
    return table


@settings(max_examples=300, deadline=None)
@given(table=tables(), data=st.data())
def test_no_matching_is_cheaper_whatever_seemed_promising(
    table: list[list[int]], data: st.DataObject
) -> None:
    n = len(table)
    promising = [
        [u for u in data.draw(st.sets(st.integers(0, n - 1))) if u != v]
        for v in range(n)
    ]

    mates = cheapest(table, promising)

    assert all(mates[mates[v]] == v != mates[v] for v in range(n))
    assert sum(table[v][mates[v]] for v in range(n)) // 2 == least(
        table, tuple(range(n))
    )


def test_an_odd_number_has_no_perfect_matching() -> None:
    with pytest.raises(NoMatching, match="3 vertices"):
        cheapest([[0] * 3] * 3, [[]] * 3)
