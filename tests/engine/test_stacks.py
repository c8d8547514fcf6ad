"""Stacks and left-over blocks (docs/rules.md, 25 to 28)."""

import pytest

from engine.notation import move_of
from tests.engine.factories import allows, begun, game, legal, position

FREE = "rio-grande-own-decks"


def end(on: object, action: str = "end") -> dict[str, object]:
    on.apply(move_of(on, action))  # type: ignore[attr-defined, arg-type]
    stock = on.stock  # type: ignore[attr-defined]
    return {"stacks": stock.others(0), "supply": stock.supply}


@pytest.mark.rule(27)
def test_blocks_that_do_not_fit_return_to_the_supply() -> None:
    on = position("b2", ruleset=FREE, stacks=[[3, 2], [3]], current=2)

    assert end(on) == {"stacks": [3, 3], "supply": 41}


@pytest.mark.rule(27)
def test_yucata_puts_left_overs_on_the_next_stack() -> None:
    rules = {"ruleset": "yucata", "stacks": [[2, 2], [3]], "current": 3}
    on = position("b2", **rules)  # type: ignore[arg-type]
    on.stock.limit = 1000  # as with three or four seats

    assert end(on) == {"stacks": [5, 2], "supply": 40}


@pytest.mark.rule(27)
def test_yucata_with_two_players_stops_at_three() -> None:
    on = position("b2", stacks=[[3, 3, 3], [3]], current=2)

    assert end(on) == {"stacks": [3, 3, 3], "supply": 42}


@pytest.mark.rule(27)
def test_a_choice_of_left_overs_names_the_sizes() -> None:
    on = position("b2", ruleset=FREE, stacks=[[2, 1], [3]], current=1)

    assert legal(on, "end") == ["2,2", "3,1"]
    assert end(on, "end 2,2") == {"stacks": [2, 2], "supply": 40}


def test_sizes_of_two_digits_are_in_ascii_order() -> None:
    on = position("b2", ruleset=FREE, stacks=[[9, 8], [3]], current=2)
    on.stock.limit = 1000

    assert legal(on, "end") == ["10,9", "11,8", "9,10"][:2]
    assert legal(on, "end") == sorted(legal(on, "end"))


@pytest.mark.rule(25)
def test_a_stack_is_named_before_the_first_block_and_the_end() -> None:
    on = position("b2", "b2", ruleset=FREE, stacks=[[3, 2, 2], [3]], current=None)

    assert legal(on, "stack") == ["2", "3"]
    assert not allows(on, "block b3")
    assert not allows(on, "end")
    assert allows(on, "move b2 b3")
    on.apply(move_of(on, "stack 2") or 0)
    assert allows(on, "block b3")
    assert legal(on, "stack") == []
    assert not allows(on, "stack 3")


def test_equal_stacks_are_taken_automatically() -> None:
    torres = game(FREE, 2)
    while torres.decision != "turn":
        torres.play(torres.legal()[0])

    assert torres.state()["current"] == 3


def test_an_emptied_stack_still_counts_as_a_turn() -> None:
    on = position(
        "b2",
        "c4",
        ruleset=FREE,
        stacks=[[1], [3]],
        current=None,
        hands=[["under_knight"], []],
    )
    on.stock.deal(0, 3)
    on.apply(move_of(on, "play under_knight c4 1") or 0)

    assert legal(on, "stack") == ["0", "3"]


@pytest.mark.rule(28)
@pytest.mark.parametrize(
    ("ruleset", "stacks"),
    [("rio-grande-own-decks", [2, 2, 2]), ("devir-2017", [3, 2, 2])],
)
def test_left_overs_of_a_phase(ruleset: str, stacks: list[int]) -> None:
    torres = game(ruleset, 4)
    while torres.state()["phase"] != 2:
        legal_now = torres.legal()
        round_four = torres.state()["round"] == 4 and torres.seat == 0
        blocks = [a for a in legal_now if a.startswith("block")]
        if blocks and not (round_four and torres.state()["placed"] == 1):
            torres.play(blocks[0])
        elif torres.decision == "turn":
            torres.play(next(a for a in legal_now if a.startswith("end")))
        else:
            torres.play(legal_now[-1])

    all_stacks = torres.state()["stacks"]
    current = torres.state()["current"]
    mine = list(all_stacks[0])  # type: ignore[index]
    if torres.seat == 0 and current is not None:
        mine.append(current)
    assert sorted(mine, reverse=True) == stacks


@pytest.mark.rule(28)
def test_carried_blocks_may_be_a_decision() -> None:
    switches = {"stacks": [[3], [2, 1], [1]], "stack_limit": 3}
    torres = game("devir-2017", 2, **switches)  # type: ignore[arg-type]
    while torres.decision != "turn":
        torres.play(torres.legal()[0])
    for _ in range(2):
        block = next(a for a in torres.legal() if a.startswith("block"))
        torres.play(block)
        second = next(a for a in torres.legal() if a.startswith("block"))
        torres.play(second)
        torres.play("end")
    torres.play("king stay")
    torres.play("first 1")

    assert (torres.decision, torres.seat) == ("stock", 1)
    assert torres.legal() == ["stock 2,2", "stock 3,1"]
    assert torres.state()["carried"] == [1, 1]
    torres.play("stock 3,1")
    assert (torres.decision, torres.seat) == ("stock", 0)
    torres.play("stock 2,2")
    assert torres.state()["carried"] == [0, 0]
    assert (torres.decision, torres.seat) == ("turn", 1)


@pytest.mark.rule(25)
def test_the_largest_stack_may_be_prescribed() -> None:
    torres = begun("yucata", 3)

    assert torres.state()["current"] == 3
    assert torres.state()["stacks"][torres.seat or 0] == [3, 2, 2]  # type: ignore[index]
    assert not [action for action in torres.legal() if action.startswith("stack")]
