"""Buying and playing cards (docs/rules.md, 47 to 53)."""

from typing import Any

import pytest

from engine.moves import CARD_IDS, END
from engine.notation import move_of
from tests.engine.factories import allows, begun, end_turn, game, legal, position

SEVEN = "h1 h3 h5 h7 f8 d8"  # one-block castles far from what a test builds


def hold(*cards: str) -> dict[str, Any]:
    return {"hands": [list(cards), []]}


@pytest.mark.rule(30, 49)
def test_two_cards_a_turn_and_neither_is_played_in_it() -> None:
    torres = game("yucata", 2, "cards")
    while torres.decision != "turn":
        torres.play(torres.legal()[0])
    for _ in range(2):
        torres.play("buy")
        assert torres.decision == "keep"
        torres.play(torres.legal()[0])

    assert "buy" not in torres.legal()
    assert not [a for a in torres.legal() if a.startswith("play")]


@pytest.mark.rule(52)
def test_up2_leads_exactly_two_levels_up_and_straight() -> None:
    on = position("b2 b3=3 c2=4 b1=2 c3=3 a2=3", "b2", **hold("up2"))

    assert legal(on, "play up2 b2") == ["a2", "b3"]


@pytest.mark.rule(51, 52)
@pytest.mark.parametrize(("card", "points"), [("ap6", 6), ("ap7", 7)])
def test_action_points_come_even_after_the_last(card: str, points: int) -> None:
    on = position("b2", "b2", ap=0, **hold(card))
    on.apply(next(m for m in on.legal() if m >> 16 != END))

    assert on.ap == points - 5


@pytest.mark.rule(52)
def test_extra_block_comes_from_the_supply() -> None:
    on = position("b2", "b2", ap=0, current=0, **hold("extra_block"))
    assert legal(on, "play extra_block") == ["a2", "b1", "b3", "c2"]
    on.apply(on.legal()[1])

    assert on.stock.supply == 39
    assert legal(position("b2", supply=0, **hold("extra_block")), "play") == []


@pytest.mark.rule(52)
def test_under_knight_founds_a_castle() -> None:
    on = position("b2", "c3", **hold("under_knight"))

    assert allows(on, "play under_knight c3 current")


@pytest.mark.rule(52)
def test_under_knight_joins_no_castles() -> None:
    on = position("b2 d2", "c2", **hold("under_knight"))

    assert not allows(on, "play under_knight c2 current")


@pytest.mark.rule(52)
def test_under_knight_raises_no_castle_above_its_area() -> None:
    on = position("b2=2 b3", "b2", **hold("under_knight"))

    assert not allows(on, "play under_knight b2 current")


@pytest.mark.rule(52)
def test_under_knight_takes_from_any_stack_that_has_a_block() -> None:
    on = position(
        "b2", "c3", current=0, stacks=[[3, 1, 0], [3]], **hold("under_knight")
    )

    assert legal(on, "play under_knight") == ["c3 1", "c3 3"]


@pytest.mark.rule(52)
def test_move_block_leaves_six_castles() -> None:
    assert allows(
        position(f"{SEVEN} b2", **hold("move_block")), "play move_block b2 g1"
    )
    six = position(SEVEN, **hold("move_block"))
    assert not allows(six, "play move_block h1 g3")
    assert not allows(six, "play move_block h7 g8")
    assert allows(six, "play move_block h1 a1")


@pytest.mark.rule(11, 52)
def test_move_block_does_not_divide() -> None:
    on = position(f"{SEVEN} a1 b1 c1", **hold("move_block"))

    assert not allows(on, "play move_block b1 a3")
    assert allows(on, "play move_block a1 a3")


def test_move_block_may_itself_be_what_connects() -> None:
    ring = position(f"{SEVEN} a1 b1 c1 c2 c3 b3 a3", **hold("move_block"))

    assert allows(ring, "play move_block c2 a2")
    assert not allows(ring, "play move_block c2 d2")


