"""The frames of a game: the position before each action, and after the last one.

A frame is a JSON document. The viewer in the browser draws frames and knows no rules.
"""

import sys
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from operator import itemgetter
from typing import Any

from engine import search
from engine.documents import ForfeitEntry, MoveEntry, Replay
from engine.faults import Fault
from engine.game import TorresGame, seen_by
from engine.kernel import Position
from engine.referee import SeatClocks
from engine.replay_format import charged_ms, open_game
from engine.view import spaces_of
from torres.common.json_object import JsonObject
from torres.runner.protocol import Limits
from torres.runner.thoughts import thought_of

# The parts of the public state that the viewer draws.
STATE_KEYS = (
    "phase",
    "round",
    "order",
    "seat",
    "ap",
    "knights",
    "king",
    "reserve",
    "stacks",
    "current",
    "scores",
    "hands",
    "discards",
    "master",
    "forfeited",
)
# The additional keys for a person who plays by hand: what the own seat can see.
SEAT_KEYS = (*STATE_KEYS, "bought", "played", "hand", "drawn", "fresh", "decks")
# The turn of a seat ends after one of these actions.
LAST_OF_TURN = frozenset(("found", "enter", "king", "first", "stock", "end"))


def of_replay(
    document: Replay, limits: dict[str, int] | None = None
) -> list[JsonObject]:
    """Return the frames of a valid replay; `limits` are those of its match."""
    game = open_game(document)
    return frames(game, document["moves"], document["forfeits"], limits)


def viewer_document(replay: Replay) -> dict[str, object]:
    """Return the document of the viewer for a valid replay that is not of a ladder.

    The clocks are computed with the default limits, because a replay has none.
    """
    names = [str(player.get("name", "")) for player in replay["players"]]
    positions = of_replay(replay, Limits().as_dict())
    return {"players": names, "over": True, "frames": positions}


def frames(
    game: TorresGame,
    moves: Iterable[MoveEntry],
    forfeits: Iterable[ForfeitEntry] = (),
    limits: dict[str, int] | None = None,
    seat: int | None = None,
    since: int = 0,
) -> list[JsonObject]:
    """Play the moves and return the frames. Afterwards `game` is in the last position.

    `heights` of a frame holds 64 numbers: a1 first, h1 eighth. `failed` are the seats
    that forfeit at this moment, with the reasons. `clock` is what the decision cost and
    what it left in the bank, in ms; it is null without `limits`. `thought` is what the
    bot said with the answer, in the frame of its first action. `ends_turn` is true in
    a frame whose action ended a turn, and `ends_phase` if a scoring followed. A running
    game has no list of forfeits yet; then the first automatic move of a seat implies
    its forfeit. With `seat` the frames show what this seat sees, and nothing else.
    Frames before the index `since` have no position, which saves most of the time.
    """
    recorder = FrameRecorder(game, limits, seat, since)
    pending = deque(forfeits)
    for index, move in enumerate(moves):
        while pending and pending[0]["before_move"] == index:
            forfeit = pending.popleft()
            recorder.fail(forfeit["seat"], Fault(forfeit["reason"]))
        recorder.play(index, move)
        if game.over:
            break
    for forfeit in pending:
        recorder.fail(forfeit["seat"], Fault(forfeit["reason"]))
    recorder.frames[-1] = frame_of(game, seat) | recorder.frames[-1]
    return recorder.frames


def frame_after(
    game: TorresGame,
    moves: Iterable[MoveEntry],
    forfeits: Iterable[ForfeitEntry] = (),
    ply: int | None = None,
) -> JsonObject:
    """Play the first `ply` actions and return the frame after them.

    Without `ply`, or beyond the end, all are played.
    """
    left = sys.maxsize if ply is None else ply
    played: list[MoveEntry] = []
    complete = 0  # moves; a forfeit before a later one has not happened yet
    for move in moves:
        actions = move["actions"][:left]
        if actions:
            played.append({**move, "actions": actions})
        left -= len(actions)
        if len(actions) < len(move["actions"]):
            break
        complete += 1
    failed = [forfeit for forfeit in forfeits if forfeit["before_move"] <= complete]
    return frames(game, played, failed, since=sys.maxsize)[-1]


def last_phase(positions: Sequence[JsonObject], most: int) -> list[JsonObject]:
    """Return frames of the last phase of a game: its begin, and the end of each turn.

    The last frame is always one of them. If there are more than `most`, the first ones
    are left out.
    """
    *before, end = positions
    own = [frame for frame in before if frame["phase"] == end["phase"]]
    turns = [frame for frame in own[1:] if frame.get("ends_turn")]
    return [*own[:1], *turns, end][-most:]


