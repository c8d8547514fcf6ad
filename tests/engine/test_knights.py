"""Adding and moving knights (docs/rules.md, A5.1 to A5.3, examples C-13 to C-18)."""

import pytest

from engine.notation import move_of
from tests.engine.factories import allows, legal, position

C14 = (
    "f6 e6=2 e5=2 g6=3 e7 d8 c8 b8 a8 a7 a6 a4 c6 h5 c3 f3 e1",
    "f6",
    "c7 f7",
)


@pytest.mark.parametrize(("height", "fits"), [(2, False), (1, True), (0, True)])
def test_a_knight_is_added_no_higher_than_its_neighbour(
    height: int,
    fits: bool,  # noqa: FBT001
) -> None:
    board = position(f"b2 b3={height}" if height else "b2", "b2")

    assert allows(board, "add b3") is fits


def test_one_own_neighbour_on_the_level_is_enough() -> None:
    assert allows(position("b2 b3=2 c3=2", "b2 c3"), "add b3")


def test_adding_costs_two_points_and_a_knight_of_the_reserve() -> None:
    assert legal(position("b2", "b2", ap=1), "add") == []
    assert legal(position("b2", "b2", reserve=[0, 5]), "add") == []


def test_a_step_leads_up_one_level_at_most_and_down_any() -> None:
    goals = legal(position("b2=2 b3=3 b1=4 c2 a2=2 d1", "b2"), "move b2")

    assert {"a2", "b3", "c2"} <= set(goals)
    assert "b1" not in goals


def test_a_step_never_leads_up_two_levels() -> None:
    assert not allows(position(*C14, king="h5"), "move f6 g6")


def test_a_space_behind_a_tower_costs_two_points() -> None:
    assert not allows(position(*C14, king="h5"), "move f6 e5")


@pytest.mark.parametrize("action", ["move f6 d7", "move f6 e6"])
def test_a_door_leads_through_the_castle_for_one_point(action: str) -> None:
    assert allows(position(*C14, king="h5"), action)


def test_two_castles_take_two_moves() -> None:
    board = position(C14[0], "d7", C14[2], king="h5")

    assert allows(board, "move d7 a5")


@pytest.mark.parametrize("space", ["c7", "f7", "h5"])
def test_a_knight_never_moves_to_an_occupied_space(space: str) -> None:
    assert not allows(position(*C14, king="h5"), f"move f6 {space}")


def test_a_knight_never_rises_inside_a_castle() -> None:
    # From b2 (level 1) the knight enters the tower c2 on its second layer. d2 has one
    # layer, so the way to e2 leads down, and e2 has no exit to the roof of f2 there.
    board = position("b2 c2=2 d2 e2=2 f2", "b2")

    assert "f2" not in legal(board, "move b2")


def test_a_knight_on_the_highest_level_has_no_door() -> None:
    assert legal(position("b2 c2 d2", "b2"), "move b2") == ["a2", "b1", "b3", "c2"]


def test_doors_open_on_lower_roofs_of_the_same_castle() -> None:
    assert "d2" in legal(position("b2 c2=2 d2 c3 b3", "b2"), "move b2")


def test_a_knight_that_was_added_moves_and_is_a_base() -> None:
    on = position("b2", "b2", ap=7)
    for action in ("add b3", "move b3 b4", "add b5"):
        assert allows(on, action)
        on.apply(move_of(on, action) or 0)
