"""Somebody who never heard of Torres comes to a running service, with a clock.

The story goes from the home page over the lessons and a guest's game to an account that
keeps this game, then from the editor to the first rated game. The person reads the text
of each step, which a script would skip, at the usual speed of a reader.
"""

import os
import time
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests import browser
from tests.ops.running import environment, running_service
from tests.web.test_learn import SOLUTIONS
from tests.web.test_walk_through import PASSWORD

pytestmark = [
    pytest.mark.browser,
    pytest.mark.sandbox,
    pytest.mark.skipif(os.geteuid() != 0, reason="level full needs root here"),
]
# Adults read 238 words of non-fiction a minute (Brysbaert 2019, over 190 studies).
WORDS_PER_S = 238 / 60
FIRST_MOVE_S = 60.0
FIRST_TRIAL_S = 180.0
FIRST_RATED_GAME_MS = 300_000


class Laps:
    """Prints and returns the time of each step since the last start."""

    def __init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        self.began = time.monotonic()

    def lap(self, step: str) -> float:
        seconds = time.monotonic() - self.began
        print(f"{step}: {seconds:.1f} s", flush=True)
        return seconds


def read(page: Page, *selectors: str) -> None:
    """Take the time that a person needs for the texts of these elements."""
    texts = page.locator(", ".join(selectors)).all_inner_texts()
    words = len(" ".join(texts).split())
    assert words > 0, selectors
    page.wait_for_timeout(words / WORDS_PER_S * 1000)


def solve(page: Page, number: int) -> None:
    read(page, ".lead", "#task")
    page.locator(f".tiles a[href='?space={SOLUTIONS[number - 1]}']").click()
    expect(page.get_by_role("status")).to_contain_text("Right.")


def learn(page: Page, clock: Laps) -> float:
    """Go from the home page through all lessons; return the time of the first move."""
    page.goto("/")
    expect(page.locator(".hero .lead")).to_contain_text("castle brings")
    read(page, ".hero h1", ".hero .lead")
    page.get_by_role("link", name="Learn to play in two minutes").click()
    solve(page, 1)
    first_move_s = clock.lap("home, what a castle scores, first own move on a board")
    for number in range(2, len(SOLUTIONS) + 1):
        read(page, "main [role=status]")
        page.get_by_role("link", name="Next").click()
        solve(page, number)
    clock.lap("all six lessons")
    return first_move_s


def play_as_guest(page: Page, clock: Laps) -> str:
    """Begin a game without an account and answer once; return its address."""
    page.get_by_role("link", name="Play without an account").click()
    read(page, "main .lead")
    page.get_by_role("button", name="Play without an account").click()
    page.wait_for_url("**/play/*/")
    expect(page.locator("#turn")).to_be_visible()
    page.locator("#board .target").first.click(force=True)
    expect(page.locator("#send")).to_be_enabled()
    browser.send_turn(page)
    clock.lap("first own move against a bot, as a guest")
    return page.url


def sign_up_to_keep(page: Page, game: str, clock: Laps) -> None:
    page.get_by_role("main").get_by_role("link", name="Sign up").click()
    page.get_by_label("User name").fill("newcomer")
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_label("The same password again").fill(PASSWORD)
    page.get_by_role("button", name="Create the account").click()
    page.wait_for_url(game)
    expect(page.locator("#board")).to_be_visible()
    expect(page.get_by_text("You play as a guest")).to_have_count(0)
    clock.lap("an account that keeps the game")


def run_a_trial(page: Page, clock: Laps) -> float:
    """Run the first bot of the editor; return the time to the finished game."""
    page.goto("/")
    page.get_by_role("link", name="Build", exact=True).click()
    read(page, "main .lead", ".outcome")
    page.get_by_role("button", name="Run a game").click()
    expect(page.locator("#outcome h2")).to_contain_text("against house:")
    expect(page.locator("#viewer.ready")).to_be_visible()
    return clock.lap("home, editor, first finished test game in the viewer")


def submit(page: Page, clock: Laps) -> None:
    page.get_by_label("Name of a new bot").fill("first-steps")
    page.get_by_role("button", name="Submit", exact=True).click()
    page.locator("ol.progress").wait_for()
    done = page.locator("ol.progress > li").nth(3)
    expect(done).to_contain_text("First rated game done", timeout=FIRST_RATED_GAME_MS)
    clock.lap("submitted, checked, first rated game")


def test_somebody_new_learns_plays_builds_and_is_rated(
    chromium: Browser, tmp_path: Path
) -> None:
    for folder in (tmp_path, *tmp_path.parents[:3]):
        folder.chmod(0o755)  # bots read copies in it
    home = environment(tmp_path, TORRES_SIGN_UP="open")
    with (
        running_service(home, "--demo", "--slots", "1") as (url, _),
        browser.opened(chromium, url) as page,
    ):
        _wait_for_the_house(page)
        clock = Laps()
        first_move_s = learn(page, clock)
        game = play_as_guest(page, clock)
        sign_up_to_keep(page, game, clock)
        clock.restart()
        first_trial_s = run_a_trial(page, clock)
        clock.restart()
        submit(page, clock)
        page.get_by_role("link", name="Watch it climb").click()
        expect(page.locator("h1")).to_contain_text("first-steps")

    assert first_move_s <= FIRST_MOVE_S
    assert first_trial_s <= FIRST_TRIAL_S


def _wait_for_the_house(page: Page) -> None:
    """Wait until the service has played its first games, as a visitor would find it."""
    page.goto("/games/")
    while not page.get_by_text("finished").first.is_visible():
        page.wait_for_timeout(1000)
        page.reload()
