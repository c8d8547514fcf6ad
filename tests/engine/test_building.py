"""Castles and blocks (docs/rules.md, 8 to 12 and 44 to 46)."""

import pytest

from tests.engine.factories import allows, legal, position

C12 = "a4 a5 a6 c2 c3 c4 d4=4 e1 f1 e3 f3"


@pytest.mark.rule(44, 45)
@pytest.mark.parametrize("space", ["a1", "a2", "b1"])
def test_a_block_needs_an_adjacent_castle(space: str) -> None:
    assert not allows(position(C12), f"block {space}")


@pytest.mark.rule(11, 45)
@pytest.mark.parametrize("space", ["b4", "d3", "e2", "e4"])
def test_a_block_joins_no_two_castles(space: str) -> None:
    assert not allows(position(C12), f"block {space}")


@pytest.mark.rule(10)
def test_a_castle_is_not_higher_than_its_area() -> None:
    assert not allows(position(C12), "block d4")


@pytest.mark.rule(44)
def test_every_other_space_between_a1_and_e4_is_a_site() -> None:
    corner = [s for s in legal(position(C12), "block") if s[0] <= "e" and s[1] <= "4"]

    assert corner == sorted(
        {c + r for c in "abcde" for r in "1234"}
        - {"a1", "a2", "b1", "d4", "b4", "d3", "e2", "e4"}
    )


@pytest.mark.rule(10, 44)
@pytest.mark.parametrize(("height", "fits"), [(4, True), (5, False)])
def test_five_spaces_carry_five_levels(height: int, fits: bool) -> None:  # noqa: FBT001
    board = position(f"c3={height} c4 c5 d3 b3")

    assert allows(board, "block c3") is fits


@pytest.mark.rule(12, 45)
@pytest.mark.parametrize("occupied", ["a5", "b4"])
def test_an_occupied_space_is_no_site_on_any_level(occupied: str) -> None:
    assert not allows(position("a4 a5", "a5 b4"), f"block {occupied}")


def test_no_block_is_placed_under_the_king() -> None:
    assert not allows(position("a4 a5=1", king="a5"), "block a5")


@pytest.mark.rule(25)
def test_blocks_cost_a_point_each_and_end_with_the_stack() -> None:
    on = position("a4", current=1)
    on.apply(on.legal()[0])

    assert on.ap == 4
    assert on.stock.current == 0
    assert legal(on, "block") == []


@pytest.mark.rule(26)
def test_no_more_than_three_ordinary_blocks_a_turn() -> None:
    on = position("a4", ruleset="rio-grande-1999", placed=3)

    assert legal(on, "block") == []


@pytest.mark.rule(8)
@pytest.mark.parametrize(
    ("blocks", "castles"),
    [("a1", 1), ("a1 a2 b2", 1), ("a1 b2", 2), ("a1 b2 c2 e2", 3)],
)
def test_a_castle_is_connected_by_sides_not_by_corners(
    blocks: str, castles: int
) -> None:
    assert position(blocks).board.castles == castles


@pytest.mark.rule(11)
def test_castles_may_touch_at_corners() -> None:
    assert allows(position("a1 b3"), "block b1")
    assert allows(position("a1 a4 c3"), "block a3")
    assert not allows(position("a1 c1 b3"), "block b1")


@pytest.mark.rule(46)
@pytest.mark.parametrize(("own", "others"), [("h8", "a1"), ("h8", ""), ("a1", "")])
def test_any_castle_may_be_extended(own: str, others: str) -> None:
    on = position("a1 a2 h8", own, others)

    assert {"b1", "b2", "a3"} <= set(legal(on, "block"))
