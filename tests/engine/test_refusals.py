"""An illegal action is refused with the rule that it breaks."""

from typing import Any

import pytest

from engine.moves import CARD_IDS
from engine.refusals import reason
from tests.engine.factories import allows, position

FREE = "rio-grande-1999"  # stacks are chosen, at most three blocks a turn
MASTER = "rio-grande-1999-master"
Fields = dict[str, Any]


def hand(*cards: str) -> Fields:
    return {"hands": [list(cards), []]}


CASES: list[tuple[str, str, str, Fields]] = [
    # The action, a part of the refusal, blocks and own knights, changed fields.
    ("dance a1", "does not have the form of an action", "a1", {}),
    ("end", "decision is king", "a1", {"decision": "king"}),
    ("king a1", "decision is turn", "a1", {}),
    ("end 3,3", "decision is king", "a1", {"ruleset": FREE, "decision": "king"}),
    ("stock 3,3", "decision is turn", "a1", {}),
    ("end", "rule 25", "a1", {"ruleset": FREE, "current": None}),
    ("end 9,9", "rule 27", "a1", {"ruleset": FREE}),
    (
        "stock 9,9",
        "rule 28",
        "a1",
        {"ruleset": "devir-2017", "decision": "stock", "carried": [1, 0]},
    ),
    ("add b1", "costs 2 AP and 1 are left", "a1 a1", {"ap": 1}),
    ("add b1", "rule 31", "a1 a1", {"reserve": [0, 5]}),
    ("add a1", "rule 12", "a1 a1", {}),
    ("add h8", "rules 32, 33", "a1 a1", {}),
    ("score", "costs 1 AP and 0 are left", "a1", {"ap": 0}),
    ("buy", "rule 47", "a1", {"bought": 99}),
    ("buy", "rule 50", "a1", {}),
    ("block b1", "before the first block", "a1", {"ruleset": FREE, "current": None}),
    ("block b1", "no block is left", "a1", {"current": 0}),
    ("block b1", "rule 26", "a1", {"ruleset": FREE, "placed": 3}),
    ("block a1", "rule 45", "a1=1 a1", {}),
    ("block a1", "rules 10, 44", "a1", {}),
    ("block b1", "rules 11, 45", "a1,c1", {}),
    ("block h8", "next to no castle", "a1", {}),
    ("play ap6", "a card was played", "a1", {"played": True, **hand("ap6")}),
    ("play ap6", "not in the hand", "a1", {}),
    ("play extra_block b1", "D-18", "a1", {"supply": 0, **hand("extra_block")}),
    ("king stay", "rule 18", "a1", {"decision": "king", "phase": 0}),
    ("king a1", "rule 12", "a1 a1", {"decision": "king"}),
    ("king h8", "rules 18, 60", "a1", {"decision": "king"}),
    ("enter h8", "rule 17", "a1", {"decision": "enter", "phase": 0}),
    (
        "found b1",
        "rule 66",
        "a1",
        {"decision": "found", "phase": 0, "ruleset": MASTER},
    ),
    ("keep jump top", "rule 47", "a1", {"decision": "keep", "drawn": ["ap6"]}),
    ("keep ap6 bottom", "D-17", "a1", {"decision": "keep", "drawn": ["ap6"]}),
    ("stack 3", "already taken", "a1", {"ruleset": FREE}),
    ("stack 9", "no stack of 9", "a1", {"ruleset": FREE, "current": None}),
    ("first 3", "rule 61", "a1", {"ruleset": "devir-2017", "decision": "first"}),
    ("move a1 b1", "rules 32, 35", "a1", {}),
    ("move a1 b1", "rule 36", "a1 a1,b1", {}),
    ("move a1 h8", "rules 35 to 41", "a1 a1", {}),
    (
        "play under_knight b1 current",
        "rules 32, 35",
        "a1",
        hand("under_knight"),
    ),
    (
        "play under_knight a1 current",
        "rules 10, 52",
        "a1 a1",
        hand("under_knight"),
    ),
    (
        "play under_knight b1 current",
        "rules 11, 52",
        "a1,c1 b1",
        hand("under_knight"),
    ),
    (
        "play under_knight b1 current",
        "no block on a current stack",
        "a1 b1",
        {"current": 0, **hand("under_knight")},
    ),
    (
        "play under_knight b1 9",
        "no other stack",
        "a1 b1",
        hand("under_knight"),
    ),
    ("play move_block h8 h7", "one block and no piece", "a1", hand("move_block")),
    ("play move_block a1 c1", "no block and no piece", "a1,c1", hand("move_block")),
    ("play move_block a2 h8", "divide or join castles", "a1,a2,a3", hand("move_block")),
]


@pytest.mark.parametrize(("action", "clause", "board", "fields"), CASES)
def test_a_refusal_names_the_broken_rule(
    action: str, clause: str, board: str, fields: Fields
) -> None:
    blocks, _, knights = board.partition(" ")
    on = position(blocks.replace(",", " "), knights.replace(",", " "), **fields)

    assert not allows(on, action)
    assert clause in reason(on, action)


def test_a_card_is_not_played_in_the_turn_in_which_it_was_bought() -> None:
    on = position("a1", **hand("ap6"))
    on.cards.ready &= ~(1 << CARD_IDS["ap6"])

    assert "rule 49" in reason(on, "play ap6")
