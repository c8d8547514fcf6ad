"""The shapes of one position: the board in isometric view, with towers and figures.

It is the picture of the viewer (`viewer/static/viewer/board.js`) for places without
scripts. `board_svg` writes it as SVG, and `torres render` draws it as pixels.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from torres.common.json_object import JsonObject

SIZE = 8
TILE_X, TILE_Y, STOREY = 30, 15, 13
"""Half a tile's width and height, and the height of a storey, in units of the scene."""
LEFT, BASE, WIDTH, BOTTOM = 22, 258, 524, 404
FIGURE = 34
MIN_LEVELS = 3

SEAT_COLOURS = ("#c25400", "#0067a3", "#00714f", "#97397b")
_GROUND, _GRID = "#e9e2d3", "#d8cfbd"
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
_KING, _KING_EDGE, _KNIGHT_EDGE = "#ffd84a", "#5c4700", "#ffffff"


class ScenePoint(NamedTuple):
    """A point of the scene: x to the right and y downwards."""

    x: float
    y: float


class Curve(NamedTuple):
    """A cubic Bézier curve from the point before it to `end`."""

    first: ScenePoint
    second: ScenePoint
    end: ScenePoint


Outline = tuple[ScenePoint | Curve, ...]
"""A closed outline. It begins with a point."""


@dataclass(frozen=True, slots=True)
class Shape:
    """Outlines that are filled and edged with the same colours.

    `at` is where the origin of the outlines lies. `stroke` may be None.
    """

    outlines: tuple[Outline, ...]
    fill: str
    stroke: str | None = None
    stroke_width: float = 1.0
    at: ScenePoint | None = None


def _polygon(*points: tuple[float, float]) -> Outline:
    return tuple(ScenePoint(x, y) for x, y in points)


def _circle(y: float, radius: float) -> Outline:
    """Return a circle around (0, y), of four curves."""
    handle = 0.5523 * radius  # makes a curve differ from a quarter circle by 0.03 %
    left, right = ScenePoint(-radius, y), ScenePoint(radius, y)
    top, bottom = ScenePoint(0, y - radius), ScenePoint(0, y + radius)
    return (
        left,
        Curve(ScenePoint(-radius, y - handle), ScenePoint(-handle, y - radius), top),
        Curve(ScenePoint(handle, y - radius), ScenePoint(radius, y - handle), right),
        Curve(ScenePoint(radius, y + handle), ScenePoint(handle, y + radius), bottom),
        Curve(ScenePoint(-handle, y + radius), ScenePoint(-radius, y + handle), left),
    )


_BODY: Outline = (
    ScenePoint(-10, 1),
    Curve(ScenePoint(-9, -5), ScenePoint(-5, -7), ScenePoint(-4, -15)),
    ScenePoint(4, -15),
    Curve(ScenePoint(5, -7), ScenePoint(9, -5), ScenePoint(10, 1)),
    Curve(ScenePoint(8, 6), ScenePoint(-8, 6), ScenePoint(-10, 1)),
)
_CROWN = _polygon(
    (-8, -15), (-9, -28), (-4, -22), (0, -30), (4, -22), (9, -28), (8, -15)
)
# The outline of a figure's head tells the seats apart without colours.
_HEADS = (
    _circle(-21, 6),
    _polygon((-6, -27), (6, -27), (6, -15), (-6, -15)),
    _polygon((0, -29), (7, -15), (-7, -15)),
    _polygon((0, -30), (6.5, -21.5), (0, -13), (-6.5, -21.5)),
)


def top(heights: list[int]) -> float:
    """Return the y of the upper edge of a scene with these heights."""
    return BASE - SIZE * TILE_Y - max(MIN_LEVELS, *heights) * STOREY - FIGURE


def shapes(frame: JsonObject) -> Iterator[Shape]:
    """Yield the shapes of a frame (`frames`), from the back to the front."""
    heights: list[int] = frame["heights"]
    pieces = _pieces(frame)
    for depth in range(1 - SIZE, SIZE):
        for column in range(max(0, depth), min(SIZE, SIZE + depth)):
            row = column - depth
            yield from _tower(heights, column, row)
            if piece := pieces.get((column, row)):
                foot = _at(column + 0.5, row + 0.5, _height(heights, column, row))
                yield Shape((_BODY, piece.head), piece.fill, piece.edge, 1.4, foot)


class _Piece(NamedTuple):
    """The figure of a knight or of the king."""

    head: Outline
    fill: str
    edge: str


def _pieces(frame: JsonObject) -> dict[tuple[int, int], _Piece]:
    """Return the figures by column and row."""
    pieces = {
        _place(space): _Piece(_HEADS[seat], SEAT_COLOURS[seat], _KNIGHT_EDGE)
        for seat, spaces in enumerate(frame["knights"])
        for space in spaces
    }
    if frame["king"]:
        pieces[_place(frame["king"])] = _Piece(_CROWN, _KING, _KING_EDGE)
    return pieces


def _place(space: str) -> tuple[int, int]:
    """Return the column and the row of a space, from 0: "a1" is (0, 0)."""
    return "abcdefgh".index(space[0]), int(space[1]) - 1


def _height(heights: list[int], column: int, row: int) -> int:
    inside = 0 <= column < SIZE and 0 <= row < SIZE
    return heights[row * SIZE + column] if inside else 0


def _at(column: float, row: float, level: float = 0) -> ScenePoint:
    """Return where a point of the board is drawn: a1 is left, h8 is right."""
    x = LEFT + (column + row) * TILE_X
    return ScenePoint(x, BASE + (column - row) * TILE_Y - level * STOREY)


def _tile(column: int, row: int, level: int) -> Outline:
    corners = ((0, 0), (1, 0), (1, 1), (0, 1))
    return tuple(_at(column + u, row + v, level) for u, v in corners)


Corner = tuple[float, float]


def _wall(one: Corner, other: Corner, level: int) -> Outline:
    """Return the wall of one block, between two corners of its tile."""
    return (
        _at(*one, level),
        _at(*other, level),
        _at(*other, level + 1),
        _at(*one, level + 1),
    )


def _door(one: Corner, other: Corner, level: int) -> Outline:
    """Return the door in the middle of a wall."""

    def along(share: float) -> Corner:
        return (
            one[0] + share * (other[0] - one[0]),
            one[1] + share * (other[1] - one[1]),
        )

    left, middle, right = along(0.34), along(0.5), along(0.66)
    return (
        _at(*left, level),
        _at(*right, level),
        _at(*right, level + 0.5),
        _at(*middle, level + 0.68),
        _at(*left, level + 0.5),
    )


def _tower(heights: list[int], column: int, row: int) -> Iterator[Shape]:
    height = _height(heights, column, row)
    if not height:
        yield Shape((_tile(column, row, 0),), _GROUND, _GRID)
        return
    front = (column, row), (column + 1, row)
    side = (column + 1, row), (column + 1, row + 1)
    for (one, other), colour, hidden in (
        (front, _SOUTH, _height(heights, column, row - 1)),
        (side, _EAST, _height(heights, column + 1, row)),
    ):
        levels = range(hidden, height)
        if levels:
            walls = tuple(_wall(one, other, level) for level in levels)
            yield Shape(walls, colour, _EDGE)
            yield Shape(tuple(_door(one, other, level) for level in levels), _DOOR)
    roof = _ROOFS[min(height, len(_ROOFS)) - 1]
    yield Shape((_tile(column, row, height),), roof, _EDGE)
