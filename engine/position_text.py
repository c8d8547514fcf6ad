"""A position as one line of text, like the FEN of chess: docs/positions.md.

`text_of` writes a position, and `position_from` reads and checks the text. The text is
canonical: in the same rules, two positions have the same text exactly if they have the
same key (`evaluation.key_of`). So it leaves out what follows from the rest (the supply,
the knights in reserve) and what has no effect on play (who played which card, which
seat knows a card of a deck, forfeits).
"""

import json
from collections.abc import Mapping, Sequence
from string import ascii_lowercase, ascii_uppercase
from typing import Any, NamedTuple

from engine import view
from engine.errors import BadPosition, BadSwitch
from engine.game import TorresGame
from engine.kernel import Position
from engine.moves import CARD_NAMES, DECISIONS
from engine.position_check import OVER, cards_elsewhere, checked_position
from engine.rulesets import (
    BLOCKS,
    KNIGHTS,
    MAX_SEATS,
    MIN_SEATS,
    SWITCHES,
    Rules,
    resolve,
)

MARKER = "torres-position/1:"
"""The beginning of every text."""
MAX_CHARS = 4_000
CARD_LETTERS: Mapping[str, str] = {
    "up2": "u",
    "ap6": "6",
    "ap7": "7",
    "extra_block": "e",
    "under_knight": "k",
    "move_block": "m",
    "diagonal": "d",
    "jump": "j",
    "regroup": "r",
    "door_up": "o",
}
HEIGHTS = ".123456789" + ascii_lowercase + ascii_uppercase
"""The character of each height, from 0. No tower is higher than 46."""
FIELDS = (
    "rules",
    "seats",
    "phase",
    "round",
    "order",
    "decision",
    "seat",
    "ap",
    "bought",
    "placed",
    "played",
    "heights",
    "knights",
    "king",
    "stacks",
    "current",
    "carried",
    "scores",
    "hands",
    "fresh",
    "drawn",
    "decks",
    "master",
)
"""The fields of a text in their order."""

_CARDS_BY_LETTER = {letter: name for name, letter in CARD_LETTERS.items()}
_NEEDED = ("rules", "seats", "order", "decision", "heights")
_SIDE = 8
_MAX_DIGITS = 4
_WORDS = {"true": True, "false": False, "null": None}


class PlacedPosition(NamedTuple):
    """A position and the rules by which it goes on."""

    rules: Rules
    position: Position
    state: dict[str, Any]
    """The position as the state of docs/contract.md, section 8, with nothing hidden."""

    @property
    def decision(self) -> str:
        """The present decision, or "over"."""
        return DECISIONS[self.position.decision] or OVER

    def game(self) -> TorresGame:
        """Return a new game that begins at the position."""
        return TorresGame.from_position(self.rules, self.position)


# Writing


def text_of(position: Position, rules: Rules) -> str:
    """Return the text of a position. Hidden cards are in it, as the position has them.

    A game that ended by forfeit has the text of the decision in which it ended.
    """
    decision = DECISIONS[position.decision] or OVER
    full = view.state(position, rules, [], None, over=decision == OVER)
    return text_of_state(rules, decision, full)


def text_of_state(rules: Rules, decision: str, state: Mapping[str, Any]) -> str:
    """Return the text of a state with nothing hidden, as `torres trace` prints it."""
    values = {
        "rules": _rules_text(rules),
        "seats": str(rules.seats),
        "phase": _number_text(state["phase"]),
        "round": _number_text(state["round"]),
        "order": "".join(map(str, state["order"])),
        "decision": str(decision),
        "seat": "" if state["seat"] is None else str(state["seat"]),
        "ap": _number_text(state["ap"]),
        "bought": _number_text(state["bought"]),
        "placed": _number_text(state["placed"]),
        "played": "1" if state["played"] else "",
        "heights": _heights_text(state["heights"]),
        "knights": _groups([",".join(sorted(names)) for names in state["knights"]]),
        "king": state["king"] or "",
        "stacks": _groups([_sizes_text(sizes) for sizes in state["stacks"]]),
        "current": "" if state["current"] is None else str(state["current"]),
        "carried": _numbers_text(state["carried"]),
        "scores": _numbers_text(state["scores"]),
        "hands": _groups([_letters(sorted(hand)) for hand in state["hands"]]),
        "fresh": _fresh_text(state),
        "drawn": _letters(state["drawn"] or []),
        "decks": _groups([_letters(deck) for deck in state["decks"]]),
        "master": state["master"] or "",
    }
    fields = [f"{field}={values[field]}" for field in FIELDS if values[field]]
    return MARKER + ":".join(fields)


