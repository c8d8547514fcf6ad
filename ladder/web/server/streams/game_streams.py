"""Streams of running games: of one game, or of the featured game and its successors."""

import asyncio
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable
from typing import Any

from ladder.web.pages import featured
from ladder.web.server.streams.boards import WatchedGame, update_all
from ladder.web.server.streams.open_streams import EventStream, message
from ladder.web.server.streams.request import Topic

POLL_INTERVAL_S = 0.75
# A live board shows each action for STEP_MS of live-board.js, and many people watch it.
# So its streams get new frames at every third look only.
LIVE_TURNS = 3
# The last position of the featured game stays for a moment.
NEXT_GAME_S = 3.0
# A live board shows at most MAX_BEHIND of live-board.js, and the one before them.
LIVE_FRAMES = 9

GONE = message("gone", {})

Ask = Callable[..., Awaitable[Any]]


class GameStreams:
    """Follows each game that has viewers, once for all of them.

    Messages have the event "frames" and the data {"game", "attempt", "players",
    "first", "over", "frames"}: the frames from index "first" on replace those that the
    viewer has. Streams of the featured game leave out all but the last frames, because
    many people watch it and a game may end within a second. The event "gone" says that
    the game may no longer be watched. A stream of one game ends with the game.
    """

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self._games: dict[int, WatchedGame] = {}
        self._viewers: defaultdict[int, set[EventStream]] = defaultdict(set)
        self._new: list[EventStream] = []  # streams to which nothing was sent yet
        self._live: set[EventStream] = set()
        self._new_live: list[EventStream] = []
        self._turns = 0
        self._featured = 0
        self._first_unsent: int | None = None  # of the frames of the featured game
        self._featured_until = 0.0

    def add(self, stream: EventStream) -> None:
        self._new.append(stream)

    async def follow(self) -> None:
        """Read what is new and send it, for ever."""
        while True:
            await asyncio.sleep(POLL_INTERVAL_S)
            await self._turn()

    async def _turn(self) -> None:
        self._turns += 1
        new, self._new = self._new, []
        others = [stream for stream in new if stream.request.topic is Topic.GAME]
        for stream in others:
            number = stream.request.game
            self._games.setdefault(number, WatchedGame(number))
        keep = {stream.request.game for stream in others}
        self._new_live += [each for each in new if each.request.topic is Topic.LIVE]
        self._live = {stream for stream in self._live if stream.is_open}
        if self._live or self._new_live:
            await self._choose_featured()
            keep.add(self._featured)
        self._forget_unwatched(keep)
        if self._games:
            updates = await self._ask(update_all, list(self._games.values()))
            for game, first in updates or ():
                self._send(game, first)
        for stream in others:
            self._begin(stream)
        if self._turns % LIVE_TURNS == 0:
            self._send_live()

    async def _choose_featured(self) -> None:
        """Feature another game a moment after the end of the present one."""
        game = self._games.get(self._featured)
        is_sent = self._first_unsent is None
        waits = not is_sent or time.monotonic() < self._featured_until
        if game is not None and (not game.over or waits):
            return
        number: int | None = await self._ask(featured.running_game)
        if number is not None:
            self._featured, self._first_unsent = number, None
            self._games.setdefault(number, WatchedGame(number))

    def _forget_unwatched(self, keep: set[int]) -> None:
        """Drop closed streams of games, and games that nobody watches any more."""
        for number in list(self._games):
            viewers = {each for each in self._viewers[number] if each.is_open}
            self._viewers[number] = viewers
            if not viewers and number not in keep:
                del self._games[number], self._viewers[number]

    def _send(self, game: WatchedGame, first: int) -> None:
        """Send what is new to those who had everything before."""
        _send_frames(self._viewers[game.number], game, first)
        if game.number == self._featured:
            unsent = self._first_unsent
            self._first_unsent = first if unsent is None else min(first, unsent)
        self._close_if_over(game)

    def _begin(self, stream: EventStream) -> None:
        """Send what a viewer of one game lacks."""
        request = stream.request
        game = self._games[request.game]
        self._viewers[request.game].add(stream)
        if game.is_gone:
            stream.send(GONE)
        elif game.frames:
            # Frames of another attempt are worth nothing.
            is_same = request.attempt == game.attempt
            known = request.after or 0 if is_same else 0
            stream.send(_frames(game, known))
        self._close_if_over(game)

    def _send_live(self) -> None:
        """Send what is new of the featured game; new viewers get its position."""
        game = self._games.get(self._featured)
        if game is not None and self._first_unsent is not None:
            last = max(self._first_unsent, len(game.frames) - LIVE_FRAMES)
            _send_frames(self._live, game, last)
            self._first_unsent = None
            self._featured_until = time.monotonic() + NEXT_GAME_S
        new, self._new_live = self._new_live, []
        self._live.update(new)
        if game is not None and game.frames:
            for stream in new:
                stream.send(_frames(game, len(game.frames) - 1))

    def _close_if_over(self, game: WatchedGame) -> None:
        if game.over:
            for stream in self._viewers.pop(game.number, ()):
                stream.close()


def _send_frames(streams: set[EventStream], game: WatchedGame, first: int) -> None:
    if not streams:
        return
    text = GONE if game.is_gone else _frames(game, first)
    for stream in streams:
        stream.send(text)


def _frames(game: WatchedGame, first: int) -> bytes:
    first = min(first, len(game.frames))
    data = {
        "game": game.number,
        "attempt": game.attempt,
        "players": game.players,
        "first": first,
        "over": game.over,
        "frames": game.frames[first:],
    }
    return message("frames", data)
