"""One position as an SVG picture of its own: isometric, with towers and figures.

It is the picture of the viewer (`static/web/viewer/board.js`) for places without
scripts: the home page, previews of links, README files. The colours are in the file,
because a picture on another page cannot use our style sheet.
"""

from collections.abc import Iterable
from html import escape
from typing import Any

SIZE = 8
TILE_X, TILE_Y, STOREY = 30, 15, 13
"""Half a tile's width and height, and the height of a storey, in units of the SVG."""
LEFT, BASE, WIDTH, BOTTOM = 22, 258, 524, 404
FIGURE = 34
MIN_LEVELS = 3

_GROUND = "#e9e2d3"
_ROOFS = (
    "#e3c398",
    "#d8b07c",
    "#cb9b60",
    "#bb8446",
    "#a36d34",
    "#895626",
    "#6f421b",
    "#553012",
)
_SOUTH, _EAST, _DOOR, _EDGE = "#b98a55", "#8d6135", "#3a230d", "#5b3a1a"
_SEATS = ("#c25400", "#0067a3", "#00714f", "#97397b")
_KING = "#ffd84a"
_BODY = "M-10,1 C-9,-5 -5,-7 -4,-15 H4 C5,-7 9,-5 10,1 A10,4 0 0,1 -10,1 z"
_CROWN = "M-8,-15 L-9,-28 L-4,-22 L0,-30 L4,-22 L9,-28 L8,-15 z"
_HEADS = (
    "M0,-27 a6,6 0 1,0 .01,0 z",
    "M-6,-27 h12 v12 h-12 z",
    "M0,-29 L7,-15 H-7 z",
    "M0,-30 L6.5,-21.5 L0,-13 L-6.5,-21.5 z",
)
Point = tuple[float, float]


def board_svg(frame: dict[str, Any], names: list[str]) -> str:
    """Return the picture of a frame, as `frames.py` makes them.

    `names` are those of the players; the title of the picture has them with the scores.
    """
    heights: list[int] = frame["heights"]
    top = BASE - SIZE * TILE_Y - max(MIN_LEVELS, *heights) * STOREY - FIGURE
    pieces = {
        space: (_SEATS[seat], _HEADS[seat])
        for seat, spaces in enumerate(frame["knights"])
        for space in spaces
    }
    if frame["king"]:
        pieces[frame["king"]] = (_KING, _CROWN)
    parts = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 {top} {WIDTH}'
            f' {BOTTOM - top}" role="img"><title>{escape(_title(frame, names))}</title>'
        )
    ]
    for depth in range(1 - SIZE, SIZE):  # from the back to the front
        for column in range(max(0, depth), min(SIZE, SIZE + depth)):
            row = column - depth
            parts += _tower(heights, column, row)
            if piece := pieces.get(f"{'abcdefgh'[column]}{row + 1}"):
                parts.append(_figure(heights, column, row, *piece))
    return "".join([*parts, "</svg>"])


def _title(frame: dict[str, Any], names: list[str]) -> str:
    scores = zip(names, frame["scores"], strict=True)
    return ", ".join(f"{name} {score}" for name, score in scores)


def _height(heights: list[int], column: int, row: int) -> int:
    inside = 0 <= column < SIZE and 0 <= row < SIZE
    return heights[row * SIZE + column] if inside else 0


def _at(column: float, row: float, level: float = 0) -> Point:
    """Return where a point of the board is drawn: a1 is left, h8 is right."""
    x = LEFT + (column + row) * TILE_X
    return x, BASE + (column - row) * TILE_Y - level * STOREY


def _path(points: Iterable[Point]) -> str:
    return "M" + "L".join(f"{x:g},{y:g}" for x, y in points) + "z"


def _tile(column: int, row: int, level: int) -> str:
    corners = ((0, 0), (1, 0), (1, 1), (0, 1))
    return _path(_at(column + u, row + v, level) for u, v in corners)


def _wall(one: tuple[float, float], other: tuple[float, float], level: int) -> str:
    """Return the wall of one block, between two corners of its tile."""
    return _path(
        (
            _at(*one, level),
            _at(*other, level),
            _at(*other, level + 1),
            _at(*one, level + 1),
        )
    )


def _door(one: tuple[float, float], other: tuple[float, float], level: int) -> str:
    """Return the door in the middle of a wall."""

    def along(share: float) -> tuple[float, float]:
        return (
            one[0] + share * (other[0] - one[0]),
            one[1] + share * (other[1] - one[1]),
        )

    left, middle, right = along(0.34), along(0.5), along(0.66)
    return _path(
        (
            _at(*left, level),
            _at(*right, level),
            _at(*right, level + 0.5),
            _at(*middle, level + 0.68),
            _at(*left, level + 0.5),
        )
    )


def _tower(heights: list[int], column: int, row: int) -> list[str]:
    height = _height(heights, column, row)
    if not height:
        tile = _tile(column, row, 0)
        return [f'<path d="{tile}" fill="{_GROUND}" stroke="#d8cfbd"/>']
    front = (column, row), (column + 1, row)
    side = (column + 1, row), (column + 1, row + 1)
    parts = []
    for (one, other), colour, hidden in (
        (front, _SOUTH, _height(heights, column, row - 1)),
        (side, _EAST, _height(heights, column + 1, row)),
    ):
        levels = range(hidden, height)
        if not levels:
            continue
        walls = "".join(_wall(one, other, level) for level in levels)
        doors = "".join(_door(one, other, level) for level in levels)
        parts.append(f'<path d="{walls}" fill="{colour}" stroke="{_EDGE}"/>')
        parts.append(f'<path d="{doors}" fill="{_DOOR}"/>')
    roof = _ROOFS[min(height, len(_ROOFS)) - 1]
    tile = _tile(column, row, height)
    return [*parts, f'<path d="{tile}" fill="{roof}" stroke="{_EDGE}"/>']


def _figure(heights: list[int], column: int, row: int, colour: str, head: str) -> str:
    x, y = _at(column + 0.5, row + 0.5, _height(heights, column, row))
    edge = "#5c4700" if colour == _KING else "#fff"
    return (
        f'<g transform="translate({x:g},{y:g})" fill="{colour}" stroke="{edge}"'
        f' stroke-width="1.4"><path d="{_BODY}"/><path d="{head}"/></g>'
    )