def _rules_text(rules: Rules) -> str:
    """Return the ruleset and the switches that differ from it."""
    usual = resolve(rules.ruleset, rules.seats).switches()
    words = [rules.ruleset]
    for name, value in rules.switches().items():
        if value == usual[name]:
            continue
        if name == "stacks":
            written = "-".join(".".join(map(str, sizes)) for sizes in rules.stacks)
        else:
            written = value if isinstance(value, str) else json.dumps(value)
        words.append(f"{name}={written}")
    return ",".join(words)


def _number_text(number: int) -> str:
    return str(number) if number else ""


def _numbers_text(numbers: Sequence[int]) -> str:
    return "/".join(map(str, numbers)) if any(numbers) else ""


def _groups(parts: Sequence[str]) -> str:
    """Return the parts of all seats, or nothing if all are empty."""
    return "/".join(parts) if any(parts) else ""


def _heights_text(heights: Sequence[Sequence[int]]) -> str:
    """Return the rows from 8 down to 1, as they are drawn."""
    rows = ["".join(HEIGHTS[height] for height in row) for row in reversed(heights)]
    return "/".join(rows)


def _sizes_text(sizes: Sequence[int]) -> str:
    return ",".join(map(str, sorted(sizes, reverse=True)))


def _letters(names: Sequence[str]) -> str:
    return "".join(CARD_LETTERS[name] for name in names)


def _fresh_text(state: Mapping[str, Any]) -> str:
    """Return the kinds of cards of the hand that may not be played yet (rule 49).

    A kind of which the seat also holds an older card may be played. After a card was
    played, no other one may be, so there is nothing to say.
    """
    if state["played"] or not state["fresh"]:
        return ""
    hand = state["hands"][state["seat"]]
    fresh = state["fresh"]
    kinds = [name for name in CARD_NAMES if name in fresh]
    return _letters([k for k in kinds if hand.count(k) == fresh.count(k)])


# Reading


def is_position_text(text: str) -> bool:
    """True if a text wants to be a position, and no name of a file."""
    return text.lstrip().startswith(MARKER)


def position_from(text: str) -> PlacedPosition:
    """Read the text of a position. Raises BadPosition, which names the wrong field."""
    values = _split(text)
    rules = _read_rules(values)
    decision = values["decision"]
    state = _read_state(values, rules)
    position = checked_position(rules, decision, state)
    return PlacedPosition(rules, position, state)


def _split(text: str) -> dict[str, str]:
    """Return the values by field; a field that is left out is not in it."""
    text = text.strip()
    if not text.startswith(MARKER):
        raise BadPosition("position", f"begin it with {MARKER}")
    if len(text) > MAX_CHARS:
        why = f"it has {len(text)} characters; write at most {MAX_CHARS}"
        raise BadPosition("position", why)
    values: dict[str, str] = {}
    for part in text.removeprefix(MARKER).split(":"):
        field, equals, value = part.partition("=")
        if field not in FIELDS or not equals:
            why = f"{part[:20]!a} is no field; write NAME=VALUE with a NAME of "
            raise BadPosition("position", why + ", ".join(FIELDS))
        if field in values:
            raise BadPosition(field, "it is there twice; leave one out")
        values[field] = value
    for field in _NEEDED:
        if not values.get(field):
            raise BadPosition(field, f"it is missing; add {field}=…")
    return values


def _read_rules(values: Mapping[str, str]) -> Rules:
    seats = _number("seats", values["seats"])
    if not MIN_SEATS <= seats <= MAX_SEATS:
        why = f"it is {seats}; write {MIN_SEATS} to {MAX_SEATS}"
        raise BadPosition("seats", why)
    ruleset, *changes = values["rules"].split(",")
    switches: dict[str, object] = {}
    for change in changes:
        name, equals, value = change.partition("=")
        if not equals or name not in SWITCHES or name in switches:
            why = f"{change[:40]!a} is no switch, or it is there twice; "
            raise BadPosition("rules", f"{why}name each of {', '.join(SWITCHES)} once")
        switches[name] = _read_switch(name, value)
    try:
        return resolve(ruleset, seats, switches)
    except BadSwitch as error:
        raise BadPosition("rules", str(error)) from error


def _read_switch(name: str, value: str) -> object:
    if name == "stacks":
        phases = value.split("-")
        return [[_number("rules", n) for n in sizes.split(".")] for sizes in phases]
    if value in _WORDS:
        return _WORDS[value]
    return _number("rules", value) if value[:1].isdecimal() else value


