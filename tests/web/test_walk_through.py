"""One person uses a running service in a browser, from signing up to a game by hand.

Nothing is prepared: the house bots, the workers and the ratings are those of
`manage.py up --demo`. `opened` fails if a script fails, if a page holds an inline
script or asks another host, or if the browser reports an error.
"""

import json
import os
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests import browser
from tests.ops.running import environment, running_service
from tests.practice.test_practice_browser import answer_simply
from tests.web.test_browser_pages import KIT, drop, step

pytestmark = [
    pytest.mark.browser,
    pytest.mark.sandbox,
    pytest.mark.skipif(os.geteuid() != 0, reason="level full needs root here"),
]
PASSWORD = "four words without sense"
PHONE = {"width": 390, "height": 844}
FIRST_GAME_MS = 180_000
# The page of a game by hand shows each action of a bot for 650 ms.
QUICK_BOTS = """const later = setTimeout;
globalThis.setTimeout = (call, ms, ...values) =>
  later(call, ms === 650 ? 0 : ms, ...values);"""


def sign_up(page: Page) -> None:
    page.goto("/")
    page.get_by_role("link", name="Sign up").click()
    page.get_by_label("User name").fill("ada")
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_label("The same password again").fill(PASSWORD)
    page.get_by_role("button", name="Create the account").click()
    expect(page.get_by_text("Your account is ready.")).to_be_visible()


def make_token(page: Page) -> str:
    page.goto("/me/tokens/")
    page.get_by_label("What the token is for").fill("laptop")
    page.get_by_role("button", name="Create token").click()
    token = page.locator("#token").inner_text()
    page.goto("/me/tokens/")
    expect(page.locator("#token")).to_have_count(0)
    expect(page.get_by_text("laptop")).to_be_visible()
    return token


def upload(page: Page) -> None:
    """Create a bot, drop its program, and wait without touching the page."""
    page.goto("/me/")
    page.get_by_label("Name of a new bot").fill("mason")
    page.get_by_role("button", name="Create bot").click()
    expect(page.locator("h1")).to_contain_text("mason")
    drop(page, ("bot.py", KIT.read_text()))
    expect(page.locator(step(page, 1))).to_contain_text("Uploaded done")
    done = page.locator(step(page, 4))
    expect(done).to_contain_text("First rated game done", timeout=FIRST_GAME_MS)


def see_the_replay(page: Page, folder: Path) -> None:
    """Step to the end, share a position, download the replay and drop it."""
    page.get_by_role("link", name="Replay of its first rated game").click()
    expect(page.locator("h1")).to_contain_text("finished")
    number = page.url.split("/games/")[1].split("/")[0]
    result = page.request.get(f"/api/v1/games/{number}/").json()
    go_to_the_end(page)
    for place, seat in enumerate(result["seats"]):
        shown = page.locator(f'#players [data-seat="{place}"] .score')
        expect(shown).to_have_text(str(seat["score"]))

    page.locator("#turns .turn").nth(7).click()
    expect(page.locator("#turns .turn").nth(7)).to_have_class("turn now")
    description = page.locator("#description").inner_text()
    tab = page.context.new_page()
    tab.goto(page.url)
    expect(tab.locator("#description")).to_have_text(description)

    with tab.expect_download() as download:
        tab.get_by_role("link", name="Download the replay").click()
    file = folder / "game.json"
    download.value.save_as(file)
    assert json.loads(file.read_text())["format"] == "torres-replay/1"
    tab.goto("/replay/")
    drop(tab, ("game.json", file.read_text()))
    expect(tab.locator("h1")).to_have_text("game.json")
    go_to_the_end(tab)
    tab.close()


def go_to_the_end(page: Page) -> None:
    """Wait until the viewer shows a position, because its buttons do nothing before."""
    expect(page.locator("#description")).not_to_be_empty()
    page.click("#last")
    expect(page.locator("#description")).to_contain_text("the game is over")


def find_the_bot(page: Page) -> None:
    """Go from the leaderboard to the page of the bot with the keyboard alone."""
    page.goto("/leaderboard/")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    link = page.get_by_role("link", name="mason", exact=True).first
    for _ in range(200):
        page.keyboard.press("Tab")
        if link.evaluate("link => link === document.activeElement"):
            break
    expect(link).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_contain_text("mason")
    expect(page.get_by_role("heading", name="Latest games")).to_be_visible()


def play_by_hand(page: Page) -> None:
    page.goto("/play/?bot=house-random")
    page.select_option("#id_seat", "0")
    page.get_by_role("button", name="Play", exact=True).click()
    page.wait_for_url("**/play/*/")
    again = page.get_by_role("button", name="Play again")
    turn = page.locator("#turn")
    while not again.is_visible():
        turn.or_(again).first.wait_for()
        if turn.is_visible():
            answer_simply(page)
    go_to_the_end(page)


def fits(page: Page) -> bool:
    return bool(page.evaluate("document.body.scrollWidth <= innerWidth"))


def is_dark(page: Page) -> bool:
    colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
    return max(map(int, colour.removeprefix("rgb(")[:-1].split(","))) < 64


@pytest.mark.slow
@pytest.mark.long
def test_a_person_climbs_the_ladder_in_a_browser(
    chromium: Browser, tmp_path: Path
) -> None:
    for folder in (tmp_path, *tmp_path.parents[:3]):
        folder.chmod(0o755)  # bots read copies in it
    home = environment(tmp_path)
    with running_service(home, "--demo", "--slots", "1") as (url, _):
        with browser.opened(chromium, url, QUICK_BOTS, reduced_motion="reduce") as page:
            sign_up(page)
            token = make_token(page)
            upload(page)
            see_the_replay(page, tmp_path)
            find_the_bot(page)
            play_by_hand(page)
        with browser.opened(chromium, url, color_scheme="dark", viewport=PHONE) as page:
            page.goto("/sign-in/")
            page.get_by_label("Your API token").fill(token)
            page.get_by_role("button", name="Sign in with the token").click()
            expect(page.get_by_text("You are ada.")).to_be_visible()
            for address in ("/", "/me/", "/bots/mason/", "/play/", "/docs/"):
                page.goto(address)
                assert fits(page), address
            background = page.evaluate(
                "getComputedStyle(document.body).backgroundColor"
            )
            assert max(map(int, background[4:-1].split(","))) < 64, background
