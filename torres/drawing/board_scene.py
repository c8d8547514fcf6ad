"""The shapes of one position: the board in isometric view, with towers and figures.

It is the picture of the viewer (`viewer/static/viewer/board.js`) for places without
scripts, and a test compares the two. `board_svg` writes it as SVG, and `torres render`
draws it as pixels.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from torres.common.json_object import JsonObject

SIZE = 8
TILE_X, TILE_Y, STOREY = 30, 15, 13
"""Half a tile's width and height, and the height of a storey, in units of the scene."""
LEFT, BASE, WIDTH, BOTTOM = 22, 258, 524, 404
FIGURE = 34
USUAL_TOP = BASE - SIZE * TILE_Y - 4 * STOREY - FIGURE
"""The upper edge of a scene whose towers have at most four levels."""
HIGH = 4  # roofs above this level are dark
TINT = 0.32  # how much a roof has of the colour of the seat that leads in its castle

SEAT_COLOURS = ("#c25400", "#0067a3", "#00714f", "#97397b")
_GROUND, _GRID = "#e9e2d3", "#d8cfbd"
_ROOFS = (
    "#e3c398",
    "#d8b07c",
    "#cb9b60",
    "#bb8446",
    "#98632d",
    "#895626",
    "#6f421b",
    "#553012",
)
_SOUTH, _EAST, _DOOR, _EDGE = "#b98a55", "#8d6135", "#3a230d", "#5b3a1a"
_KING, _KING_EDGE, _KNIGHT_EDGE = "#ffd84a", "#5c4700", "#ffffff"
_INK, _SOFT, _ON_LIGHT, _ON_DARK = "#211c15", "#675d4f", "#140b02", "#fff4e2"
IN_THE_DARK = {_GROUND: "#2b261f", _GRID: "#3a342b", _SOFT: "#b0a593", _INK: "#eee6da"}
"""The colours that differ on a dark page."""


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

    `kind` are the class names of the viewer's style sheet. `at` is where the origin of
    the outlines lies. `stroke` may be None; without `fill` only the edge is drawn.
    """

    kind: str
    outlines: tuple[Outline, ...]
    fill: str | None
    stroke: str | None = None
    stroke_width: float = 1.0
    at: ScenePoint | None = None


@dataclass(frozen=True, slots=True)
class Label:
    """A short text whose middle is at a point. `size` is in units of the scene."""

    kind: str
    text: str
    at: ScenePoint
    fill: str
    size: float = 12.0


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
    """Return the y of the upper edge of a scene with these heights.

    A tower at the back stands out of a usual scene sooner than one at the front.
    """
    roofs = (
        BASE + TILE_Y * (index % SIZE - index // SIZE - 1) - STOREY * levels
        for index, levels in enumerate(heights)
    )
    return min(USUAL_TOP, min(roofs) - FIGURE)


def shapes(frame: JsonObject) -> Iterator[Shape | Label]:
    """Yield the shapes of a frame (`frames`), from the back to the front."""
    heights: list[int] = frame["heights"]
    pieces = _pieces(frame)
    marks = _Marks(
        frozenset(_place(space) for space in _SPACE.findall(frame["action"] or "")),
        _leaders(frame),
    )
    yield from _axes()
    for depth in range(1 - SIZE, SIZE):
        for column in range(max(0, depth), min(SIZE, SIZE + depth)):
            row = column - depth
            yield from _tower(heights, column, row, marks)
            if piece := pieces.get((column, row)):
                yield from piece.shapes(_foot(heights, column, row))
    for (column, row), piece in pieces.items():
        if _is_hidden(heights, column, row):
            yield from piece.ghost(_foot(heights, column, row))
    for castle in frame["castles"] if frame.get("ends_phase") else ():
        column, row = _place(castle["spaces"][0])
        yield from _points(_foot(heights, column, row), castle["seats"])


def tiles(heights: list[int]) -> Iterator[tuple[str, list[ScenePoint]]]:
    """Yield each space with the corners of its roof, from the back to the front."""
    for depth in range(1 - SIZE, SIZE):
        for column in range(max(0, depth), min(SIZE, SIZE + depth)):
            row = column - depth
            corners = ((0, 0), (1, 0), (1, 1), (0, 1))
            level = _height(heights, column, row)
            yield (
                f"{'abcdefgh'[column]}{row + 1}",
                [_at(column + u, row + v, level) for u, v in corners],
            )


class _Marks(NamedTuple):
    """The places that the last action names, and the seat that leads at a place."""

    touched: frozenset[tuple[int, int]]
    leaders: dict[tuple[int, int], int]


_SPACE = re.compile(r"\b[a-h][1-8]\b")


def _leaders(frame: JsonObject) -> dict[tuple[int, int], int]:
    return {
        _place(space): castle["leader"]
        for castle in frame["castles"]
        if castle["leader"] is not None
        for space in castle["spaces"]
    }


def _axes() -> Iterator[Label]:
    """Yield the names of the columns and rows."""
    for k in range(SIZE):
        front, side = _at(k + 0.5, -0.45), _at(SIZE + 0.45, k + 0.5)
        yield Label("axis", "abcdefgh"[k], ScenePoint(front.x, front.y + 4), _SOFT)
        yield Label("axis", str(k + 1), ScenePoint(side.x, side.y + 4), _SOFT)


def _is_hidden(heights: list[int], column: int, row: int) -> bool:
    """Return whether a higher tower in front hides a piece."""
    own = _height(heights, column, row)

    def hides(step: int, side: int, drop: float) -> bool:
        higher = _height(heights, column + step, row - step + side) - own
        return higher * STOREY > drop - 18

    return any(
        hides(step, 0, step * 2 * TILE_Y)
        or hides(step, 1, step * 2 * TILE_Y - TILE_Y)
        or hides(step - 1, -1, (step - 1) * 2 * TILE_Y + TILE_Y)
        for step in range(1, 4)
    )


def _points(
    foot: ScenePoint, seats: list[tuple[int, int, int]]
) -> Iterator[Shape | Label]:
    """Yield the points of each seat in its colour, above a castle."""
    for k, (seat, _, points) in enumerate(seats):
        left = foot.x + (k - len(seats) / 2) * 30
        upper = foot.y - 51
        corners = ((0, 0), (29, 0), (29, 18), (0, 18))
        box = _polygon(*((left + x, upper + y) for x, y in corners))
        yield Shape(f"points seat{seat}", (box,), SEAT_COLOURS[seat], _KNIGHT_EDGE)
        middle = ScenePoint(left + 14.5, upper + 14)
        yield Label("points", str(points), middle, _KNIGHT_EDGE)


class _Piece(NamedTuple):
    """The figure of a knight or of the king."""

    kind: str
    head: Outline
    fill: str
    edge: str

    def shapes(self, foot: ScenePoint) -> Iterator[Shape]:
        yield Shape(self.kind, (_BODY, self.head), self.fill, self.edge, 1.4, foot)

    def ghost(self, foot: ScenePoint) -> Iterator[Shape]:
        """Yield the outline of a figure behind a tower."""
        kind = f"{self.kind} ghost"
        yield Shape(kind, (_BODY, self.head), None, self.edge, 1.4, foot)


def _pieces(frame: JsonObject) -> dict[tuple[int, int], _Piece]:
    """Return the figures by column and row."""
    pieces = {
        _place(space): _Piece(
            f"knight seat{seat}", _HEADS[seat], SEAT_COLOURS[seat], _KNIGHT_EDGE
        )
        for seat, spaces in enumerate(frame["knights"])
        for space in spaces
    }
    if frame["king"]:
        pieces[_place(frame["king"])] = _Piece("king", _CROWN, _KING, _KING_EDGE)
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


def _foot(heights: list[int], column: int, row: int) -> ScenePoint:
    return _at(column + 0.5, row + 0.5, _height(heights, column, row))


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


def _tower(
    heights: list[int], column: int, row: int, marks: _Marks
) -> Iterator[Shape | Label]:
    height = _height(heights, column, row)
    touched = (column, row) in marks.touched
    if height:
        yield from _walls(heights, column, row)
    roof = _ROOFS[min(height, len(_ROOFS)) - 1] if height else _GROUND
    yield Shape(
        f"cell h{min(height, len(_ROOFS))}{' touched' if touched else ''}",
        (_tile(column, row, height),),
        roof,
        _INK if touched else _GRID,
        3.0 if touched else 1.0,
    )
    if not height:
        return
    leader = marks.leaders.get((column, row))
    if leader is not None:
        colour = SEAT_COLOURS[leader]
        fill = _mixed(roof, colour)
        tile = (_tile(column, row, height),)
        yield Shape(f"tint seat{leader}", tile, fill, colour, 1.6)
    x, y = _foot(heights, column, row)
    high = height > HIGH
    kind, ink = ("level high", _ON_DARK) if high else ("level", _ON_LIGHT)
    yield Label(kind, str(height), ScenePoint(x, y + 4), ink, 11.0)


def _walls(heights: list[int], column: int, row: int) -> Iterator[Shape]:
    front = (column, row), (column + 1, row)
    side = (column + 1, row), (column + 1, row + 1)
    doors: list[Outline] = []
    for kind, (one, other), colour, hidden in (
        ("south", front, _SOUTH, _height(heights, column, row - 1)),
        ("east", side, _EAST, _height(heights, column + 1, row)),
    ):
        levels = range(hidden, _height(heights, column, row))
        if levels:
            walls = tuple(_wall(one, other, level) for level in levels)
            yield Shape(kind, walls, colour, _EDGE, 0.8)
            doors += (_door(one, other, level) for level in levels)
    if doors:
        yield Shape("door", tuple(doors), _DOOR)


def _mixed(under: str, over: str) -> str:
    """Return a colour that is covered by another one with the opacity TINT."""
    pairs = zip(bytes.fromhex(under[1:]), bytes.fromhex(over[1:]), strict=True)
    return "#" + bytes(round(a + TINT * (b - a)) for a, b in pairs).hex()
