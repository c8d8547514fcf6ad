"""The browser and the server draw the same picture of a position."""

import re
from pathlib import Path
from random import Random
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from playwright.sync_api import Browser, Page

from tests.engine.factories import RULESETS_AND_SEATS, random_replay
from torres.cli.view import page_of
from torres.common.json_object import JsonObject
from torres.drawing import frames
from torres.drawing.board_scene import top
from torres.drawing.board_svg import board_markup, board_svg

POSITIONS = 200
DRAWN = """async (frames) => {
  const { Board } = await import("board.js");
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  document.body.append(svg);
  const board = new Board(svg);
  return frames.map((frame) => {
    board.show(frame, {});
    return svg.innerHTML;
  });
}"""
CUT = """async (frames) => {
  const { Board } = await import("board.js");
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  document.body.append(svg);
  const board = new Board(svg);
  const cut = (frame, quarters) => {
    board.show(frame, { quarters });
    return svg.viewBox.baseVal.y - svg.getBBox().y;
  };
  const sides = [0, 1, 2, 3];
  return frames.flatMap((frame) => sides.map((quarters) => cut(frame, quarters)));
}"""
TOPS = """async (frames) => {
  const { Board } = await import("board.js");
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const board = new Board(svg);
  return frames.map((frame) => {
    board.show(frame, {});
    return svg.viewBox.baseVal.y;
  });
}"""
CUT_ON_THE_SERVER = """markups => {
  const board = document.getElementById("board");
  board.setAttribute("viewBox", "0 52 524 352");
  return markups.map(markup => {
    board.innerHTML = markup;
    return board.viewBox.baseVal.y - board.getBBox().y;
  });
}"""
FROM_ABOVE = """async (frame) => {
  const { Board } = await import("board.js");
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  document.body.append(svg);
  new Board(svg).show(frame, { view: "top" });
  const rings = [...svg.querySelectorAll(".ring")];
  return rings.map((ring) => Number(ring.getAttribute("width")));
}"""
FILLS = "nodes => nodes.map(node => getComputedStyle(node).fill)"


@pytest.fixture
def viewer(chromium: Browser, tmp_path: Path) -> Page:
    file = tmp_path / "game.html"
    file.write_text(page_of(random_replay("yucata", 2, "scene"), "game"))
    page = chromium.new_page()
    page.goto(file.as_uri())
    return page


@pytest.fixture(scope="module")
def positions() -> list[JsonObject]:
    """Positions of games of all rulesets and table sizes, scorings included."""
    found = []
    for ruleset, seats in RULESETS_AND_SEATS:
        shown = frames.of_replay(random_replay(ruleset, seats, "scene"))
        found += [frame for frame in shown if frame.get("ends_phase")]
        found += Random(ruleset).sample(shown, POSITIONS // len(RULESETS_AND_SEATS) + 1)
    assert len(found) >= POSITIONS
    return found


def marks(markup: str) -> list[tuple[Any, ...]]:
    """Return the marks of a picture: names, numbers and texts, in any order."""
    found = []
    for node in ET.fromstring(f"<svg>{markup}</svg>").iter():
        names = node.get("class", "").split()
        if not names or names == ["points"] or "space" in names:
            continue
        figure = {"knight", "king"}.intersection(names)
        numbers = node.get("transform" if figure else "d", "")
        if node.tag == "text":
            numbers = f"{node.get('x')} {node.get('y')}"
        path = tuple(round(float(each), 1) for each in re.findall(r"-?[\d.]+", numbers))
        found.append((" ".join(sorted(names)), path, node.text or ""))
    return sorted(found)


@pytest.mark.slow
@pytest.mark.browser
def test_both_draw_the_same_marks(viewer: Page, positions: list[JsonObject]) -> None:
    drawn = viewer.evaluate(DRAWN, positions)

    for frame, html in zip(positions, drawn, strict=True):
        markup = html.replace(' xmlns="http://www.w3.org/2000/svg"', "")
        plain = {**frame, "ends_phase": False}
        one, other = (
            [each for each in marks(text) if "points" not in each[0]]
            for text in (
                re.sub(r'<g class="points".*', "", markup),
                board_markup(plain),
            )
        )
        assert one == other
        if frame.get("ends_phase"):
            values = re.findall(r">(\d+)</text>", markup.partition('"points"')[2])
            rows = [row for castle in frame["castles"] for row in castle["seats"]]
            assert values == [str(points) for _, _, points in rows]
            assert all(f">{value}</text>" in board_markup(frame) for value in values)


@pytest.mark.slow
@pytest.mark.browser
def test_no_tower_covers_what_is_above_the_board(
    viewer: Page, positions: list[JsonObject]
) -> None:
    frame = positions[0]
    high = [
        frame | {"heights": [levels * (space == index) for index in range(64)]}
        for levels in (5, 12, 41)
        for space in (0, 7, 35, 56, 63)
    ]
    label = 8  # units that the points of a castle stand out

    assert max(viewer.evaluate(CUT, [*positions, *high])) <= label
    markups = [board_markup(each) for each in [*positions, *high]]
    assert max(viewer.evaluate(CUT_ON_THE_SERVER, markups)) <= label
    tops = [top(each["heights"]) for each in [*positions, *high]]
    assert viewer.evaluate(TOPS, [*positions, *high]) == tops


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_both_use_the_same_colours(
    viewer: Page, positions: list[JsonObject], scheme: Any
) -> None:
    frame = max(positions, key=lambda each: max(each["heights"]))
    viewer.emulate_media(color_scheme=scheme)
    viewer.evaluate(
        "markup => document.getElementById('board').innerHTML = markup",
        board_markup(frame),
    )
    picture = board_svg(frame, [""] * len(frame["scores"]), dark=scheme == "dark")
    viewer.evaluate(
        """text => {
          const picture = new DOMParser().parseFromString(text, "image/svg+xml");
          picture.documentElement.id = "picture";
          document.body.append(document.importNode(picture.documentElement, true));
        }""",
        picture,
    )

    kinds = viewer.locator("#board [class]").evaluate_all(
        "nodes => nodes.map(node => node.getAttribute('class'))"
    )
    ours = viewer.locator("#board [class]").evaluate_all(
        "nodes => nodes.map(node =>"
        " getComputedStyle(node.querySelector('path') ?? node).fill)"
    )
    theirs = viewer.locator("#picture > :not(title)").evaluate_all(FILLS)
    pairs = zip(kinds, ours, theirs, strict=True)
    different = {
        (kind, one, other)
        for kind, one, other in pairs
        # The roof shows through a tint and a ghost in the browser.
        if one != other and not re.match("tint|.*ghost", kind)
    }
    assert different == set()


@pytest.mark.slow
@pytest.mark.browser
def test_a_high_tower_is_drawn_from_above(
    viewer: Page, positions: list[JsonObject]
) -> None:
    frame = {**positions[0], "heights": [20, *positions[0]["heights"][1:]]}

    widths = viewer.evaluate(FROM_ABOVE, frame)

    assert len(widths) >= 19
    assert min(widths) > 0
