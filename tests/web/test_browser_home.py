"""The board of the home page in a real browser."""

import pytest
from playwright.sync_api import Browser, Page, expect

from tests import factories
from tests.web.test_accessibility import violations_everywhere
from tests.web.test_watching import begin, end, go_on

pytestmark = [
    pytest.mark.slow,
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
]


def test_the_board_of_the_home_page_follows_a_game(served_page: Page) -> None:
    page = served_page
    show = factories.everything()
    game, claim = begin(show.waiting, moves=5)
    page.goto("/")
    board = page.locator("#live-board")

    expect(board.locator("svg .cell").first).to_be_visible()
    expect(board.locator("img")).to_have_count(0)
    expect(board.locator(".moment")).to_contain_text("Phase 1")
    frames = page.request.get(f"/games/{game.pk}/frames.json").json()["frames"]
    towers = sum(map(bool, frames[-1]["heights"]))
    expect(board.locator(".level")).to_have_count(towers)
    go_on(claim, show.waiting, 5, 25)
    frames = page.request.get(f"/games/{game.pk}/frames.json").json()["frames"]
    towers = sum(map(bool, frames[-1]["heights"]))
    expect(board.locator(".level")).to_have_count(towers)
    scores = board.locator("[data-seat]")
    expect(scores.first).to_have_text(str(frames[-1]["scores"][0]))
    end(claim, show.waiting)
    expect(board.locator(".moment")).to_have_text("The game is over.")


def test_the_board_can_be_paused_and_goes_on_to_the_next_game(
    served_page: Page,
) -> None:
    page = served_page
    show = factories.everything()
    _, claim = begin(show.waiting, moves=5)
    following = factories.make_match(show.anas, show.bens, finished=0)
    page.goto("/")
    board = page.locator("figure.live")
    button = board.get_by_role("button")
    expect(button).to_have_text("Pause")
    button.click()
    go_on(claim, show.waiting, 5, 9)
    expect(button).to_have_text("Go on")
    button.click()
    page.locator("h1").click()
    end(claim, show.waiting)

    expect(board.locator(".moment")).to_have_text("The game is over.")
    game, _ = begin(following, moves=5)
    watch = board.get_by_role("link", name=f"Watch game {game.pk}")
    expect(watch).to_have_attribute("href", f"/games/{game.pk}/")
    expect(board.locator(".moment")).to_contain_text("Phase 1")


def test_the_home_page_with_a_running_game_violates_no_rule(
    chromium: Browser, served: str
) -> None:
    show = factories.everything()
    begin(show.waiting, moves=5)
    context = chromium.new_context(base_url=served)
    page = context.new_page()
    page.goto("/")
    expect(page.locator("#live-board .cell").first).to_be_visible()
    found = violations_everywhere(page)
    context.close()

    assert "\n".join(found) == ""


def test_without_scripts_the_home_page_has_a_picture(
    chromium: Browser, live_server, data_dir
) -> None:
    show = factories.everything()
    begin(show.waiting, moves=5)
    context = chromium.new_context(base_url=live_server.url, java_script_enabled=False)
    page = context.new_page()
    page.goto("/")

    picture = page.locator("#live-board img")
    expect(picture).to_be_visible()
    assert picture.evaluate("node => node.naturalWidth") > 0
    expect(page.locator("#live-board button")).to_be_hidden()
    context.close()
