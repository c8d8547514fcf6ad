"""What a replay file says, as far as it can be judged before its moves are played.

It was written by others: everything about it may be wrong, and each fault is an
InvalidReplay with the place where it was found first.
"""

import json
from collections.abc import Mapping
from typing import NamedTuple, cast

from engine.errors import BadSwitch, EngineError
from engine.faults import Fault
from engine.game import TorresGame
from engine.rulesets import CARDS, MASTERS, Rules, resolve
from engine.setup import Setup

FORMAT = "torres-replay/1"
_FAULTS = frozenset(Fault)


class InvalidReplay(EngineError):
    """The first fault of a replay.

    `where` is `setup`, `move 17` (counted from 0), `scoring 2` (the phase) or `result`.
    """

    def __init__(self, where: str, why: str) -> None:
        super().__init__(f"{where}: {why}")
        self.where, self.why = where, why


class NotJson(EngineError):
    """Bytes that cannot be read as JSON."""


def load(data: bytes) -> object:
    """Return the JSON value of a file's bytes.

    Raises NotJson, or InvalidReplay for JSON that only a hostile author writes.
    """
    try:
        return json.loads(data.decode())
    except RecursionError:
        raise InvalidReplay("setup", "it is nested too deeply") from None
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise NotJson(str(error)) from None
    except ValueError:  # more digits than Python turns into a number
        raise InvalidReplay("setup", "it has a number of thousands of digits") from None


def open_game(document: object) -> TorresGame:
    """Return the game of a replay before its first move, or raise InvalidReplay."""
    replay = as_object(document, "setup", "the replay")
    if replay.get("format") != FORMAT:
        raise InvalidReplay("setup", f"format is not {FORMAT}")
    for key in (
        "ruleset",
        "switches",
        "seats",
        "setup",
        "players",
        "moves",
        "forfeits",
    ):
        if key not in replay:
            raise InvalidReplay("setup", f"{key} is missing")
    rules = _rules(replay)
    game = TorresGame(rules, _setup(replay["setup"], rules))
    players = as_list(replay["players"], "setup", "players")
    if len(players) != rules.seats:
        raise InvalidReplay("setup", "players has not one entry a seat")
    for player in players:
        if type(as_object(player, "setup", "a player").get("name")) is not str:
            raise InvalidReplay("setup", "a player has no name")
    return game


class ReplayForfeit(NamedTuple):
    """One entry of a replay's `forfeits`."""

    before_move: int
    seat: int
    reason: Fault


def forfeits_of(value: object, moves: int, seats: int) -> list[ReplayForfeit]:
    """Return the entries of `forfeits`, in the order of time."""
    forfeits: list[ReplayForfeit] = []
    for entry in as_list(value, "setup", "forfeits"):
        forfeit = as_object(entry, "setup", "a forfeit")
        seat, before = forfeit.get("seat"), forfeit.get("before_move")
        reason = forfeit.get("reason")
        if type(seat) is not int or not 0 <= seat < seats:
            raise InvalidReplay("setup", "a forfeit's seat is no seat")
        if type(before) is not int or not 0 <= before <= moves:
            raise InvalidReplay("setup", "a forfeit's before_move is no move")
        if not isinstance(reason, str) or reason not in _FAULTS:
            raise InvalidReplay("setup", "a forfeit's reason is none of the words")
        if forfeits and before < forfeits[-1].before_move:
            raise InvalidReplay("setup", "forfeits are not in the order of time")
        forfeits.append(ReplayForfeit(before, seat, Fault(reason)))
    return forfeits


def _rules(replay: Mapping[str, object]) -> Rules:
    switches = as_object(replay["switches"], "setup", "switches")
    ruleset, seats = replay["ruleset"], replay["seats"]
    if not isinstance(ruleset, str):
        raise InvalidReplay("setup", "ruleset is no string")
    try:
        return resolve(ruleset, cast(int, seats), switches)
    except BadSwitch as error:
        raise InvalidReplay("setup", str(error)) from None


def _setup(value: object, rules: Rules) -> Setup:
    setup = as_object(value, "setup", "setup")
    first, master = setup.get("first"), setup.get("master")
    if type(first) is not int or not 0 <= first < rules.seats:
        raise InvalidReplay("setup", "first is no seat")
    if rules.start_player == "seat0" and first != 0:
        raise InvalidReplay("setup", "first is not 0, though seat 0 starts (rule 16)")
    decks = as_list(setup.get("decks"), "setup", "decks")
    if len(decks) != rules.deck_count:
        raise InvalidReplay(
            "setup", f"decks has not {rules.deck_count} decks (rule 20)"
        )
    cards = sorted(CARDS * rules.copies)
    for deck in decks:
        if not all_are(deck, str) or sorted(cast(list[str], deck)) != cards:
            raise InvalidReplay("setup", "a deck is not made of its cards (rule 20)")
    if "master" not in setup or (master in MASTERS) != rules.master_card:
        raise InvalidReplay("setup", "master is not as the rules have it (rule 69)")
    if not rules.master_card and master is not None:
        raise InvalidReplay("setup", "master is not null without a master card")
    stacked = tuple(tuple(cast(list[str], deck)) for deck in decks)
    return Setup(first, stacked, cast("str | None", master))


def as_object(value: object, where: str, what: str) -> dict[str, object]:
    """Return ``value`` if it is a JSON object; ``what`` it should be is named."""
    if not isinstance(value, dict):
        raise InvalidReplay(where, f"{what} is no JSON object")
    return value


def as_list(value: object, where: str, what: str) -> list[object]:
    """Return ``value`` if it is a list; ``what`` it should be is named."""
    if not isinstance(value, list):
        raise InvalidReplay(where, f"{what} is no list")
    return value


def all_are(value: object, kind: type) -> bool:
    """Return whether ``value`` is a list of nothing but ``kind``."""
    if not isinstance(value, list):
        return False
    for item in value:  # noqa: SIM110 - half the time of all() with a generator
        if type(item) is not kind:
            return False
    return True
