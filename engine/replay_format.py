"""Read a replay file and check everything that can be checked before its first move.

Replays come from strangers, so every value may be wrong. The first fault raises
InvalidReplay with its place in the file.
"""

import json
from collections.abc import Mapping
from typing import NamedTuple, cast

from engine.documents import MoveEntry
from engine.errors import BadSwitch, EngineError
from engine.faults import Fault
from engine.game import TorresGame
from engine.rulesets import CARDS, MASTERS, Rules, resolve
from engine.setup import Setup

FORMAT = "torres-replay/1"
MAX_MS = 1e12  # of a thinking time; thirty years
_FAULTS = frozenset(Fault)


class InvalidReplay(EngineError):
    """The first fault of a replay.

    `where` is `setup`, `move 17` (counted from 0), `scoring 2` (the phase) or `result`.
    """

    def __init__(self, where: str, why: str) -> None:
        super().__init__(f"{where}: {why}")
        self.where = where
        self.why = why


class NotJson(EngineError):
    """Bytes that are not JSON."""


def load(data: bytes) -> object:
    """Return the JSON value in the bytes of a file.

    Raises NotJson, or InvalidReplay for JSON that Python cannot load: it is nested too
    deeply, or a number has thousands of digits.
    """
    try:
        return json.loads(data.decode())
    except RecursionError:
        raise InvalidReplay("setup", "it is nested too deeply") from None
    except UnicodeDecodeError:
        raise NotJson("this is no replay: it is no text in UTF-8") from None
    except json.JSONDecodeError as error:
        raise NotJson(
            f"this is no replay: it is no JSON from line {error.lineno}, character"
            f" {error.colno} on"
        ) from None
    except ValueError:  # Python limits the digits of a number
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
        raise InvalidReplay("setup", f"players does not have {rules.seats} entries")
    for player in players:
        if type(as_object(player, "setup", "a player").get("name")) is not str:
            raise InvalidReplay("setup", "a player has no name")
    return game


class ReplayForfeit(NamedTuple):
    """One entry of a replay's `forfeits`."""

    before_move: int
    seat: int
    reason: Fault


def charged_ms(move: MoveEntry) -> float | None:
    """Return the thinking time of a move, in milliseconds; None if it is not known.

    A replay is valid with any value here, because no rule depends on it.
    """
    ms: object = move.get("ms")
    if isinstance(ms, bool) or not isinstance(ms, int | float):
        return None
    return ms if 0 <= ms <= MAX_MS else None


def forfeits_of(value: object, moves: int, seats: int) -> list[ReplayForfeit]:
    """Return the entries of `forfeits`, in the order of time."""
    forfeits: list[ReplayForfeit] = []
    for entry in as_list(value, "setup", "forfeits"):
        forfeit = as_object(entry, "setup", "a forfeit")
        seat = forfeit.get("seat")
        before = forfeit.get("before_move")
        reason = forfeit.get("reason")
        if type(seat) is not int or not 0 <= seat < seats:
            raise InvalidReplay("setup", "the seat of a forfeit does not exist")
        if type(before) is not int or not 0 <= before <= moves:
            raise InvalidReplay(
                "setup", "before_move of a forfeit is not the index of a move"
            )
        if not isinstance(reason, str) or reason not in _FAULTS:
            raise InvalidReplay("setup", "the reason of a forfeit is unknown")
        if forfeits and before < forfeits[-1].before_move:
            raise InvalidReplay("setup", "forfeits are not in the order of time")
        forfeits.append(ReplayForfeit(before, seat, Fault(reason)))
    return forfeits


def _rules(replay: Mapping[str, object]) -> Rules:
    switches = as_object(replay["switches"], "setup", "switches")
    ruleset = replay["ruleset"]
    seats = replay["seats"]
    if not isinstance(ruleset, str):
        raise InvalidReplay("setup", "ruleset is not a string")
    try:
        return resolve(ruleset, cast(int, seats), switches)
    except BadSwitch as error:
        raise InvalidReplay("setup", str(error)) from None


def _setup(value: object, rules: Rules) -> Setup:
    setup = as_object(value, "setup", "setup")
    first = setup.get("first")
    master = setup.get("master")
    if type(first) is not int or not 0 <= first < rules.seats:
        raise InvalidReplay("setup", "first is not a seat")
    if rules.start_player == "seat0" and first != 0:
        raise InvalidReplay("setup", "first is not 0, but seat 0 starts (rule 16)")
    decks = as_list(setup.get("decks"), "setup", "decks")
    if len(decks) != rules.deck_count:
        raise InvalidReplay(
            "setup", f"decks does not have {rules.deck_count} entries (rule 20)"
        )
    cards = sorted(CARDS * rules.copies)
    for deck in decks:
        if not all_are(deck, str) or sorted(cast(list[str], deck)) != cards:
            raise InvalidReplay(
                "setup", "a deck does not have the cards of the rules (rule 20)"
            )
    if "master" not in setup or (master in MASTERS) != rules.master_card:
        raise InvalidReplay("setup", "master is missing or unknown (rule 69)")
    if not rules.master_card and master is not None:
        raise InvalidReplay(
            "setup", "master is not null, but the rules have no master card"
        )
    checked_decks = tuple(tuple(cast(list[str], deck)) for deck in decks)
    return Setup(first, checked_decks, cast("str | None", master))


def as_object(value: object, where: str, what: str) -> dict[str, object]:
    """Return `value` if it is a JSON object; `what` names it in the error."""
    if not isinstance(value, dict):
        raise InvalidReplay(where, f"{what} is not a JSON object")
    return value


def as_list(value: object, where: str, what: str) -> list[object]:
    """Return `value` if it is a list; `what` names it in the error."""
    if not isinstance(value, list):
        raise InvalidReplay(where, f"{what} is not a list")
    return value


def all_are(value: object, kind: type) -> bool:
    """True if `value` is a list whose items are all exactly of type `kind`."""
    if not isinstance(value, list):
        return False
    for item in value:  # noqa: SIM110 - twice as fast as all() with a generator
        if type(item) is not kind:
            return False
    return True
