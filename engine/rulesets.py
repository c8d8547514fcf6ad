"""The rulesets: their switches, and an edition resolved for a number of seats.

`SWITCHES` has the meaning and the values of each switch. Only `editions` knows the
names of editions; all other code reads the switches. The module also has the fixed
quantities of the game.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cache
from types import MappingProxyType
from typing import Any

from engine.editions import PHASE_CARDS, PRESETS, Stacks
from engine.errors import BadSwitch

MIN_SEATS = 2
MAX_SEATS = 4
BLOCKS = 92  # rule 2
START_BLOCKS = 8  # rule 14
PHASES = 3  # rule 22
KNIGHTS = 6  # of each seat (rule 3)
ACTION_POINTS = 5  # of a turn (rule 30)
ADD_COST = 2  # action points for adding a knight (rule 30)
CARDS = (  # rules 5 and 52, in the order of rule 52
    "up2",
    "ap6",
    "ap7",
    "extra_block",
    "under_knight",
    "move_block",
    "diagonal",
    "jump",
    "regroup",
    "door_up",
)
MASTERS = (  # rules 5 and 72, M1 to M8
    "border",
    "diagonals",
    "castles",
    "adjacent",
    "all_levels",
    "row",
    "square",
    "one_level",
)
COPIES = 4  # of each card, one in each colour (rule 5)


@dataclass(frozen=True, slots=True)
class Switch:
    """The meaning of a switch and its values: fixed choices, numbers or null."""

    meaning: str
    choices: tuple[object, ...] = ()
    number: bool = False  # any whole number from 0
    nullable: bool = False

    def allows(self, value: object) -> bool:
        """True if the switch may have this value; 1 differs from true."""
        if value is None:
            return self.nullable
        if self.number:
            return type(value) is int and value >= 0
        return any(type(value) is type(c) and value == c for c in self.choices)

    def allowed(self) -> str:
        """Return the allowed values as words for a message."""
        words = [
            str(c).lower() if isinstance(c, bool) else str(c) for c in self.choices
        ]
        if self.number:
            words.append("a whole number from 0")
        if self.nullable:
            words.append("null")
        return " or ".join(words)


_YES_NO = (True, False)
SWITCHES: Mapping[str, Switch] = MappingProxyType(
    {
        "start_blocks": Switch(
            "start castles stand on the marked spaces, or the players place them",
            ("marked", "placed"),
        ),
        "start_player": Switch("who starts the game", ("seat0", "random")),
        "card_access": Switch(
            "a deck for each player, one deck for all, or all ten cards in hand",
            ("own_deck", "shared_deck", "full_hand"),
        ),
        "buy_draw": Switch("cards drawn by a purchase, of which one is kept", (1, 3)),
        "max_buys": Switch("purchases in one turn", number=True),
        "stack_choice": Switch(
            "the player names the turn's stack, or it is the largest",
            ("free", "largest"),
        ),
        "max_blocks_per_turn": Switch(
            "ordinary blocks in one turn", number=True, nullable=True
        ),
        "stack_limit": Switch(
            "blocks on a stack that takes left-over blocks", number=True, nullable=True
        ),
        "leftover_distribution": Switch(
            "who puts left-over blocks on the other stacks", ("player", "auto")
        ),
        "leftover_at_phase_end": Switch(
            "left-over blocks of a phase's last turn return to the supply, or are kept",
            ("return", "keep"),
        ),
        "next_start": Switch(
            "the lowest scorer starts the next phase, or names who does",
            ("lowest", "lowest_chooses"),
        ),
        "order": Switch(
            "the order of the turns: fixed; the leader first; from high to low",
            ("fixed", "leader", "descending"),
        ),
        "master_card": Switch("a master card is scored", _YES_NO),
        "master_all_six": Switch(
            "'all your knights' on a master card means all six, on the board", _YES_NO
        ),
        "row_contiguous": Switch("the master card `row` allows no gaps", _YES_NO),
        "tilted_squares": Switch("the master card `square` may be tilted", _YES_NO),
        "stacks": Switch("the phase card: the sizes of each phase's stacks"),
    }
)


@dataclass(frozen=True, slots=True)
class Rules:
    """A ruleset resolved for a number of seats. Made by `resolve` only."""

    ruleset: str
    seats: int
    start_blocks: str
    start_player: str
    card_access: str
    buy_draw: int
    max_buys: int
    stack_choice: str
    max_blocks_per_turn: int | None
    stack_limit: int | None
    leftover_distribution: str
    leftover_at_phase_end: str
    next_start: str
    order: str
    master_card: bool
    master_all_six: bool
    row_contiguous: bool
    tilted_squares: bool
    stacks: Stacks

    def switches(self) -> dict[str, object]:
        """Return all switches by name, in the order of docs/contract.md, as JSON."""
        values: dict[str, object] = {name: getattr(self, name) for name in SWITCHES}
        values["stacks"] = [list(sizes) for sizes in self.stacks]
        return values

    @property
    def deck_count(self) -> int:
        """The number of decks: one for each seat, one for all, or none (rule 20)."""
        return {"own_deck": self.seats, "shared_deck": 1, "full_hand": 0}[
            self.card_access
        ]

    @property
    def copies(self) -> int:
        """The number of copies of each card in one deck."""
        return COPIES if self.card_access == "shared_deck" else 1


_UNKNOWN = object()  # differs from every value of a switch


def resolve(
    ruleset: str, seats: int, overrides: Mapping[str, object] | None = None
) -> Rules:
    """Return the rules of a preset for 2 to 4 seats, with some switches overridden.

    A game has no other number of seats (rule 6).

    Raises BadSwitch if the preset, the number of seats, a switch or a value is not
    allowed.
    """
    if ruleset not in PRESETS:
        known = ", ".join(PRESETS)
        raise BadSwitch(f"unknown ruleset {_short(ruleset)}; choose one of {known}")
    if type(seats) is not int or not MIN_SEATS <= seats <= MAX_SEATS:
        raise BadSwitch(f"{_short(seats)} seats; choose 2, 3 or 4")
    usual, values = _usual(ruleset, seats)
    changed: dict[str, Any] = {}
    for name, value in (overrides or {}).items():
        usual_value = values.get(name, _UNKNOWN)
        if type(value) is type(usual_value) and value == usual_value:
            continue  # replays name all switches, most of them with the preset's value
        checked = _checked(name, value)
        if checked != usual_value:
            changed[name] = checked
    if not changed:
        return usual
    rules = replace(usual, **changed)
    _check_supply(rules)
    return rules


@cache
def _usual(ruleset: str, seats: int) -> tuple[Rules, dict[str, object]]:
    """Return the unchanged rules of a preset, and its switches."""
    preset = PRESETS[ruleset]
    values: dict[str, object] = {
        **preset.switches,
        **preset.by_seats.get(seats, {}),
        "stacks": PHASE_CARDS[seats],
    }
    return Rules(ruleset=ruleset, seats=seats, **values), values  # type: ignore[arg-type]


def _checked(name: str, value: object) -> object:
    if name not in SWITCHES:
        known = ", ".join(SWITCHES)
        raise BadSwitch(f"unknown switch {_short(name)}; choose one of {known}")
    if name == "stacks":
        return _checked_stacks(value)
    if not SWITCHES[name].allows(value):
        allowed = SWITCHES[name].allowed()
        raise BadSwitch(f"{name} is {_short(value)}; it has to be {allowed}")
    return value


def _checked_stacks(value: object) -> Stacks:
    """Return `stacks` as tuples: three lists, not empty, of sizes from 1."""
    if not isinstance(value, list | tuple) or len(value) != PHASES:
        raise BadSwitch("stacks has to be three lists of sizes, one for each phase")
    for sizes in value:
        if not isinstance(sizes, list | tuple) or not sizes:
            raise BadSwitch("stacks needs a list of at least one size for each phase")
        for size in sizes:
            if type(size) is not int or size < 1:
                raise BadSwitch(
                    f"stacks has the size {_short(size)}; sizes are numbers from 1"
                )
    return tuple(tuple(sizes) for sizes in value)


def _check_supply(rules: Rules) -> None:
    """Check that the supply has all blocks for stacks and `extra_block` (rule 24)."""
    dealt = rules.seats * sum(map(sum, rules.stacks))
    extras = COPIES if rules.card_access == "shared_deck" else rules.seats
    available = BLOCKS - START_BLOCKS - extras
    if dealt > available:
        raise BadSwitch(
            f"stacks deals {_short(dealt)} blocks to {rules.seats} seats; "
            f"the supply allows {available}"
        )


def _short(value: object) -> str:
    """Return a value as text for a message; values from strangers may be huge."""
    if isinstance(value, str):
        text = repr(value[:60])
    elif value is None or isinstance(value, bool):
        text = {None: "null", True: "true", False: "false"}[value]
    elif isinstance(value, int):
        text = str(value) if abs(value) < 10**18 else "a number too large to print"
    elif isinstance(value, float):
        text = repr(value)
    else:
        text = f"a {type(value).__name__}"
    return text


assert tuple(SWITCHES) == tuple(f.name for f in fields(Rules))[2:]
