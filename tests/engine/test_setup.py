"""The parts of the game, set-up, placed castles (docs/rules.md, 1-21 and 65-69)."""

from collections import Counter
from random import Random
from typing import Any

import pytest

from engine.editions import PRESETS
from engine.errors import BadSwitch
from engine.rulesets import SWITCHES, resolve
from engine.setup import Stream, derive, derive_seed
from tests.engine.factories import (
    allows,
    begun,
    game,
    heights,
    legal,
    play_on,
    position,
)

TEN_CARDS = [
    "ap6",
    "ap7",
    "diagonal",
    "door_up",
    "extra_block",
    "jump",
    "move_block",
    "regroup",
    "under_knight",
    "up2",
]
MASTER_CARDS = {
    "border",
    "diagonals",
    "castles",
    "adjacent",
    "all_levels",
    "row",
    "square",
    "one_level",
}


@pytest.mark.rule(1)
def test_the_board_has_columns_a_to_h_and_rows_1_to_8() -> None:
    on = position("", ruleset="torres-3d", decision="found", phase=0)

    assert legal(on, "found") == [c + r for c in "abcdefgh" for r in "12345678"]


@pytest.mark.rule(1)
@pytest.mark.parametrize(
    ("corner", "neighbours"),
    [
        ("a1", ["a2", "b1"]),
        ("a8", ["a7", "b8"]),
        ("h1", ["g1", "h2"]),
        ("h8", ["g8", "h7"]),
    ],
)
def test_the_board_ends_at_its_edges(corner: str, neighbours: list[str]) -> None:
    assert legal(position("", corner), "add") == neighbours


@pytest.mark.rule(5)
def test_the_forty_cards_are_ten_cards_four_times() -> None:
    (deck,) = derive(resolve("rio-grande-1999", 4), "any").decks

    assert Counter(deck) == dict.fromkeys(TEN_CARDS, 4)


@pytest.mark.rule(5, 69)
def test_one_of_eight_master_cards_is_drawn() -> None:
    rules = resolve("torres-3d", 2)
    drawn = {derive(rules, str(seed)).master for seed in range(200)}

    assert drawn == MASTER_CARDS


@pytest.mark.rule(69)
def test_the_master_card_is_open_and_stays() -> None:
    torres = game("rio-grande-1999-master", 3, "open")
    card = torres.setup.master
    plies = 0
    for _ in play_on(torres, Random(1), favour="end"):
        plies += 1
        assert [torres.state(seat)["master"] for seat in range(3)] == [card] * 3

    assert plies > 90


@pytest.mark.rule(6)
def test_two_three_or_four_players_take_part() -> None:
    for seats in (2, 3, 4):
        assert len(begun("yucata", seats).state()["knights"]) == seats  # type: ignore[arg-type]
    for seats in (0, 1, 5):
        with pytest.raises(BadSwitch, match="choose 2, 3 or 4"):
            resolve("yucata", seats)


@pytest.mark.rule(14, 15)
def test_eight_blocks_start_on_the_marked_spaces() -> None:
    state = game("yucata", 4).state()

    assert state["heights"] == heights("a4 c3 c6 d8 e1 f3 f6 h5")
    assert state["supply"] == 84


@pytest.mark.rule(16)
@pytest.mark.parametrize(
    ("start_player", "starters"), [("seat0", {0}), ("random", {0, 1, 2, 3})]
)
def test_seat_0_starts_or_a_random_seat(start_player: str, starters: set[int]) -> None:
    games = [
        game("yucata", 4, str(seed), start_player=start_player) for seed in range(60)
    ]

    assert {torres.seat for torres in games} == starters


@pytest.mark.rule(17, 18, 19)
@pytest.mark.parametrize("seed", ["a", "b", "c"])
def test_knights_and_king_enter_clockwise_from_the_starting_player(seed: str) -> None:
    torres = game("yucata", 4, seed)
    first = torres.setup.first
    seats = []
    while torres.decision == "enter":
        seats.append(torres.seat)
        torres.play(torres.legal()[-1])

    assert seats == [(first + turn) % 4 for turn in range(4)]
    assert torres.state()["reserve"] == [5] * 4
    assert (torres.decision, torres.seat) == ("king", seats[-1])
    torres.play("king a4")
    assert torres.state()["king"] == "a4"
    assert (torres.decision, torres.seat) == ("turn", first)
    assert torres.state()["scores"] == [0] * 4


@pytest.mark.rule(20)
def test_each_player_has_a_deck_of_his_own_ten_cards() -> None:
    state: Any = begun("yucata", 3).state()

    assert [sorted(deck) for deck in state["decks"]] == [TEN_CARDS] * 3
    assert len({tuple(deck) for deck in state["decks"]}) == 3
    assert state["hands"] == [[], [], []]


@pytest.mark.rule(20)
def test_a_shared_deck_has_all_forty_cards() -> None:
    state: Any = begun("devir-2017-shared-deck", 3).state()

    assert [sorted(deck) for deck in state["decks"]] == [sorted(4 * TEN_CARDS)]
    assert state["hands"] == [[], [], []]


