"""Drawings of a position, for the method `render` of environments."""

import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from engine import Position, view
from engine.moves import OVER
from engine.rulesets import Rules
from torres.common.lazy_import import lazy_import
from torres.drawing.board_svg import board_svg
from torres.drawing.board_text import draw_board
from torres.drawing.frames import castles_of

if TYPE_CHECKING:
    from torres.drawing import raster
else:
    raster = lazy_import("torres.drawing.raster")  # it needs Pillow

PICTURE_WIDTH = 524  # pixels
RENDER_MODES = ("human", "ansi", "rgb_array", "svg")
MODES_TEXT = "'human', 'ansi', 'rgb_array' or 'svg'"


def check_mode(mode: str | None) -> str | None:
    """Return a render mode. Raises ValueError for an unknown one."""
    if mode not in (None, *RENDER_MODES):
        raise ValueError(f"render_mode is {mode!r}; it may be None, {MODES_TEXT}")
    return mode


def draw(
    position: Position, rules: Rules, names: list[str], mode: str | None
) -> str | np.ndarray[Any, Any] | None:
    """Return the board as text, pixels or SVG; print it in the mode "human".

    `names` are those of the seats. Without a mode, nothing happens.
    """
    if mode is None:
        return None
    over = position.decision == OVER
    state: Any = view.state(position, rules, [], None, over=over)
    heights = [n for row in state["heights"] for n in row]
    castles = castles_of(position)
    frame = state | {"heights": heights, "castles": castles, "action": None}
    if mode == "svg":
        return board_svg(frame, names)
    if mode == "rgb_array":
        film = raster.Film(names, [frame], PICTURE_WIDTH)
        return np.asarray(film.picture(0), np.uint8)
    scores = [
        f"{name} {score}" for name, score in zip(names, state["scores"], strict=True)
    ]
    board = f"{draw_board(state).plain}{', '.join(scores)}\n"
    if mode == "ansi":
        return board
    sys.stdout.write(board)
    return None
