"""The matching is the cheapest one: compared with all others, on small graphs."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings, strategies as st

from torres.formats.matching import NoMatching, cheapest_matching


def minimum_cost(costs: Sequence[Sequence[int]], left: tuple[int, ...]) -> int:
    """Try every perfect matching of the vertices that are left."""
    if not left:
        return 0
    one, *rest = left
    return min(
        costs[one][other] + minimum_cost(costs, tuple(k for k in rest if k != other))
        for other in rest
    )


@st.composite
def cost_matrices(draw: st.DrawFn) -> list[list[int]]:
    n = 2 * draw(st.integers(1, 5))
    most = draw(st.sampled_from([1, 3, 40, 10**30]))
    costs = [[0] * n for _ in range(n)]
    for v in range(n):
        for u in range(v):
            costs[u][v] = costs[v][u] = draw(st.integers(0, most))
    return costs


@settings(max_examples=300, deadline=None)
@given(costs=cost_matrices(), data=st.data())
def test_no_matching_is_cheaper_whatever_edges_are_tried_first(
    costs: list[list[int]], data: st.DataObject
) -> None:
    n = len(costs)
    promising = [
        [u for u in data.draw(st.sets(st.integers(0, n - 1))) if u != v]
        for v in range(n)
    ]

    mates = cheapest_matching(costs, promising)

    assert all(mates[mates[v]] == v != mates[v] for v in range(n))
    assert sum(costs[v][mates[v]] for v in range(n)) // 2 == minimum_cost(
        costs, tuple(range(n))
    )


def test_an_odd_number_has_no_perfect_matching() -> None:
    with pytest.raises(NoMatching, match="3 vertices"):
        cheapest_matching([[0] * 3] * 3, [[]] * 3)
