"""The contrasts that axe-core leaves undecided, by the formula of WCAG 2.2 (1.4.3).

It cannot judge text above a gradient, which the shadows at the edges of wide tables
are, and the numbers on the board, because they have one character.
"""

import re
from itertools import product

import pytest
from django.conf import settings

from torres.drawing import board_scene

STATIC = settings.BASE_DIR / "torres" / "viewer" / "static"
ENOUGH = 4.5
TEXTS = ("ink", "soft", "link", "good", "bad")
GROUNDS = ("paper", "raised", "zebra")
SITE = (STATIC / "site.css").read_text()
BOARD = (STATIC / "viewer" / "viewer.css").read_text()

Colour = tuple[float, float, float]


def read(text: str) -> tuple[Colour, float]:
    """Return the colour and the opacity of a colour such as #fff or #211c151c."""
    digits = text.lstrip("#")
    if len(digits) < 6:
        digits = "".join(2 * digit for digit in digits)
    red, green, blue, *rest = bytes.fromhex(digits)
    return (red, green, blue), (rest[0] / 255 if rest else 1.0)


def above(colour: Colour, opacity: float, ground: Colour) -> Colour:
    mixed = (
        opacity * over + (1 - opacity) * under
        for over, under in zip(colour, ground, strict=True)
    )
    red, green, blue = mixed
    return red, green, blue


def luminance(colour: Colour) -> float:
    shares = [value / 255 for value in colour]
    linear = [
        share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4
        for share in shares
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: Colour, other: Colour) -> float:
    darker, lighter = sorted(map(luminance, (one, other)))
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_texts_can_be_read_at_the_shadowed_edge_of_a_table(scheme: int) -> None:
    block = SITE.split(":root")[1 + scheme].split("}")[0]
    colours = dict(re.findall(r"--(\w+): (#\w+);", block))
    shade, opacity = read(colours["shade"])

    for text, ground in product(TEXTS, GROUNDS):
        shadowed = above(shade, opacity, read(colours[ground])[0])
        assert contrast(read(colours[text])[0], shadowed) >= ENOUGH, (text, ground)


def test_heights_can_be_read_on_roofs_of_all_leaders() -> None:
    roofs = re.findall(r"#board \.h[1-8] { fill: (#\w+); }", BOARD)
    assert tuple(roofs) == board_scene._ROOFS
    for height, roof in enumerate(roofs, 1):
        high = height > board_scene.HIGH
        ink = board_scene._ON_DARK if high else board_scene._ON_LIGHT
        for leader in board_scene.SEAT_COLOURS:
            tinted = above(read(leader)[0], board_scene.TINT, read(roof)[0])
            for ground in (read(roof)[0], tinted):
                assert contrast(read(ink)[0], ground) >= ENOUGH, (height, leader)
