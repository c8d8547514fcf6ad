"""The frames of a finished or a running game as JSON for the viewer."""

import json

from django.core.cache import cache

from engine.errors import EngineError
from engine.replay import game_at
from ladder.games import visibility as games
from ladder.games.models import OPEN, Game, GameStatus
from ladder.games.worker import engine_adapter
from torres.drawing import frames
from torres.drawing.board_svg import board_svg

FRAMES_TTL_S = 60


def frames_json(game: Game) -> tuple[str, bytes]:
    """Return an ETag and the JSON document. Raises NotOver and NoReplay.

    The frames of a running game are cached, so that many viewers cost as much as one.
    """
    if game.status not in OPEN:
        return f'"frames-{game.pk}-{game.fence}"', _finished(game)
    if game.status != GameStatus.RUNNING:
        # The set-up is secret until the game starts.
        raise games.NotOver("The game has not started. Try again later.")
    so_far = games.moves_so_far(game)
    tag = f'"live-{game.pk}-{so_far.attempt}-{len(so_far.moves)}"'
    cached: bytes | None = cache.get(f"frames:{tag}")
    if cached is None:
        positions = frames.frames(
            engine_adapter.start(game.match), so_far.moves, limits=game.match.limits
        )
        cached = _document(game, positions, over=False)
        cache.set(f"frames:{tag}", cached, FRAMES_TTL_S)
    return tag, cached


def board_picture(game: Game, ply: int | None) -> tuple[str, str]:
    """Return an ETag and the SVG picture of a game after `ply` actions.

    Without `ply`, or beyond the end, it is the latest position. Raises NotOver and
    NoReplay.
    """
    tag, body = frames_json(game)
    document = json.loads(body)
    positions = document["frames"]
    last = len(positions) - 1
    index = last if ply is None else min(ply, last)
    picture = board_svg(positions[index], document["players"])
    return f'"board-{index}-{tag.strip(chr(34))}"', picture


def legal_actions(game: Game, ply: int) -> tuple[str, bytes]:
    """Return an ETag and the legal actions after `ply` actions of a finished game.

    Raises NotOver and NoReplay, also if the game has fewer actions.
    """
    replay = json.loads(games.replay(game))
    try:
        legal = game_at(replay, ply).legal()
    except EngineError as error:
        raise games.NoReplay(str(error)) from error
    body = json.dumps({"ply": ply, "legal": legal}, separators=(",", ":"))
    return f'"legal-{ply}-{game.pk}-{game.fence}"', body.encode()


def _finished(game: Game) -> bytes:
    replay = json.loads(games.replay(game))
    try:
        positions = frames.of_replay(replay, game.match.limits)
    except EngineError as error:  # the game was played by an engine with other rules
        raise games.NoReplay(
            f"The present engine cannot play this replay: {error}"
        ) from error
    return _document(game, positions, over=True)


def _document(game: Game, positions: list[dict[str, object]], *, over: bool) -> bytes:
    names = [seat.submission.bot.name for seat in game.seats.all()]
    document = {
        "players": names,
        "attempt": game.fence,
        "over": over,
        "frames": positions,
    }
    return json.dumps(document, separators=(",", ":")).encode()