@pytest.mark.rule(10, 52)
def test_move_block_leaves_no_castle_too_high() -> None:
    on = position(f"{SEVEN} a1 b1=3 c1", **hold("move_block"))

    assert not allows(on, "play move_block a1 e5")
    assert allows(on, "play move_block a1 b2")


@pytest.mark.rule(11, 52)
def test_move_block_joins_no_castles() -> None:
    on = position(f"{SEVEN} a1 b1 d1", **hold("move_block"))

    assert not allows(on, "play move_block a1 c1")


@pytest.mark.rule(52)
def test_a_jump_goes_over_one_knight_of_any_colour() -> None:
    for others, own in (("d5", "d4"), ("", "d4 d5")):
        on = position("", own, others, **hold("jump"))
        assert "d4 d6" in legal(on, "play jump")


@pytest.mark.rule(52)
@pytest.mark.parametrize(
    ("others", "king", "blocks"),
    [("", "d5", ""), ("d5 d6", None, ""), ("d5", None, "d6=2 d7"), ("", None, "")],
)
def test_no_jump_over_the_king_two_knights_nothing_or_too_high(
    others: str, king: str | None, blocks: str
) -> None:
    on = position(blocks, "d4", others, king=king, **hold("jump"))

    assert "d4 d6" not in legal(on, "play jump")


@pytest.mark.rule(52)
def test_diagonal_leads_up_one_level() -> None:
    on = position("e5 c5=2 c4 c3=1 b3", "d4", "e3", **hold("diagonal"))

    assert legal(on, "play diagonal d4") == ["c3", "e5"]


@pytest.mark.rule(52)
def test_regroup_needs_another_own_knight_as_high() -> None:
    assert legal(position("", "d4", **hold("regroup")), "play regroup") == []
    on = position("a1 a2=1", "d4 a1", **hold("regroup"))
    assert legal(on, "play regroup d4") == ["a2", "b1"]


@pytest.mark.rule(52)
def test_door_up_climbs_inside() -> None:
    on = position("a1 b1=2 c1=3 d1=3", "a2", **hold("door_up"))
    goals = legal(on, "play door_up a2")

    assert {"a1", "b1"} <= set(goals)
    assert not {"c1", "d1", "a2"} & set(goals)
    assert {"b2", "c2", "d2", "e1"} <= set(legal(on, "move a2"))


@pytest.mark.rule(30)
def test_one_card_a_turn() -> None:
    on = position("b2", "b2", **hold("ap6", "ap7"))
    assert legal(on, "play") == ["ap6", "ap7"]
    on.apply(move_of(on, "play ap6") or 0)

    assert legal(on, "play") == []
    assert not allows(on, "play ap7")


@pytest.mark.rule(50)
def test_a_deck_of_two_is_drawn_whole_and_of_none_not_at_all() -> None:
    on = position("b2", decks=[["ap6", "ap7"], []])
    on.apply(next(m for m in on.legal() if m >> 16 == 3))

    assert legal(on, "keep") == ["ap6 top", "ap7 top"]
    assert legal(position("b2", decks=[[], []]), "buy") == []


@pytest.mark.rule(47)
def test_cards_go_back_in_the_order_drawn() -> None:
    for where, expected in (
        ("top", ["jump", "up2", "ap6"]),
        ("bottom", ["ap6", "jump", "up2"]),
    ):
        torres = game("devir-2017", 2)
        on = torres.position
        on.cards.lay(0, [5, 9, 2, 0])  # jump up2 diagonal ap6
        while torres.decision != "turn":
            torres.play(torres.legal()[0])
        for action in ("stack 3", "end", "stack 3", "end"):
            if torres.seat == 0:
                break
            if action in torres.legal():
                torres.play(action)
        torres.play("buy")
        torres.play(f"keep diagonal {where}")
        decks = torres.state()["decks"]
        assert isinstance(decks, list)
        assert decks[0] == expected