class FrameRecorder:
    """The frames of a game while its moves are played."""

    def __init__(
        self,
        game: TorresGame,
        limits: dict[str, int] | None = None,
        seat: int | None = None,
        since: int = 0,
    ) -> None:
        self._game = game
        self._clocks = SeatClocks(game, limits) if limits else None
        self._seat = seat
        self._since = since
        self.frames = [frame_of(game, seat)]

    def play(self, index: int, move: MoveEntry) -> None:
        """Play a move and add a frame for each of its actions.

        The first automatic move of a seat implies its forfeit.
        """
        if move.get("auto") and move["seat"] not in self._game.forfeited:
            self.fail(move["seat"], None)
        if self._game.over:
            return
        clock = self._charge(move)
        thought = thought_of(move.get("say"), move.get("expect"))
        for action in move["actions"]:
            scorings = len(self._game.scoring)
            self._game.play(action)
            shown = self._shown(move["seat"], action)
            step = {"move": index, "by": move["seat"], "action": shown, "clock": clock}
            if thought is not None:
                step["thought"] = asdict(thought)
                thought = None  # the other actions of the answer do not repeat it
            if action.split()[0] in LAST_OF_TURN:
                step["ends_turn"] = True
            if len(self._game.scoring) > scorings:
                step["ends_phase"] = True
            if len(self.frames) < self._since:
                self.frames.append(step | {"failed": []})
            else:
                self.frames.append(frame_of(self._game, self._seat) | step)

    def _charge(self, move: MoveEntry) -> dict[str, float] | None:
        """Charge a move before it is played; None without a time or without limits."""
        if self._clocks is None:
            return None
        self._clocks.begin()
        ms = charged_ms(move)
        if ms is None:
            return None
        seat = move["seat"]
        self._clocks.charge(seat, ms)
        return {"ms": ms, "bank_ms": round(self._clocks.banks[seat], 1)}

    def _shown(self, seat: int, action: str) -> object:
        """Return an action as it is shown: a seat does not see what others keep."""
        if self._seat is None:
            return action
        return seen_by({"seat": seat, "action": action}, self._seat)["action"]

    def fail(self, seat: int, reason: Fault | None) -> None:
        """Forfeit a seat in the present frame; the reason may not be known yet."""
        self._game.forfeit(seat, reason or Fault.CRASH)
        last = self.frames[-1]
        failed = {"seat": seat, "reason": reason or "the reason follows at the end"}
        last["failed"] = [*last["failed"], failed]
        last.update(_position(self._game, self._seat))


def castles_of(position: Position) -> list[JsonObject]:
    """Return the castles of a position, those with the most points first.

    `spaces` names the spaces, a highest one first. `seats` has [seat, level, points]
    for each seat with a knight there, most points first: the points are the area times
    the level of its highest knight (rule 55). `leader` is the seat with more points
    than all others, or null.
    """
    castles = []
    for castle in search.castles_of(position):
        roofs = castle.spaces & position.board.exactly(castle.height)
        seats = [
            (seat, level, castle.area * level)
            for seat, level in enumerate(castle.levels)
            if level is not None
        ]
        seats.sort(key=itemgetter(2), reverse=True)
        best = [seat for seat, _, points in seats if points == seats[0][2]]
        castles.append(
            {
                "spaces": spaces_of(roofs) + spaces_of(castle.spaces & ~roofs),
                "leader": best[0] if len(best) == 1 else None,
                "seats": seats,
            }
        )
    return sorted(castles, key=_worth, reverse=True)


def _worth(castle: JsonObject) -> tuple[int, int]:
    """Return the most points that a seat has in a castle, and its area."""
    points = castle["seats"][0][2] if castle["seats"] else 0
    return points, len(castle["spaces"])


def frame_of(game: TorresGame, seat: int | None = None) -> JsonObject:
    """Return the frame of the present position, as a seat sees it or as all do."""
    empty: dict[str, object] = {
        "move": None,
        "by": None,
        "action": None,
        "clock": None,
        "failed": [],
    }
    return empty | _position(game, seat)


def _position(game: TorresGame, seat: int | None) -> dict[str, object]:
    state: Any = game.state(seat)
    keys = STATE_KEYS if seat is None else SEAT_KEYS
    drawn = {key: state[key] for key in keys}
    scored = [{"phase": row["phase"], "scores": row["scores"]} for row in game.scoring]
    heights = [height for row in state["heights"] for height in row]
    return drawn | {
        "heights": heights,
        "castles": castles_of(game.position),
        "scored": scored,
        "over": game.over,
    }
