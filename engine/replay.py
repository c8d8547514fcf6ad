"""Write, verify and trace replays, `torres-replay/1` (docs/contract.md, section 7).

This module plays the moves of a replay again. `replay_format` checks everything that
can be checked before the first move.
"""

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import cast

from engine.documents import ForfeitEntry, MoveEntry, PlayerEntry, Replay
from engine.errors import EngineError, IllegalAction
from engine.game import TorresGame
from engine.moves import Decision
from engine.replay_format import (
    FORMAT,
    InvalidReplay,
    ReplayForfeit,
    all_are,
    as_list,
    as_object,
    forfeits_of,
    open_game,
)

VERSION = "1"  # of the rules; increase it when a fix changes a rule
_SCORED = ("phase", "castles", "king", "master", "scores")


def document(
    game: TorresGame,
    *,
    seed: str,
    players: Sequence[PlayerEntry],
    moves: Sequence[MoveEntry],
    forfeits: Sequence[ForfeitEntry],
) -> Replay:
    """Return the replay of a game, with its keys in the order of section 7.

    An unfinished game has no `result`.
    """
    replay: Replay = {
        "format": FORMAT,
        "ruleset": game.rules.ruleset,
        "switches": game.rules.switches(),
        "seats": game.rules.seats,
        "seed": seed,
        "setup": {
            "first": game.setup.first,
            "decks": [list(deck) for deck in game.setup.decks],
            "master": game.setup.master,
        },
        "players": list(players),
        "moves": list(moves),
        "forfeits": list(forfeits),
        "scoring": list(game.scoring),
    }
    if game.result is not None:
        replay["result"] = game.result
    replay["engine"] = VERSION
    return replay


def verify(document: object) -> None:
    """Play a replay again. Raises InvalidReplay at the first fault."""
    if not _verify_fast(document):
        play_again(document, None)


def _verify_fast(document: object) -> bool:
    """True if a replay without forfeits is valid, judged in the kernel.

    If it returns False, the replay may still be valid. `play_again` makes all checks
    and names the first fault, but it is several times slower.
    """
    game = open_game(document)
    replay = cast(dict[str, object], document)
    moves = replay["moves"]
    claimed = replay.get("scoring")
    if not isinstance(moves, list) or not isinstance(claimed, list):
        return False
    if replay["forfeits"] != []:
        return False
    number = 0
    scored = 0
    while number < len(moves):
        number = game.follow(moves, number)
        if number < 0:
            return False
        if len(game.scoring) > scored:
            _check_scoring(claimed, game.scoring[scored], scored)
            scored += 1
    if len(claimed) > scored:
        return False
    _check_result(replay, game)
    return True


def trace(document: object) -> Iterator[dict[str, object]]:
    """Return the lines of `torres trace`: one for each action, then one for the end.

    Raises InvalidReplay before the first line if the replay is invalid anywhere.
    """
    lines: list[dict[str, object]] = []

    def watch(game: TorresGame, action: str) -> None:
        lines.append(
            {
                "n": game.ply,
                "seat": game.seat,
                "decision": game.decision,
                "state": game.state(),
                "legal": game.legal(),
                "action": action,
            }
        )

    game = play_again(document, watch)
    last = {"n": game.ply, "over": game.over, "state": game.state()}
    return iter([*lines, last | {"result": game.result}])


def game_at(document: object, ply: int) -> TorresGame:
    """Return the game of a replay as it was before the action with this ply, from 0.

    Raises InvalidReplay if the replay is invalid anywhere, and EngineError if it has no
    such action.
    """
    found: list[TorresGame] = []

    def watch(game: TorresGame, action: str) -> None:
        if game.ply == ply:
            found.append(game.copy())

    game = play_again(document, watch)
    if not found:
        raise EngineError(
            f"there is no ply {ply}; use a number from 0 to {game.ply - 1}"
        )
    return found[0]


def play_again(
    document: object, watch: Callable[[TorresGame, str], None] | None
) -> TorresGame:
    """Play a replay with all checks, and return the game.

    Call `watch` with the game and the action before each action; the action is that of
    the referee if the seat that decides is in `game.forfeited`. Raises InvalidReplay at
    the first fault.
    """
    game = open_game(document)
    replay = cast(dict[str, object], document)
    moves = as_list(replay["moves"], "setup", "moves")
    forfeits = deque(forfeits_of(replay["forfeits"], len(moves), game.rules.seats))
    claimed = as_list(replay.get("scoring"), "setup", "scoring")
    scored = 0
    for number, entry in enumerate(moves):
        if forfeits:
            _play_forfeits(game, forfeits, number)
        answer, auto = _answer(game, entry, number)
        _play_answer(game, answer, auto, watch, number)
        if len(game.scoring) > scored:
            _check_scoring(claimed, game.scoring[scored], scored)
            scored += 1
    _play_forfeits(game, forfeits, len(moves))
    if len(claimed) > scored:
        raise InvalidReplay(f"scoring {scored + 1}", "no such scoring took place")
    _check_result(replay, game)
    return game


