"""Adding and moving knights (docs/rules.md, 13 and 31 to 43)."""

import pytest

from engine.notation import move_of
from tests.engine.factories import allows, legal, position

C14 = (
    "f6 e6=2 e5=2 g6=3 e7 d8 c8 b8 a8 a7 a6 a4 c6 h5 c3 f3 e1",
    "f6",
    "c7 f7",
)


@pytest.mark.rule(33)
@pytest.mark.parametrize(("height", "fits"), [(2, False), (1, True), (0, True)])
def test_a_knight_is_added_no_higher_than_its_neighbour(
    height: int,
    fits: bool,  # noqa: FBT001
) -> None:
    board = position(f"b2 b3={height}" if height else "b2", "b2")

    assert allows(board, "add b3") is fits


@pytest.mark.rule(33)
def test_one_own_neighbour_on_the_level_is_enough() -> None:
    assert allows(position("b2 b3=2 c3=2", "b2 c3"), "add b3")
    assert allows(position("b2=2 b3=2 c3", "b2 c3"), "add b3")


@pytest.mark.rule(31)
def test_adding_costs_two_points_and_a_knight_of_the_reserve() -> None:
    assert legal(position("b2", "b2", ap=1), "add") == []
    assert legal(position("b2", "b2", reserve=[0, 5]), "add") == []


@pytest.mark.rule(35)
def test_a_step_leads_up_one_level_at_most_and_down_any() -> None:
    goals = legal(position("b2=2 b3=3 b1=4 c2 a2=2 d1", "b2"), "move b2")

    assert {"a2", "b3", "c2"} <= set(goals)
    assert "b1" not in goals


@pytest.mark.rule(35)
def test_a_step_never_leads_up_two_levels() -> None:
    assert not allows(position(*C14, king="h5"), "move f6 g6")


def test_a_space_behind_a_tower_costs_two_points() -> None:
    assert not allows(position(*C14, king="h5"), "move f6 e5")


@pytest.mark.rule(38)
@pytest.mark.parametrize("action", ["move f6 d7", "move f6 e6"])
def test_a_door_leads_through_the_castle_for_one_point(action: str) -> None:
    assert allows(position(*C14, king="h5"), action)


@pytest.mark.rule(42)
def test_two_castles_take_two_moves() -> None:
    assert not allows(position(*C14, king="h5"), "move f6 a5")
    assert allows(position(C14[0], "d7", C14[2], king="h5"), "move d7 a5")


@pytest.mark.rule(12, 36)
@pytest.mark.parametrize("space", ["c7", "f7", "h5"])
def test_a_knight_never_moves_to_an_occupied_space(space: str) -> None:
    assert not allows(position(*C14, king="h5"), f"move f6 {space}")


@pytest.mark.rule(38)
def test_a_knight_never_rises_inside_a_castle() -> None:
    # From b2 (level 1) the knight enters the tower c2 on its second layer. d2 has one
    # layer, so the way to e2 leads down, and e2 has no exit to the roof of f2 there.
    board = position("b2 c2=2 d2 e2=2 f2", "b2")

    assert "f2" not in legal(board, "move b2")


@pytest.mark.rule(43)
def test_a_knight_on_the_highest_level_has_no_door() -> None:
    assert legal(position("b2 c2 d2", "b2"), "move b2") == ["a2", "b1", "b3", "c2"]


@pytest.mark.rule(40)
def test_doors_open_on_lower_roofs_of_the_same_castle() -> None:
    assert "d2" in legal(position("b2 c2=2 d2 c3 b3", "b2"), "move b2")


@pytest.mark.rule(34)
def test_a_knight_that_was_added_moves_and_is_a_base() -> None:
    on = position("b2", "b2", ap=7)
    for action in ("add b3", "move b3 b4", "add b5"):
        assert allows(on, action)
        on.apply(move_of(on, action) or 0)


@pytest.mark.rule(32)
def test_a_knight_is_added_beside_an_own_knight() -> None:
    on = position("", "d4", "f4 d5")

    assert legal(on, "add") == ["c4", "d3", "e4"]


@pytest.mark.rule(36)
def test_a_step_is_neither_diagonal_nor_over_a_piece() -> None:
    on = position("", "d4", "d5 e4")

    assert legal(on, "move") == ["d4 c4", "d4 d3"]


@pytest.mark.rule(37)
def test_two_steps_are_two_actions() -> None:
    on = position("", "d4")

    assert not allows(on, "move d4 d6")
    on.apply(move_of(on, "move d4 d5") or 0)
    on.apply(move_of(on, "move d5 d6") or 0)
    assert on.ap == 3


@pytest.mark.rule(13)
@pytest.mark.parametrize("side", ["c4", "d3", "d5", "e4"])
def test_a_block_has_doors_on_its_four_sides(side: str) -> None:
    others = {"c4", "d3", "d5", "e4"} - {side}

    assert others <= set(legal(position("d4", side), f"move {side}"))


@pytest.mark.rule(38)
def test_pieces_on_a_castle_do_not_block_its_rooms() -> None:
    low = position("b2 c2 d2", "a2", "b2 c2", king="d2")
    high = position("a2 b2=2 c2=2 d2", "a2", "b2", king="c2")

    assert {"d3", "e2", "d1"} <= set(legal(low, "move a2"))
    assert "d2" in legal(high, "move a2")


@pytest.mark.rule(38)
def test_a_knight_goes_down_inside_a_castle() -> None:
    on = position("b2 c2=2 d2 e2", "b2")

    assert {"e1", "f2"} <= set(legal(on, "move b2"))


@pytest.mark.rule(39)
def test_a_knight_enters_on_the_layer_above_its_level() -> None:
    """From level 1 the second layer of c2 leads to the roof of d2, from level 0 not."""
    assert "d2" in legal(position("b2 c2=2 d2", "b2"), "move b2")
    assert "d2" not in legal(position("c2=2 d2", "b2"), "move b2")
    assert "d1" in legal(position("c2=2 d2", "b2"), "move b2")
    assert "d1" not in legal(position("b2 c2 d2", "b2"), "move b2")


@pytest.mark.rule(40)
def test_a_knight_does_not_leave_where_it_began() -> None:
    for on in (position(*C14, king="h5"), position("c2=2 c3 d2", "b2")):
        assert not [move for move in legal(on, "move") if len(set(move.split())) < 2]


@pytest.mark.rule(40)
def test_a_knight_leaves_below_the_layer_of_its_room() -> None:
    """On the second layer it leaves to level 1 and below, not to level 2."""
    goals = legal(position("b2 c2=3 d2=2 c3 c1", "b2"), "move b2")

    assert {"c3", "c1", "d1"} <= set(goals)
    assert "d2" not in goals


@pytest.mark.rule(41)
def test_the_highest_of_several_ways_counts() -> None:
    """One way from b2 to d3 leads over c3 on layer 1, another over c2 on layer 2."""
    both = "a2 b2=2 b3 c3 c2=2 d2=2 d3=2 e3"
    low = "a2 b2=2 b3 c3 d2=2 d3=2 e3"

    assert "e3" in legal(position(both, "a2"), "move a2")
    assert "e3" not in legal(position(low, "a2"), "move a2")
    assert "e4" in legal(position(low, "a2"), "move a2")


@pytest.mark.rule(42)
def test_a_knight_never_leaves_higher_than_it_entered() -> None:
    on = position("b2=2 c2=5 c3=4 c4=3 c5=2 c6 d2=2", "b2")
    goals = legal(on, "move b2")

    assert {"d2", "c5", "c6", "d4"} <= set(goals)
    assert not {"c2", "c3", "c4"} & set(goals)