def _read_state(values: Mapping[str, str], rules: Rules) -> dict[str, Any]:
    """Return the state of a text. What the text leaves out follows from the rest."""

    def number(field: str) -> int:
        return _number(field, values[field]) if values.get(field) else 0

    def parts(field: str, count: int) -> list[str]:
        return _parts(field, values.get(field, ""), count)

    seats = rules.seats
    order = [_number("order", digit) for digit in values["order"]]
    state: dict[str, Any] = {
        "phase": number("phase"),
        "round": number("round"),
        "order": order,
        "first": order[0],
        "seat": number("seat") if values.get("seat") else None,
        "ap": number("ap"),
        "bought": number("bought"),
        "placed": number("placed"),
        "played": _read_flag("played", values.get("played", "")),
        "heights": _read_heights(values["heights"]),
        "knights": [_names(part) for part in parts("knights", seats)],
        "king": values.get("king") or None,
        "stacks": [_read_sizes(part) for part in parts("stacks", seats)],
        "current": number("current") if values.get("current") else None,
        "carried": [_number("carried", n or "0") for n in parts("carried", seats)],
        "scores": [_number("scores", n or "0") for n in parts("scores", seats)],
        "hands": [sorted(_read_cards("hands", p)) for p in parts("hands", seats)],
        "drawn": _read_cards("drawn", values.get("drawn", "")) or None,
        "decks": [_read_cards("decks", p) for p in parts("decks", rules.deck_count)],
        "master": values.get("master") or None,
        "forfeited": [],
    }
    _complete(state, rules, _read_cards("fresh", values.get("fresh", "")))
    return state


def _complete(state: dict[str, Any], rules: Rules, fresh: Sequence[str]) -> None:
    """Add the fields of a state that follow from the others.

    With one deck for all, the text does not say who played a card; seat 0 gets them.
    """
    seat = state["seat"]
    hand = state["hands"][seat] if seat in range(rules.seats) else fresh
    state["fresh"] = [name for name in fresh for _ in range(max(1, hand.count(name)))]
    state["discards"] = [[] for _ in range(rules.seats)]
    for holder, names in enumerate(cards_elsewhere(rules, state)):
        state["discards"][holder] = names
    state["reserve"] = [max(0, KNIGHTS - len(names)) for names in state["knights"]]
    used = sum(map(sum, (*state["heights"], *state["stacks"], state["carried"])))
    state["supply"] = BLOCKS - used - (state["current"] or 0)


def _number(field: str, text: str) -> int:
    if not text.isascii() or not text.isdecimal() or len(text) > _MAX_DIGITS:
        why = f"{text[:20]!a} is no number; write digits, at most {_MAX_DIGITS}"
        raise BadPosition(field, why)
    return int(text)


def _read_flag(field: str, text: str) -> bool:
    if text not in ("", "0", "1"):
        raise BadPosition(field, f"{text[:20]!a} is neither 0 nor 1; write one")
    return text == "1"


def _parts(field: str, text: str, count: int) -> list[str]:
    """Split a value into its parts, one for each seat or deck."""
    if not text:
        return [""] * count
    parts = text.split("/")
    if len(parts) != count:
        why = f"its number of parts is {len(parts)}; write {count}, with / between them"
        raise BadPosition(field, why)
    return parts


def _names(text: str) -> list[str]:
    return sorted(text.split(",")) if text else []


def _read_sizes(text: str) -> list[int]:
    sizes = [_number("stacks", size) for size in _names(text)]
    return sorted(sizes, reverse=True)


def _read_heights(text: str) -> list[list[int]]:
    rows = text.split("/")
    if len(rows) != _SIDE:
        why = f"its number of rows is {len(rows)}; write 8 with / between, row 8 first"
        raise BadPosition("heights", why)
    for number, row in zip(range(_SIDE, 0, -1), rows, strict=True):
        if len(row) != _SIDE or any(char not in HEIGHTS for char in row):
            why = f"row {number} is {row[:20]!a}; write 8 characters, a to h, "
            raise BadPosition("heights", f"{why}with . or a height for each")
    return [[HEIGHTS.index(char) for char in row] for row in reversed(rows)]


def _read_cards(field: str, letters: str) -> list[str]:
    for letter in letters:
        if letter not in _CARDS_BY_LETTER:
            known = "".join(_CARDS_BY_LETTER)
            why = f"{letter!a} is no card; write letters of {known}"
            raise BadPosition(field, why)
    return [_CARDS_BY_LETTER[letter] for letter in letters]


assert sorted(CARD_LETTERS) == sorted(CARD_NAMES)
