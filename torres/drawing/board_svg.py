"""One position as an SVG picture of its own.

It is for the home page, previews of links, and README files. The colours are in the
file, because a picture on another page cannot use our style sheet.
"""

from html import escape

from torres.common.json_object import JsonObject
from torres.drawing.board_scene import (
    BOTTOM,
    WIDTH,
    Curve,
    Outline,
    ScenePoint,
    Shape,
    shapes,
    top as top_of,
)


def board_svg(frame: JsonObject, names: list[str]) -> str:
    """Return the picture of a frame, as `frames.py` makes them.

    `names` are those of the players; the title of the picture has them with the scores.
    """
    top = top_of(frame["heights"])
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 {top} {WIDTH}'
        f' {BOTTOM - top}" role="img"><title>{escape(_title(frame, names))}</title>'
    )
    return "".join([head, *map(_element, shapes(frame)), "</svg>"])


def _title(frame: JsonObject, names: list[str]) -> str:
    scores = zip(names, frame["scores"], strict=True)
    return ", ".join(f"{name} {score}" for name, score in scores)


def _element(shape: Shape) -> str:
    path = "".join(map(_path, shape.outlines))
    edge = f' stroke="{shape.stroke}"' if shape.stroke else ""
    if shape.stroke_width != 1:
        edge += f' stroke-width="{shape.stroke_width:g}"'
    if shape.at is not None:
        edge += f' transform="translate({shape.at.x:g},{shape.at.y:g})"'
    return f'<path d="{path}" fill="{shape.fill}"{edge}/>'


def _path(outline: Outline) -> str:
    return f"M{'L'.join(map(_step, outline))}z".replace("LC", "C")


def _step(step: ScenePoint | Curve) -> str:
    if isinstance(step, Curve):
        return "C" + " ".join(f"{x:g},{y:g}" for x, y in step)
    return f"{step.x:g},{step.y:g}"
