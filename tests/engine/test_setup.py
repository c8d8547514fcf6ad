"""Set-up, dealing, placed castles (docs/rules.md, A3, A4 and A9).

Examples C-01, C-02, C-34 and C-37.
"""

from random import Random

import pytest

from engine.editions import PHASE_CARDS, PRESETS
from engine.errors import BadSwitch
from engine.rulesets import SWITCHES, resolve
from engine.setup import Stream, derive, derive_seed
from tests.engine.factories import allows, game, legal, play_on, position


@pytest.mark.parametrize(
    ("seats", "blocks", "turns"), [(2, 36, 12), (3, 26, 10), (4, 20, 10)]
)
def test_the_phase_card(seats: int, blocks: int, turns: int) -> None:
    card = PHASE_CARDS[seats]

    assert sum(map(sum, card)) == blocks
    assert sum(map(len, card)) == turns


def test_four_players_take_all_blocks_but_four() -> None:
    torres = game("rio-grande-own-decks", 4)
    for _ in range(5):
        torres.play(torres.legal()[0])

    assert torres.state()["stacks"] == [[2] * 3, [2] * 4, [2] * 4, [2] * 4]
    assert torres.state()["supply"] == 84 - 4 * 8


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_turns_are_counted(seats: int) -> None:
    torres = game("yucata", seats)
    turns = sum(action.startswith("end") for action in play_on(torres, Random(1)))

    assert turns == seats * (12 if seats == 2 else 10)


def test_a_second_knight_and_the_king_need_free_castles() -> None:
    torres = game("yucata", 2)
    torres.play("enter a4")
    assert "enter a4" not in torres.legal()
    torres.play("enter c3")

    assert "king a4" not in torres.legal()
    assert "king stay" not in torres.legal()
    assert len(torres.legal()) == 6


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


def test_eight_start_blocks_can_always_be_placed() -> None:
    for seed in range(50):
        torres = game("torres-3d", 3, str(seed))
        rng = Random(seed)
        seats = []
        while torres.decision == "found":
            seats.append(torres.seat)
            torres.play(rng.choice(torres.legal()))
        assert seats == [0, 1, 2, 0, 1, 2, 0, 1]


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
