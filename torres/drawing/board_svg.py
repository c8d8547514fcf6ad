"""One position as SVG: a picture of its own, or the content of the viewer's board.

The picture is for previews of links, README files and pages without scripts. The
colours are in the file, because a picture cannot use the style sheet of a page.
"""

from html import escape

from torres.common.json_object import JsonObject
from torres.drawing.board_scene import (
    BOTTOM,
    IN_THE_DARK,
    USUAL_TOP,
    WIDTH,
    Curve,
    Label,
    Outline,
    ScenePoint,
    Shape,
    shapes,
    top as top_of,
)


def board_svg(frame: JsonObject, names: list[str], *, dark: bool = False) -> str:
    """Return the picture of a frame, as `frames.py` makes them.

    `names` are those of the players; the title of the picture has them with the scores.
    `dark` is for a page with dark colours.
    """
    top = top_of(frame["heights"])
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 {top} {WIDTH}'
        f' {BOTTOM - top}" role="img" text-anchor="middle" font-family="sans-serif">'
        f"<title>{escape(_title(frame, names))}</title>"
    )
    colours = IN_THE_DARK if dark else {}
    drawn = (_coloured(shape, colours) for shape in shapes(frame))
    return "".join([head, *drawn, "</svg>"])


def board_markup(frame: JsonObject) -> str:
    """Return the content of the viewer's board. A style sheet has the colours.

    The board has room for usual towers. A scene with higher ones is made smaller.
    """
    drawn = "".join(
        _element(shape, f' class="{shape.kind}"') for shape in shapes(frame)
    )
    scale = (BOTTOM - USUAL_TOP) / (BOTTOM - top_of(frame["heights"]))
    if scale == 1:
        return drawn
    left, down = WIDTH * (1 - scale) / 2, BOTTOM * (1 - scale)
    return f'<g transform="translate({left:g},{down:g}) scale({scale:g})">{drawn}</g>'


def _title(frame: JsonObject, names: list[str]) -> str:
    scores = zip(names, frame["scores"], strict=True)
    return ", ".join(f"{name} {score}" for name, score in scores)


def _coloured(shape: Shape | Label, colours: dict[str, str]) -> str:
    fill = colours.get(shape.fill, shape.fill) if shape.fill else "none"
    attributes = f' fill="{fill}"'
    if isinstance(shape, Label):
        return _element(shape, f'{attributes} font-size="{shape.size:g}"')
    if shape.stroke:
        attributes += f' stroke="{colours.get(shape.stroke, shape.stroke)}"'
    if shape.stroke_width != 1:
        attributes += f' stroke-width="{shape.stroke_width:g}"'
    if not shape.fill:
        attributes += ' stroke-dasharray="2 2" opacity="0.55"'
    return _element(shape, attributes)


def _element(shape: Shape | Label, attributes: str) -> str:
    if isinstance(shape, Label):
        x, y = shape.at
        return f'<text x="{x:g}" y="{y:g}"{attributes}>{shape.text}</text>'
    path = "".join(map(_path, shape.outlines))
    if shape.at is None:
        return f'<path d="{path}"{attributes}/>'
    move = f' transform="translate({shape.at.x:g},{shape.at.y:g})"'
    return f'<g{attributes}{move}><path d="{path}"/></g>'


def _path(outline: Outline) -> str:
    return f"M{'L'.join(map(_step, outline))}z".replace("LC", "C")


def _step(step: ScenePoint | Curve) -> str:
    if isinstance(step, Curve):
        return "C" + " ".join(f"{x:g},{y:g}" for x, y in step)
    return f"{step.x:g},{step.y:g}"
