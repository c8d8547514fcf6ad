"""Stacks and left-over blocks (docs/rules.md, 25 to 28)."""

from itertools import combinations_with_replacement

import pytest

from engine.notation import move_of
from tests.engine.factories import allows, begun, game, legal, position

FREE = "rio-grande-own-decks"


def end(on: object, action: str = "end") -> dict[str, object]:
    on.apply(move_of(on, action))  # type: ignore[attr-defined, arg-type]
    stock = on.stock  # type: ignore[attr-defined]
    return {"stacks": stock.others(0), "supply": stock.supply}


def partitions(blocks: int, stacks: int) -> set[str]:
    """Return the sizes of stacks of three after blocks were put on them, in words."""
    shares = combinations_with_replacement(range(stacks), blocks)
    sizes = [
        sorted((3 + s.count(n) for n in range(stacks)), reverse=True) for s in shares
    ]
    return {",".join(map(str, row)) for row in sizes}


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


@pytest.mark.rule(26)
@pytest.mark.rule(27)
def test_stacks_of_the_printed_second_edition_have_any_height() -> None:
    """With two players, too: the limit of three is an exception of Yucata."""
    second = {"ruleset": "rio-grande-2005", "stacks": [[5, 2], [3]], "current": 3}
    on = position("b2", **second)  # type: ignore[arg-type]

    assert legal(on, "end") == ["5,5", "6,4", "7,3", "8,2"]
    assert end(on, "end 8,2") == {"stacks": [8, 2], "supply": 40}

    on = position("b2", **second | {"current": 5, "ap": 5})  # type: ignore[arg-type]
    for space in ("b3", "b4", "b5", "b6", "b7"):
        assert allows(on, f"block {space}")
        on.apply(move_of(on, f"block {space}") or 0)


@pytest.mark.rule(28)
def test_the_printed_second_edition_lets_players_distribute_kept_blocks() -> None:
    torres = begun("rio-grande-2005", 2)
    while torres.decision != "stock":
        endings = [action for action in torres.legal() if action.startswith("end")]
        torres.play(endings[-1] if endings else torres.legal()[0])

    assert torres.state()["phase"] == 2
    assert torres.state()["carried"] == [12, 12]
    assert torres.legal() == sorted(f"stock {sizes}" for sizes in partitions(12, 4))


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
