"""Games and positions for several test files."""

from collections.abc import Iterator
from random import Random
from typing import Any

from engine.editions import PRESETS
from engine.faults import Fault
from engine.game import TorresGame
from engine.kernel import Position
from engine.moves import CARD_IDS, NUMBERS
from engine.notation import move_of, texts
from engine.replay import document
from engine.rulesets import resolve
from engine.search import position_of
from engine.setup import derive

RULESETS_AND_SEATS = [(ruleset, seats) for ruleset in PRESETS for seats in (2, 3, 4)]


def game(
    ruleset: str = "yucata", seats: int = 2, seed: str = "test", **switches: object
) -> TorresGame:
    rules = resolve(ruleset, seats, switches)
    return TorresGame(rules, derive(rules, seed))


def play_on(torres: TorresGame, rng: Random, *, favour: str = "") -> Iterator[str]:
    """Play random actions to the end and yield each one.

    Actions that begin with `favour` are preferred.
    """
    while legal := torres.legal():
        favoured = [action for action in legal if favour and action.startswith(favour)]
        choice = rng.choice(favoured if favoured and rng.random() < 0.7 else legal)
        torres.play(choice)
        yield choice


def blank(seats: int = 2, **changes: Any) -> dict[str, Any]:
    """Return a state in the middle of seat 0's turn on a board without blocks."""
    state: dict[str, Any] = {
        "phase": 1,
        "round": 1,
        "order": list(range(seats)),
        "first": 0,
        "seat": 0,
        "ap": 5,
        "bought": 0,
        "placed": 0,
        "played": False,
        "heights": [[0] * 8 for _ in range(8)],
        "knights": [[] for _ in range(seats)],
        "king": None,
        "reserve": [5] * seats,
        "stacks": [[3, 3, 3]] * seats,
        "current": 3,
        "carried": [0] * seats,
        "supply": 40,
        "scores": [0] * seats,
        "drawn": None,
        "fresh": [],
        "hands": [[] for _ in range(seats)],
        "decks": [[] for _ in range(seats)],
        "discards": [[] for _ in range(seats)],
        "master": None,
        "forfeited": [],
    }
    return state | changes


def heights(blocks: str) -> list[list[int]]:
    """Return the heights of a state from words like `a4=2 c3`."""
    rows = [[0] * 8 for _ in range(8)]
    for word in blocks.split():
        space, _, height = word.partition("=")
        rows[int(space[1]) - 1]["abcdefgh".index(space[0])] = int(height or 1)
    return rows


def position(
    blocks: str,
    knights: str = "",
    others: str = "",
    *,
    ruleset: str = "yucata",
    decision: str = "turn",
    **changes: Any,
) -> Position:
    """Return a position in seat 0's turn.

    `blocks` are as in `heights`; `knights` and `others` are the spaces of the knights
    of seat 0 and seat 1; `changes` are further fields of the state.
    """
    rules = resolve(ruleset, 2)
    decks = [[]] * rules.deck_count
    state = blank(
        heights=heights(blocks),
        knights=[knights.split(), others.split()],
        decks=decks,
    )
    if rules.master_card:
        state["master"] = "border"
    return position_of(rules, decision, state | changes)


def legal(on: Position, kind: str = "") -> list[str]:
    """Return the legal actions that begin with `kind`, without `kind`."""
    return [t.removeprefix(kind).strip() for t in texts(on) if t.startswith(kind)]


def allows(on: Position, action: str) -> bool:
    move = move_of(on, action)
    return move is not None and bool(on.allows(move))


__all__ = [
    "CARD_IDS",
    "NUMBERS",
    "RULESETS_AND_SEATS",
    "allows",
    "begun",
    "blank",
    "end_phase",
    "end_turn",
    "game",
    "heights",
    "legal",
    "play_on",
    "position",
]


def random_replay(ruleset: str, seats: int, seed: str) -> dict[str, Any]:
    """Return the replay of a game of random actions, in which one seat forfeits."""
    torres = game(ruleset, seats, seed)
    rng = Random(seed)
    moves: list[dict[str, Any]] = []
    forfeits: list[dict[str, Any]] = []
    while not torres.over:
        if seats > 2 and torres.ply == 60:
            seat = torres.seat
            assert seat is not None
            torres.forfeit(seat, Fault.TIMEOUT)
            forfeit = {"seat": seat, "before_move": len(moves), "reason": "timeout"}
            forfeits.append(forfeit)
        if torres.seat in torres.forfeited:
            actions = torres.automatic()
            moves.append({"seat": torres.seat, "actions": actions, "auto": True})
            for action in actions:
                torres.play(action, auto=True)
            continue
        actions = [rng.choice(torres.legal())]
        moves.append({"seat": torres.seat, "actions": actions, "ms": 2.0})
        torres.play(actions[0])
        if seats > 2 and torres.ply == 60:
            continue
    players = [{"name": "x"}] * seats
    return document(torres, seed=seed, players=players, moves=moves, forfeits=forfeits)


def begun(
    ruleset: str = "yucata", seats: int = 2, seed: str = "test", **switches: object
) -> TorresGame:
    """Return a game in its first turn. The set-up took the first legal actions."""
    torres = game(ruleset, seats, seed, **switches)
    while torres.decision != "turn":
        torres.play(torres.legal()[0])
    return torres


def end_turn(torres: TorresGame) -> None:
    """End the turn, or give the prescribed answer to another decision."""
    for action in torres.automatic():
        torres.play(action)


def end_phase(torres: TorresGame) -> None:
    """End turns until the phase is scored."""
    scored = len(torres.scoring)
    while len(torres.scoring) == scored:
        end_turn(torres)
