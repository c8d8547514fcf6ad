"""The boards in the pages are drawn by the project's own drawing."""

import re
from pathlib import Path

import pytest

from torres.drawing.board_text import draw_board

ROOT = Path(__file__).parents[2]
PICTURE = re.compile(r"```board ([^\n]+)\n(.*?)```", re.DOTALL)
PICTURES = [
    (page.name, *match)
    for page in sorted((ROOT / "docs").glob("*.md"))
    for match in PICTURE.findall(page.read_text())
]


def draw(description: str) -> str:
    """Draw `a3=2` as a height, `A@a3` as a knight of seat 0, `K@d8` as the king."""
    heights = [[0] * 8 for _ in range(8)]
    knights: list[list[str]] = [[], [], [], []]
    king = None
    for word in description.split():
        if "=" in word:
            space, height = word.split("=")
            heights[int(space[1]) - 1]["abcdefgh".index(space[0])] = int(height)
            continue
        piece, space = word.split("@")
        if piece == "K":
            king = space
        else:
            knights["ABCD".index(piece)].append(space)
    state = {"heights": heights, "knights": knights, "king": king}
    lines = draw_board(state).plain.splitlines()
    return "\n".join(line.rstrip() for line in lines) + "\n"


def test_the_rules_have_pictures() -> None:
    assert len(PICTURES) >= 4


@pytest.mark.parametrize(("page", "description", "shown"), PICTURES)
def test_a_picture_is_what_the_command_draws(
    page: str, description: str, shown: str
) -> None:
    assert shown == draw(description), page
