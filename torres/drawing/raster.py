"""Pictures of positions as pixels: still, or one after the other as an animation."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import BinaryIO

from PIL import Image, ImageDraw, ImageFont

from torres.common.json_object import JsonObject
from torres.drawing.board_scene import (
    BOTTOM,
    SEAT_COLOURS,
    WIDTH,
    Curve,
    Label,
    Outline,
    ScenePoint,
    Shape,
    shapes,
    top,
)

OVERSAMPLING = 3  # pixels are drawn this many times smaller, and then averaged
CURVE_STEPS = 8
COLOURS = 128  # of an animation
LINE_UNITS = 26  # the height of a line of text, in units of the scene
TEXT_UNITS = 16
MAX_NAME_CHARS = 24
PAPER, INK = "#ffffff", "#222222"
TO_MOVE = ", to move"

Pixels = Image.Image
Font = ImageFont.FreeTypeFont | ImageFont.ImageFont


@dataclass(frozen=True, slots=True)
class Film:
    """Draws the positions of one game in pictures of one size.

    The board has the height of its tallest position, so that it does not move between
    two pictures. Above it are the names and scores of the players.
    """

    names: list[str]
    frames: list[JsonObject]
    width: int

    def picture(self, index: int) -> Pixels:
        """Draw the position after `index` actions."""
        scale = self.width * OVERSAMPLING / WIDTH
        upper = min(top(frame["heights"]) for frame in self.frames)
        head = LINE_UNITS * len(self.names)
        height = round((head + BOTTOM - upper) * self.width / WIDTH)
        size = (self.width * OVERSAMPLING, height * OVERSAMPLING)
        image = Image.new("RGB", size, PAPER)
        canvas = Canvas(ImageDraw.Draw(image), scale, head - upper)
        frame = self.frames[index]
        canvas.draw_board(frame)
        for seat, name in enumerate(self.names):
            score = frame["scores"][seat]
            canvas.draw_score(seat, name, score, to_move=frame["seat"] == seat)
        return image.reduce(OVERSAMPLING)


@dataclass(frozen=True, slots=True)
class Canvas:
    """Draws shapes of the scene. `scale` is in pixels for each unit of the scene."""

    draw: ImageDraw.ImageDraw
    scale: float
    shift: float

    def draw_board(self, frame: JsonObject) -> None:
        for shape in shapes(frame):
            if isinstance(shape, Label):
                self.draw_label(shape)
            else:
                self.draw_shape(shape)

    def draw_shape(self, shape: Shape) -> None:
        left, upper = shape.at or (0.0, 0.0)
        edge = max(1, round(shape.stroke_width * self.scale))
        for outline in shape.outlines:
            points = [
                ((x + left) * self.scale, (y + upper + self.shift) * self.scale)
                for x, y in _corners(outline)
            ]
            if shape.fill:
                self.draw.polygon(points, fill=shape.fill)
            if shape.stroke:
                closed = [*points, *points[:2]]  # so that the last corner is round, too
                self.draw.line(closed, fill=shape.stroke, width=edge, joint="curve")

    def draw_label(self, label: Label) -> None:
        font = font_of(label.size * self.scale)
        spot = (label.at.x * self.scale, (label.at.y + self.shift) * self.scale)
        self.draw.text(spot, label.text, label.fill, font, anchor="ms")

    def draw_score(self, seat: int, name: str, score: int, *, to_move: bool) -> None:
        """Write the line of a seat: its colour, its score, and its name."""
        unit = LINE_UNITS * self.scale
        middle = (seat + 0.5) * unit
        radius = 0.3 * unit
        spot = (unit - radius, middle - radius, unit + radius, middle + radius)
        self.draw.ellipse(spot, fill=SEAT_COLOURS[seat])
        font = font_of(TEXT_UNITS * self.scale)
        self.draw.text((3 * unit, middle), str(score), INK, font, anchor="rm")
        text = f"{_short(name)}{TO_MOVE if to_move else ''}"
        self.draw.text((3.5 * unit, middle), text, INK, font, anchor="lm")


@lru_cache(maxsize=8)
def font_of(size: float) -> Font:
    """Return the font of Pillow. It is read from a file, for each of 80 labels."""
    return ImageFont.load_default(size)


def _short(name: str) -> str:
    most = MAX_NAME_CHARS
    return name if len(name) <= most else f"{name[: most - 3]}..."


def _corners(outline: Outline) -> Iterator[ScenePoint]:
    """Yield the corners of an outline, with straight lines in place of its curves."""
    last = ScenePoint(0, 0)
    for step in outline:
        if isinstance(step, Curve):
            yield from _on_curve(last, step)
            last = step.end
        else:
            yield step
            last = step


def _on_curve(start: ScenePoint, curve: Curve) -> Iterator[ScenePoint]:
    """Yield points of a cubic Bézier curve after its start."""
    points = (start, *curve)
    for step in range(1, CURVE_STEPS + 1):
        t = step / CURVE_STEPS
        weights = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3)
        pairs = list(zip(weights, points, strict=True))
        yield ScenePoint(
            sum(weight * point.x for weight, point in pairs),
            sum(weight * point.y for weight, point in pairs),
        )


def save_animation(
    film: Film,
    file: Path | BinaryIO,
    *,
    ms: int,
    pause_ms: int,
    progress: Callable[[int], object] | None = None,
) -> None:
    """Write all positions as an animated GIF that repeats for ever.

    Each position is shown for `ms` milliseconds, and the last one for `pause_ms` more.
    `progress` is called with 1 for each picture that is drawn.
    """
    last = len(film.frames) - 1
    # One palette for all pictures, so that only what changed has to be stored. The last
    # picture has the most colours.
    palette = film.picture(last).quantize(COLOURS, Image.Quantize.FASTOCTREE)
    images = []
    for index in range(last + 1):
        picture = film.picture(index)
        images.append(picture.quantize(palette=palette, dither=Image.Dither.NONE))
        if progress is not None:
            progress(1)
    durations = [ms] * len(images)
    durations[-1] += pause_ms
    images[0].save(
        file,
        format="GIF",
        save_all=True,
        append_images=images[1:],
        duration=durations,
        loop=0,
        optimize=False,
    )