def test_the_first_of_two_equal_cards_is_kept() -> None:
    on = position(
        "b2",
        ruleset="devir-2017-shared-deck",
        decision="keep",
        drawn=["ap6", "jump", "ap6"],
        decks=[["up2"]],
    )
    on.apply(next(m for m in on.legal() if m & 1))  # keep ap6 top

    assert list(on.cards.deck[:3]) == [9, 0, 5]


def test_a_second_copy_held_earlier_may_be_played() -> None:
    on = position("b2", ruleset="rio-grande-1999", hands=[["ap6"], []], decks=[["ap6"]])
    on.apply(next(m for m in on.legal() if m >> 16 == 3))

    assert list(on.cards.hand[:1]) == [2]
    assert allows(on, "play ap6")


@pytest.mark.rule(47)
def test_a_purchase_draws_the_top_three_cards() -> None:
    on = position("b2", decks=[["jump", "up2", "ap6", "ap7", "regroup"], []])
    on.apply(move_of(on, "buy") or 0)

    ends = [f"{card} {end}" for card in ("ap6", "jump", "up2") for end in ENDS]
    assert legal(on, "keep") == ends


ENDS = ("bottom", "top")


@pytest.mark.rule(48)
def test_the_top_card_is_bought() -> None:
    torres = begun("rio-grande-1999", 2)
    torres.position.cards.lay(0, [CARD_IDS[card] for card in ("jump", "up2", "ap6")])
    torres.play("buy")
    state: Any = torres.state()

    assert torres.decision == "turn"
    assert state["hands"][state["seat"]] == ["jump"]
    assert state["decks"] == [["up2", "ap6"]]


@pytest.mark.rule(49)
def test_a_bought_card_is_played_from_the_next_turn_on() -> None:
    torres = begun("rio-grande-1999", 2)
    torres.position.cards.lay(0, [CARD_IDS["ap6"]])
    seat = torres.seat
    torres.play("buy")

    assert "play ap6" not in torres.legal()
    end_turn(torres)
    end_turn(torres)
    assert torres.seat == seat
    assert "play ap6" in torres.legal()


@pytest.mark.rule(49)
def test_there_is_no_limit_to_a_hand() -> None:
    on = position(
        "b2",
        ruleset="rio-grande-1999",
        hands=[["ap6"] * 4 + ["ap7"] * 4 + ["up2"] * 4, []],
        decks=[["jump", "jump"]],
    )
    on.apply(move_of(on, "buy") or 0)
    on.apply(move_of(on, "buy") or 0)

    assert sum(on.cards.hand[: len(CARD_IDS)]) == 14


@pytest.mark.rule(51)
def test_a_played_card_is_out_of_the_game_and_costs_nothing() -> None:
    torres = begun("yucata-open-hand", 2)
    torres.play("play extra_block b4")
    state: Any = torres.state()
    seat = state["seat"]

    assert state["ap"] == 5
    assert len(state["hands"][seat]) == 9
    assert "extra_block" not in state["hands"][seat]
    assert state["discards"][seat] == ["extra_block"]


@pytest.mark.rule(53)
@pytest.mark.parametrize(
    ("card", "blocks", "knights", "spaces"),
    [
        ("up2", "b2", "b2", "b2 b3"),
        ("extra_block", "", "b2", "b3"),
        ("under_knight", "b2", "b2", "b2 current"),
        ("move_block", "b2=2 b3=2", "b2", "b3 b4"),
        ("diagonal", "a1 b2=3", "a1", "a1 b2"),
        ("jump", "b2", "b2", "b2 b4"),
        ("regroup", "b2", "b2", "b2 b3"),
        ("door_up", "b2", "b2", "b2 b3"),
    ],
)
def test_a_card_needs_an_effect(
    card: str, blocks: str, knights: str, spaces: str
) -> None:
    on = position(blocks, knights, **hold(card))

    assert legal(on, "play") == []
    assert not allows(on, f"play {card} {spaces}")
    assert on.cards.hand[CARD_IDS[card]] == 1
