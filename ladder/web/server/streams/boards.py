"""The positions of running games, as they are played.

Each game that somebody watches is replayed once in this process, whatever the number of
its viewers, and each viewer gets only frames that are new.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

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
    _moves: int = 0
    _recorder: FrameRecorder | None = None

    def update(self, game: Game | None) -> int | None:
        """Return the index of the first frame that is new or different.

        Return None if nothing has changed since the last call. `game` is the present
        row, or None if the game may not be seen.
        """
        if self.over:
            return None
        if game is None:
            return self._gone()
        self.players = [seat.submission.bot.name for seat in game.seats.all()]
        try:
            return self._finish(game) if game.status not in OPEN else self._go_on(game)
        except LadderError:  # the game waits, or its replay was deleted
            return self._gone()

    def _gone(self) -> int:
        self.over = self.is_gone = True
        return len(self.frames)

    def _go_on(self, game: Game) -> int | None:
        if game.status != GameStatus.RUNNING:
            return None  # the next attempt shows it again
        # The recorder changes the last frame if the seat that moves next forfeits.
        known = [*self.frames[:-1], *map(dict, self.frames[-1:])]
        if self._recorder is None or self.attempt != game.fence:
            limits = game.match.limits
            self._recorder = FrameRecorder(engine_adapter.start(game.match), limits)
            self.attempt, self._moves = game.fence, 0
        so_far = visibility.moves_so_far(game, after=self._moves)
        for index, move in enumerate(so_far.moves, start=self._moves):
            self._recorder.play(index, move)
        self._moves += len(so_far.moves)
        self.frames = self._recorder.frames
        return self._difference(known)

    def _finish(self, game: Game) -> int:
        known = self.frames
        self.frames = watching.all_frames(game, game.match.limits)
        self.over = True
        first = self._difference(known)
        return len(self.frames) if first is None else first

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

    A game that is over stays as it is, so nothing is read for it.
    """
    watched = {game.number: game for game in games if not game.over}
    present = visibility.games().in_bulk(list(watched))
    result = []
    for number, game in watched.items():
        first = game.update(present.get(number))
        if first is not None:
            result.append((game, first))
    return result
