"""The frames of a finished or a running game as JSON for the viewer."""

import json

from django.core.cache import cache
from django.utils.safestring import SafeString, mark_safe

from engine.errors import EngineError
from engine.game import TorresGame
from engine.replay import game_at
from engine.replay_format import open_game
from ladder.games import visibility as games
from ladder.games.models import OPEN, Game, GameStatus
from ladder.games.worker import engine_adapter
from torres.common.errors import LadderError
from torres.common.json_object import JsonObject
from torres.drawing import board_scene, frames
from torres.drawing.board_svg import board_markup, board_svg

FRAMES_TTL_S = 60
NEXT_FRAMES = 50  # in one answer to readers who hide results


def frames_json(game: Game) -> tuple[str, bytes]:
    """Return an ETag and the JSON document. Raises NotOver and NoReplay.

    The frames of a running game are cached, so that many viewers cost as much as one.
    """
    if game.status not in OPEN:
        document = _document(game, all_frames(game, game.match.limits), over=True)
        return f'"frames-{game.pk}-{game.fence}"', document
    so_far = _so_far(game)
    tag = f'"live-{game.pk}-{so_far.attempt}-{len(so_far.moves)}"'
    cached: bytes | None = cache.get(f"frames:{tag}")
    if cached is None:
        positions = frames.frames(
            engine_adapter.start(game.match), so_far.moves, limits=game.match.limits
        )
        cached = _document(game, positions, over=False)
        cache.set(f"frames:{tag}", cached, FRAMES_TTL_S)
    return tag, cached


def next_frames(game: Game, after: int) -> tuple[str, bytes]:
    """Return an ETag and a JSON document with some frames, from `after` on.

    The last frame, which has the result, comes only to those who have all others. So
    nothing here tells whether the game is over. Raises NotOver and NoReplay.
    """
    if game.status in OPEN:
        start, moves = engine_adapter.start(game.match), _so_far(game).moves
        positions = frames.frames(start, moves, limits=game.match.limits)
    else:
        positions = all_frames(game, game.match.limits)
    last = len(positions) - 1
    is_last = game.status not in OPEN and after == last > 0
    ready = last + 1 if is_last or game.status in OPEN else last
    part = positions[after : min(after + NEXT_FRAMES, ready)]
    tag = f'"next-{game.pk}-{game.fence}-{after}-{len(part)}"'
    return tag, _document(game, part, over=is_last)


def board_picture(
    game: Game, ply: int | None, *, dark: bool = False
) -> tuple[str, str]:
    """Return an ETag and the SVG picture of a game after `ply` actions.

    Without `ply`, or beyond the end, it is the latest position. `dark` is for a page
    with dark colours. Raises NotOver and NoReplay.
    """
    if game.status in OPEN:
        so_far = _so_far(game)
        version = f"{so_far.attempt}-{len(so_far.moves)}"
        torres = engine_adapter.start(game.match)
        frame = frames.frame_after(torres, so_far.moves, ply=ply)
    else:
        version = str(game.fence)
        frame = final_frame(game, ply)
    names = [seat.submission.bot.name for seat in game.seats.all()]
    look = "dark" if dark else "light"
    tag = f'"board-{game.pk}-{version}-{ply}-{look}"'
    return tag, board_svg(frame, names, dark=dark)


def present_frame(game: Game) -> JsonObject:
    """Return the frame of the latest position. Raises NotOver and NoReplay."""
    if game.status in OPEN:
        moves = _so_far(game).moves
        return frames.frame_after(engine_adapter.start(game.match), moves)
    return final_frame(game, None)


def final_frame(game: Game, ply: int | None) -> JsonObject:
    """Return the frame of a finished game after `ply` actions, or after all.

    Raises NotOver and NoReplay.
    """
    replay = json.loads(games.replay(game))
    moves, forfeits = replay["moves"], replay["forfeits"]
    try:
        return frames.frame_after(open_game(replay), moves, forfeits, ply)
    except EngineError as error:
        raise _other_rules(error) from error


def all_frames(game: Game, limits: dict[str, int] | None = None) -> list[JsonObject]:
    """Return the frames of a finished game, with clocks if there are limits.

    Raises NotOver and NoReplay.
    """
    replay = json.loads(games.replay(game))
    try:
        return frames.of_replay(replay, limits)
    except EngineError as error:  # the game was played by an engine with other rules
        raise _other_rules(error) from error


def position(game: Game, ply: int, line: list[str]) -> TorresGame | None:
    """Return a game after `ply` actions and a line of more.

    It is None if the game is not over or has no such position.
    """
    try:
        torres = game_at(json.loads(games.replay(game)), ply)
        for action in line:
            torres.play(action)
    except (EngineError, LadderError):
        return None
    return torres


def board(torres: TorresGame) -> SafeString:
    """Return the content of the board in the present position of a game."""
    # The markup has numbers and fixed names only.
    return mark_safe(board_markup(frames.frame_of(torres)))  # noqa: S308


def tiles(torres: TorresGame) -> list[tuple[str, str]]:
    """Return each space with the corners of its tile, for a polygon of SVG.

    The spaces at the back come first, as they are drawn.
    """
    heights = frames.frame_of(torres)["heights"]
    return [
        (name, " ".join(f"{x:g},{y:g}" for x, y in corners))
        for name, corners in board_scene.tiles(heights)
    ]


def _so_far(game: Game) -> games.MovesSoFar:
    """Return the moves of a running game. Raises NotOver before it runs."""
    if game.status != GameStatus.RUNNING:
        # The set-up is secret until the game starts.
        raise games.NotOver("The game has not started. Try again later.")
    return games.moves_so_far(game)


def _other_rules(error: EngineError) -> games.NoReplay:
    """Return the refusal of a game that was played by an engine with other rules."""
    return games.NoReplay(f"The present engine cannot play this replay: {error}")


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


def _document(game: Game, positions: list[dict[str, object]], *, over: bool) -> bytes:
    names = [seat.submission.bot.name for seat in game.seats.all()]
    document = {
        "players": names,
        "attempt": game.fence,
        "over": over,
        "frames": positions,
    }
    return json.dumps(document, separators=(",", ":")).encode()
