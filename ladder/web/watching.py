"""A game for the viewer: as it was played, or as far as it has come."""

import json
from typing import Any

from django.core.cache import cache

from engine.errors import EngineError
from ladder.games import visibility as games
from ladder.games.models import OPEN, Game, GameStatus
from ladder.games.worker import engine_adapter
from ladder.web import frames

KEEP = 60


def frames_json(game: Game) -> tuple[str, bytes]:
    """Return an ETag and what the viewer draws. Raises NotOver and NoReplay.

    However many watch a running game, each of its positions is computed once.
    """
    if game.status not in OPEN:
        return f'"frames-{game.pk}-{game.fence}"', _played(game)
    if game.status != GameStatus.RUNNING:
        raise games.NotOver("The game has not begun.")  # nor is its set-up shown
    so_far = games.moves_so_far(game)
    tag = f'"live-{game.pk}-{so_far.attempt}-{len(so_far.moves)}"'
    kept: bytes | None = cache.get(f"frames:{tag}")
    if kept is None:
        played = frames.frames(engine_adapter.start(game.match), so_far.moves)
        kept = _told(game, played, over=False)
        cache.set(f"frames:{tag}", kept, KEEP)
    return tag, kept


def _played(game: Game) -> bytes:
    document = json.loads(games.replay(game))
    try:
        played = frames.of_replay(document)
    except EngineError as error:  # of an engine whose rules were mended since
        raise games.NoReplay(f"It cannot be played again here: {error}") from error
    return _told(game, played, over=True)


def _told(game: Game, pictures: list[dict[str, Any]], *, over: bool) -> bytes:
    names = [seat.submission.bot.name for seat in game.seats.all()]
    told = {"players": names, "over": over, "frames": pictures}
    return json.dumps(told, separators=(",", ":")).encode()
