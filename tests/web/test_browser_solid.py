"""The board in 3D: loaded on demand, turned, and in step with the replay."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests import factories
from tests.browser import opened
from tests.engine.factories import random_replay
from torres.cli.view import page_of

pytestmark = [
    pytest.mark.slow,
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
]
NO_WEBGL = "HTMLCanvasElement.prototype.getContext = () => null;"
LOOKS = 100


def other_picture(canvas: Locator, before: bytes, act: Callable[[], None]) -> bytes:
    """Act, and return the first picture of the canvas that differs from before."""
    act()
    for _ in range(LOOKS):
        picture = canvas.screenshot()
        if picture != before:
            return picture
        canvas.page.wait_for_timeout(50)
    raise AssertionError("the canvas has not changed")


def test_the_board_in_3d_turns_and_follows_the_replay(page: Page) -> None:
    show = factories.everything()
    scripts: list[str] = []
    page.on("request", lambda request: scripts.append(request.url.split("/")[-1]))
    page.emulate_media(reduced_motion="reduce")
    page.goto(f"/games/{show.game.pk}/#ply=60")
    expect(page.locator("#count")).to_contain_text("60 of")
    assert "viewer.js" in scripts
    assert not {"solid.js", "solids.js", "webgl.js"}.intersection(scripts)

    page.click("#solid")
    expect(page.locator("#solid")).to_have_attribute("aria-pressed", "true")
    canvas = page.locator("canvas.solid")
    flat = page.locator("#board").bounding_box()
    assert canvas.bounding_box() == flat
    first = other_picture(canvas, b"", canvas.focus)
    turned = other_picture(canvas, first, lambda: page.keyboard.press("ArrowRight"))
    nearer = other_picture(canvas, turned, lambda: page.keyboard.press("+"))
    expect(page.locator("#count")).to_contain_text("60 of")
    page.locator("#main").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator("#count")).to_contain_text("61 of")
    after = other_picture(canvas, nearer, lambda: None)
    x, y = (flat["x"] + flat["width"] / 2, flat["y"] + flat["height"] / 2)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 80, y + 20)
    page.mouse.up()
    other_picture(canvas, after, lambda: None)

    page.click("#solid")
    expect(canvas).to_have_count(0)
    expect(page.locator("#board")).to_have_css("opacity", "1")


def test_without_webgl_the_flat_board_stays(chromium: Browser, live_server) -> None:
    show = factories.everything()
    with opened(chromium, live_server.url, NO_WEBGL) as page:
        page.goto(f"/games/{show.game.pk}/")
        page.click("#solid")
        expect(page.locator("#solid")).to_have_text("3D needs WebGL, which is off here")
        expect(page.locator("#solid")).to_have_attribute("aria-pressed", "false")
        expect(page.locator("canvas")).to_have_count(0)
        expect(page.locator("#board")).to_have_css("opacity", "1")


def test_a_file_of_torres_view_has_the_board_in_3d(page: Page, tmp_path: Path) -> None:
    file = tmp_path / "game.html"
    file.write_text(page_of(random_replay("yucata", 4, "solid"), "game"))
    page.goto(file.as_uri())

    page.click("#solid")

    expect(page.locator("canvas.solid")).to_be_visible()