@pytest.mark.rule(20, 68)
@pytest.mark.parametrize(
    "ruleset",
    [
        "yucata-open-hand",
        "rio-grande-1999-master",
        "torres-3d",
        "devir-2017-master",
    ],
)
def test_a_full_hand_is_all_ten_cards_and_nothing_to_buy(ruleset: str) -> None:
    torres = begun(ruleset, 3)

    assert torres.state()["hands"] == [TEN_CARDS] * 3
    assert torres.state()["decks"] == []
    assert "buy" not in torres.legal()


@pytest.mark.rule(67)
def test_knights_and_king_enter_after_the_start_blocks() -> None:
    torres = game("torres-3d", 3)
    while torres.decision == "found":
        torres.play(torres.legal()[0])
    roofs = legal(torres.position, "enter")
    seats = []
    while torres.decision == "enter":
        seats.append(torres.seat)
        torres.play(torres.legal()[0])

    assert len(roofs) == 8
    assert seats == [0, 1, 2]
    assert (torres.decision, torres.seat) == ("king", 2)
    assert len(torres.legal()) == 5


@pytest.mark.rule(17, 18)
def test_a_second_knight_and_the_king_need_free_castles() -> None:
    torres = game("yucata", 2)
    torres.play("enter a4")
    assert "enter a4" not in torres.legal()
    torres.play("enter c3")

    assert "king a4" not in torres.legal()
    assert "king stay" not in torres.legal()
    assert len(torres.legal()) == 6


@pytest.mark.rule(66)
def test_start_blocks_are_three_steps_apart() -> None:
    on = position("d4", ruleset="torres-3d", decision="found", phase=0)
    forbidden = [
        "d2",
        "d3",
        "d4",
        "d5",
        "d6",
        "b4",
        "c4",
        "e4",
        "f4",
        "c3",
        "c5",
        "e3",
        "e5",
    ]

    assert not set(forbidden) & set(legal(on, "found"))
    assert len(legal(on, "found")) == 64 - len(forbidden)


@pytest.mark.rule(15, 65)
def test_eight_start_blocks_can_always_be_placed() -> None:
    for seed in range(50):
        torres = game("torres-3d", 3, str(seed))
        rng = Random(seed)
        seats = []
        while torres.decision == "found":
            seats.append(torres.seat)
            torres.play(rng.choice(torres.legal()))
        assert seats == [0, 1, 2, 0, 1, 2, 0, 1]
        assert torres.state()["supply"] == 84


def test_a_seed_gives_the_same_set_up_everywhere() -> None:
    setup = derive(resolve("yucata", 2), "golden")

    assert setup.first == GOLDEN[0]
    assert setup.decks[0][:3] == GOLDEN[1]
    assert derive(resolve("torres-3d", 2), "golden").master == GOLDEN[2]


GOLDEN = (0, ("under_knight", "door_up", "regroup"), "all_levels")


def test_each_bot_gets_its_own_seed() -> None:
    assert derive_seed("s", 0) != derive_seed("s", 1)
    assert len(derive_seed("s", 0)) == 64


def test_draws_are_even() -> None:
    stream = Stream("even")
    draws = [stream.below(3) for _ in range(3000)]

    assert all(900 < draws.count(n) < 1100 for n in range(3))


@pytest.mark.parametrize("switch", SWITCHES)
def test_every_switch_refuses_nonsense(switch: str) -> None:
    for value in ("nonsense", -1, 1.0, True, None, [], {}, 10**5000, "x" * 10**6):
        if SWITCHES[switch].allows(value):
            continue
        with pytest.raises(BadSwitch, match=switch) as refusal:
            resolve("yucata", 2, {switch: value})
        assert len(str(refusal.value)) < 300


@pytest.mark.parametrize(
    ("ruleset", "seats", "switches"),
    [
        ("chess", 2, {}),
        ("yucata", 5, {}),
        ("yucata", True, {}),
        ("yucata", 2, {"colour": 1}),
        ("yucata", 2, {"stacks": [[3], [3]]}),
        ("yucata", 2, {"stacks": [[3], [], [3]]}),
        ("yucata", 2, {"stacks": [[3], [0], [3]]}),
        ("yucata", 2, {"stacks": [[30], [6], [6]]}),
        ("devir-2017-shared-deck", 2, {"stacks": [[30], [6], [5]]}),
    ],
)
def test_an_unknown_or_malformed_ruleset_is_refused(
    ruleset: str, seats: int, switches: dict[str, object]
) -> None:
    with pytest.raises(BadSwitch):
        resolve(ruleset, seats, switches)


def test_a_switch_overrides_the_preset() -> None:
    rules = resolve("yucata", 2, {"buy_draw": 1})

    assert rules.buy_draw == 1
    assert resolve("yucata", 2).buy_draw == 3


def test_every_preset_explains_itself() -> None:
    for preset in PRESETS.values():
        assert len(preset.explanation) > 80
        assert preset.source


def test_switches_come_in_the_order_of_the_contract() -> None:
    assert list(resolve("yucata", 2).switches()) == list(SWITCHES)


def test_a_full_hand_is_held_from_the_start() -> None:
    on = position("b2", ruleset="yucata-open-hand", hands=[["ap6"], []])

    assert allows(on, "play ap6")


def test_an_unknown_switch_is_refused_even_as_null() -> None:
    with pytest.raises(BadSwitch, match="unknown switch"):
        resolve("yucata", 2, {"luck": None})