def _play_answer(
    game: TorresGame,
    answer: list[str],
    auto: bool,  # noqa: FBT001 - a key of the entry
    watch: Callable[[TorresGame, str], None] | None,
    number: int,
) -> None:
    try:
        for action in answer:
            if watch is not None:
                watch(game, action)
            game.play(action, auto=auto)
    except IllegalAction as error:
        action = ascii(str(error.action)[:60])
        raise InvalidReplay(f"move {number}", f"{action}: {error.why}") from None


def _play_forfeits(
    game: TorresGame, forfeits: deque[ReplayForfeit], number: int
) -> None:
    """Let the seats forfeit that do so before a move, and take them off the queue."""
    while forfeits and forfeits[0].before_move == number:
        forfeit = forfeits.popleft()
        try:
            game.forfeit(forfeit.seat, forfeit.reason)
        except EngineError as error:
            raise InvalidReplay(f"move {number}", str(error)) from None


def _answer(game: TorresGame, entry: object, number: int) -> tuple[list[str], bool]:
    """Return the actions of an entry and its `auto`, after all checks but legality."""
    if not isinstance(entry, dict):
        raise InvalidReplay(f"move {number}", "the entry is not a JSON object")
    answer = entry.get("actions")
    seat = entry.get("seat")
    if not all_are(answer, str) or not answer:
        raise InvalidReplay(
            f"move {number}",
            "actions is not a list of strings with at least one action",
        )
    if game.result is not None:
        raise InvalidReplay(f"move {number}", "the game is over")
    if type(seat) is not int or seat != game.position.seat:
        raise InvalidReplay(
            f"move {number}", f"seat is not {game.seat}, which has to decide"
        )
    auto = seat in game.forfeited
    if auto != ("auto" in entry) or entry.get("auto", True) is not True:
        why = "auto has to be true for forfeited seats and absent for all others"
        raise InvalidReplay(f"move {number}", why)
    if len(answer) > 1:
        _check_length(game, answer, number)
    if auto:
        _check_automatic(game, answer, number)
    return answer, auto


def _check_length(game: TorresGame, answer: list[str], number: int) -> None:
    """Check that nothing follows an `end`, a `buy` or a decision other than a turn."""
    turn = game.decision in (Decision.TURN, Decision.KEEP)
    for action in answer[:-1]:
        if not turn or action == "buy" or action.startswith("end"):
            why = f"nothing may follow {action[:60]!a} in the same answer"
            raise InvalidReplay(f"move {number}", why)


def _check_automatic(game: TorresGame, answer: list[str], number: int) -> None:
    """Check the answer of a forfeited seat.

    The answers to a `keep` and to the rest of its turn may be one entry or two.
    """
    prescribed = game.automatic()
    if game.decision is Decision.KEEP and len(answer) > 1:
        after = game.copy()
        after.play(prescribed[0])
        prescribed += after.automatic()
    if answer != prescribed:
        why = f"a forfeited seat's answer is {', '.join(prescribed)}"
        raise InvalidReplay(f"move {number}", why)


def _check_scoring(
    claimed: list[object], actual: Mapping[str, object], index: int
) -> None:
    where = f"scoring {index + 1}"
    if index >= len(claimed):
        raise InvalidReplay(where, "it is missing")
    record = as_object(claimed[index], where, "the record")
    for key in _SCORED:
        if not _same(record.get(key), actual[key]):
            raise InvalidReplay(where, f"{key} is not {actual[key]}")


def _check_result(replay: Mapping[str, object], game: TorresGame) -> None:
    if game.result is None:
        if "result" in replay:
            raise InvalidReplay("result", "the game is not finished")
        return
    if "result" not in replay:
        raise InvalidReplay("result", "it is missing, but the game is over")
    result = as_object(replay["result"], "result", "it")
    for key, actual in game.result.items():
        if not _same(result.get(key), actual):
            raise InvalidReplay("result", f"{key} is not {actual}")


def _same(claimed: object, actual: object) -> bool:
    """True if two values are equal as JSON: 1 differs from true and from 1.0."""
    if isinstance(actual, str):
        return isinstance(claimed, str) and claimed == actual
    if type(claimed) is not type(actual):
        return False
    if isinstance(claimed, list):
        return all_are(claimed, int) and claimed == actual
    return claimed == actual
