"""The positions of running games, as they are played.

Each game that somebody watches is replayed once in this process, whatever the number of
its viewers, and each viewer gets only frames that are new.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field

from engine.documents import MoveEntry
from engine.errors import EngineError
from ladder.games import visibility
from ladder.games.models import OPEN, Game, GameStatus
from ladder.games.worker import engine_adapter
from ladder.web.pages import watching
from torres.common.errors import LadderError
from torres.common.json_object import JsonObject
from torres.drawing.frames import FrameRecorder


@dataclass(slots=True)
class WatchedGame:
    """A running game with its frames until now."""

    number: int
    players: list[str] = field(default_factory=list)
    frames: list[JsonObject] = field(default_factory=list)
    attempt: int | None = None
    over: bool = False
    is_gone: bool = False  # it is hidden now, or has no replay
    row: Game | None = None  # as it was when its status or its attempt last changed
    _moves: list[MoveEntry] = field(default_factory=list)
    _recorder: FrameRecorder | None = None

    @property
    def state(self) -> visibility.GameState | None:
        """Return the state in which the game was read last; None before that."""
        if self.row is None:
            return None
        return visibility.GameState(self.row.status, self.row.fence)

    def update(self) -> int | None:
        """Return the index of the first frame that is new or different.

        Return None if nothing has changed since the last call. `row` is the present
        one, or None if the game may not be seen.
        """
        if self.over:
            return None
        game = self.row
        if game is None:
            return self._gone()
        self.players = [seat.submission.bot.name for seat in game.seats.all()]
        # The recorder changes the last frame if the seat that moves next forfeits.
        known = [*self.frames[:-1], *map(dict, self.frames[-1:])]
        is_over = game.status not in OPEN
        try:
            if is_over:
                self._finish(game)
            else:
                self._go_on(game)
        except (LadderError, EngineError):
            # The game waits, its replay was deleted, or its rules were other ones.
            return self._gone()
        self.over = is_over
        first = self._difference(known)
        return len(self.frames) if first is None and is_over else first

    def _gone(self) -> int:
        self.over = self.is_gone = True
        return len(self.frames)

    def _go_on(self, game: Game) -> None:
        if game.status != GameStatus.RUNNING:
            return  # the next attempt shows it again
        if self._recorder is None or self.attempt != game.fence:
            limits = game.match.limits
            self._recorder = FrameRecorder(engine_adapter.start(game.match), limits)
            self.attempt, self._moves = game.fence, []
        self._play(visibility.moves_so_far(game, after=len(self._moves)).moves)

    def _finish(self, game: Game) -> None:
        """Play what is left of a game whose moves were followed, else the whole game.

        A replay names the reasons of forfeits, and what bots said, which the moves of a
        running game lack.
        """
        replay = json.loads(visibility.replay(game))
        moves, known = replay["moves"], len(self._moves)
        is_followed = self.attempt == game.fence and moves[:known] == self._moves
        if is_followed and not replay["forfeits"]:
            self._play(moves[known:])
        else:
            self.frames = watching.all_frames(game, game.match.limits)

    def _play(self, moves: list[MoveEntry]) -> None:
        assert self._recorder is not None  # the caller has begun the game
        for index, move in enumerate(moves, start=len(self._moves)):
            self._recorder.play(index, move)
        self._moves += moves
        self.frames = self._recorder.frames

    def _difference(self, known: list[dict[str, object]]) -> int | None:
        """Return the frames from the first one that differs from what was known."""
        pairs = enumerate(zip(known, self.frames, strict=False))
        shorter = min(len(known), len(self.frames))
        first = next((at for at, (old, new) in pairs if old != new), shorter)
        if first == len(self.frames) == len(known):
            return None
        return first


def update_all(games: Iterable[WatchedGame]) -> list[tuple[WatchedGame, int]]:
    """Bring games up to date. Return those that changed, with the first new frame.

    A game that is over stays as it is, so nothing is read for it. The row of another
    one is read only when its state has changed, because this is called all the time,
    and a row with its seats takes several times as long to read as a state.
    """
    watched = {game.number: game for game in games if not game.over}
    states = visibility.states_of(watched)
    changed = [each for each in watched if states.get(each) != watched[each].state]
    rows = visibility.games().in_bulk(changed) if changed else {}
    result = []
    for number, game in watched.items():
        if number in changed:
            game.row = rows.get(number)
        first = game.update()
        if first is not None:
            result.append((game, first))
    return result
