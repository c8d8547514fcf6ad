"""Cards: the pictures that chats and feeds show beside a link, as PNG files."""

from collections.abc import Sequence
from io import BytesIO
from typing import NamedTuple

from PIL import Image, ImageDraw

from torres.common.json_object import JsonObject
from torres.drawing.board_scene import BOTTOM, SEAT_COLOURS, WIDTH, top
from torres.drawing.raster import INK, PAPER, Canvas, Font, Pixels, font_of

CARD_SIZE = (1200, 630)
"""The size of all cards, in pixels."""
MARGIN = 72
COLOURS = 128
TITLE, TEXT, SMALL = 44, 34, 30  # the heights of letters
LINE = 66
CUT = "..."

BOARD_OVERSAMPLING = 2
BOARD_WIDTH = 740
BOARD_MARGIN = 36

ACCENT, SOFT, FAINT = "#a4540b", "#675d4f", "#f3eadc"
BIG_TITLE = 64
BAND_WIDTH = 18
PLACE_WIDTH = 84
TABLE_LINE = 60
MAX_ROWS = 5
TOWER = (
    *((2, 15), (2, 4), (4, 4), (4, 6), (6, 6), (6, 4), (10, 4), (10, 6)),
    *((12, 6), (12, 4), (14, 4), (14, 15), (9.5, 15), (9.5, 11), (6.5, 11), (6.5, 15)),
)
"""The sign of the site, as in `icon.svg`: 16 units wide and high."""


class CardRow(NamedTuple):
    """One line of a table: a place such as "1", a name, and a value on the right."""

    place: str
    name: str
    value: str


def game_card(title: str, note: str, names: list[str], frame: JsonObject) -> bytes:
    """Return the card of a game: a PNG of `CARD_SIZE`.

    The board of `frame` is on the left. On the right are the title, the players with
    their scores, the best one first, and a note.
    """
    width, height = (pixels * BOARD_OVERSAMPLING for pixels in CARD_SIZE)
    margin = BOARD_MARGIN * BOARD_OVERSAMPLING
    image = Image.new("RGB", (width, height), PAPER)
    draw = ImageDraw.Draw(image)
    upper = top(frame["heights"])
    board_width = BOARD_WIDTH * BOARD_OVERSAMPLING
    scale = min(board_width / WIDTH, (height - margin) / (BOTTOM - upper))
    space_above = (height - (BOTTOM - upper) * scale) / 2
    Canvas(draw, scale, space_above / scale - upper).draw_board(frame)
    left, right = board_width + margin, width - margin
    line = LINE * BOARD_OVERSAMPLING
    large, small = (font_of(px * BOARD_OVERSAMPLING) for px in (TITLE, TEXT))
    heading = _fitting(title, large, right - left)
    draw.text((left, 2 * margin), heading, INK, large, anchor="lm")
    seats = sorted(range(len(names)), key=lambda seat: -frame["scores"][seat])
    for row, seat in enumerate(seats):
        middle = 2 * margin + (row + 1.5) * line
        radius = line / 6
        dot = (left, middle - radius, left + 2 * radius, middle + radius)
        draw.ellipse(dot, fill=SEAT_COLOURS[seat])
        score = str(frame["scores"][seat])
        draw.text((right, middle), score, INK, small, anchor="rm")
        start = left + 3.2 * radius
        room = right - small.getlength(f" {score}") - start
        name = _fitting(names[seat], small, room)
        draw.text((start, middle), name, INK, small, anchor="lm")
    foot = _fitting(note, small, right - left)
    draw.text((left, height - 2 * margin), foot, INK, small, anchor="lm")
    return _png(image.reduce(BOARD_OVERSAMPLING))


def table_card(title: str, text: str, rows: Sequence[CardRow]) -> bytes:
    """Return the card of a list: a PNG of `CARD_SIZE`.

    The title and the text, each in one line, are above the first `MAX_ROWS` rows.
    """
    width, height = CARD_SIZE
    image = Image.new("RGB", CARD_SIZE, PAPER)
    draw = ImageDraw.Draw(image)
    unit = height / 16
    draw.polygon([(width + (x - 15) * unit, y * unit) for x, y in TOWER], fill=FAINT)
    draw.rectangle((0, 0, BAND_WIDTH, height), fill=ACCENT)
    large, middle, small = (font_of(px) for px in (BIG_TITLE, TEXT, SMALL))
    right = width - MARGIN
    room = right - MARGIN
    draw.text((MARGIN, 64), "Torres ladder", ACCENT, small, anchor="lm")
    draw.text((MARGIN, 138), _fitting(title, large, room), INK, large, anchor="lm")
    draw.text((MARGIN, 212), _fitting(text, small, room), SOFT, small, anchor="lm")
    for number, row in enumerate(rows[:MAX_ROWS]):
        y = 296 + number * TABLE_LINE
        draw.text((MARGIN, y), row.place, SOFT, middle, anchor="lm")
        draw.text((right, y), row.value, INK, middle, anchor="rm")
        start = MARGIN + PLACE_WIDTH
        name = _fitting(
            row.name, middle, right - middle.getlength(f"  {row.value}") - start
        )
        draw.text((start, y), name, INK, middle, anchor="lm")
    return _png(image)


def _fitting(text: str, font: Font, width: float) -> str:
    """Return a text, or as much of its beginning as has room."""
    if font.getlength(text) <= width:
        return text
    while text and font.getlength(text + CUT) > width:
        text = text[:-1]
    return text + CUT


def _png(image: Pixels) -> bytes:
    file = BytesIO()
    # The default method takes 60 ms more, and merges the colours of two seats.
    image.quantize(COLOURS, Image.Quantize.FASTOCTREE).save(file, "PNG")
    return file.getvalue()
