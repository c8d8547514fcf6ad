"""Whole stories at the table, in each way of using a browser, each with its clock.

Somebody watches a running game and says who leads which castle; finds out why a game
was lost; plays a whole game by hand with hints; and solves a puzzle. `pytest -s` prints
how many choices and seconds each story takes. TESTS_PICTURES names a folder for a
picture of the end of each.
"""

import os
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from ladder.accounts import tokens
from ladder.extras.analysis import work
from ladder.extras.analysis.services import request_analysis
from ladder.extras.practice.models import PracticeGame, PracticeStatus
from ladder.extras.puzzles.collection import puzzles
from ladder.games.models import Game
from tests import browser, factories
from tests.analysis.test_analyses import person
from tests.conftest import needs_compiled
from tests.practice import factories as practice
from tests.web.test_accessibility import AXE_SCRIPT, violations
from tests.web.test_watching import begin

pytestmark = [
    pytest.mark.slow,
    pytest.mark.deep,
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
]
DESKTOP = {"width": 1440, "height": 900}
WAYS: dict[str, dict[str, Any]] = {
    "pointer": {"viewport": DESKTOP},
    "keyboard": {"viewport": DESKTOP},
    "phone": {"viewport": {"width": 390, "height": 844}, "has_touch": True},
    "dark": {"viewport": DESKTOP, "color_scheme": "dark"},
    # A zoom of 200 % halves the pixels that the page may use.
    "zoom": {"viewport": {"width": 720, "height": 450}, "device_scale_factor": 2},
    "narrow": {"viewport": {"width": 320, "height": 568}, "has_touch": True},
}


READY = "#finish:enabled:visible, #send:enabled:visible"
# The turn was taken, even if the bot has answered already.
SENT = """() => document.getElementById("turn")?.hidden !== false
  || !document.querySelector("#steps li")"""


class Visitor(NamedTuple):
    """Somebody at a page, who uses it in one way, and the clock of the story."""

    page: Page
    way: str
    began: float
    choices: list[str]

    def choose(self, what: Locator) -> None:
        """Use a link, a button or a space of the board, and count it."""
        self.choices.append(str(what))
        if self.way == "keyboard":
            assert what.evaluate("node => node.tabIndex") >= 0, what
            what.focus()
            self.page.keyboard.press("Enter")
        elif self.way in ("phone", "narrow"):
            what.tap()
        else:
            what.click()

    def check(self) -> None:
        """The page violates no rule of WCAG, and fits into the window."""
        self.page.evaluate(AXE_SCRIPT)
        assert violations(self.page) == []
        width = self.page.evaluate("document.documentElement.scrollWidth")
        assert width <= WAYS[self.way]["viewport"]["width"], self.page.url

    def tell(self, story: str) -> None:
        seconds = time.monotonic() - self.began
        count = len(self.choices)
        print(f"{story}, {self.way}: {count} choices, {seconds:.1f} s", flush=True)
        if folder := os.environ.get("TESTS_PICTURES"):
            Path(folder).mkdir(exist_ok=True)
            self.page.screenshot(path=Path(folder) / f"{story}, {self.way}.png")


@pytest.fixture(params=WAYS)
def visitor(
    request: pytest.FixtureRequest, chromium: Browser, served: str
) -> Iterator[Visitor]:
    """Ana, signed in, in each way of using a browser."""
    way = request.param
    options = {"reduced_motion": "reduce"} | WAYS[way]
    with browser.opened(chromium, served, **options) as page:
        practice.person()
        page.goto("/sign-in/")
        page.fill("[name=token]", tokens.token_for("ana"))
        page.get_by_role("button", name="Sign in with the token").click()
        page.wait_for_url("**/me/")
        yield Visitor(page, way, time.monotonic(), [])


def test_a_running_game_shows_who_leads_which_castle(visitor: Visitor) -> None:
    show = factories.everything()
    game, _ = begin(show.waiting, moves=70)
    page = visitor.page
    page.goto("/games/")
    visitor.choose(page.locator(f"a[href='/games/{game.pk}/']").first)
    expect(page.locator("#count")).to_have_text("70 of 70")

    buttons = page.locator("#castles button")
    told = page.locator("#castle")
    read = []
    for index in range(buttons.count()):
        if visitor.way == "keyboard" and index:
            page.keyboard.press("ArrowRight")
            visitor.choices.append("the next castle")
        elif visitor.way == "keyboard":
            buttons.first.focus()
        else:
            visitor.choose(buttons.nth(index))
        expect(told).to_contain_text("The castle at ")
        read.append(told.inner_text())
    visitor.tell("who leads which castle")

    frames = page.request.get(f"/games/{game.pk}/frames.json").json()
    castles = frames["frames"][-1]["castles"]
    assert len(read) == len(castles) > 0
    for words, castle in zip(read, castles, strict=True):
        points = {
            name: int(count)
            for count, name in re.findall(r"= (\d+) for ([^,]+?)(?:,|\.$)", words)
        }
        best = [name for name in points if points[name] == max(points.values())]
        leader = castle["leader"]
        alone = best if len(best) == 1 else []
        assert alone == ([] if leader is None else [frames["players"][leader]]), words
    visitor.check()


def lost_game(show: factories.Show) -> Game:
    """Return a game that Grendel lost: one of two with other seats and equal moves."""
    swapped = factories.make_match(show.bens, show.anas)
    games = Game.objects.filter(match__in=(show.match, swapped))
    return games.get(seats__bot=show.anas.bot, seats__rank__gt=1)


@needs_compiled
def test_a_lost_game_explains_itself(
    visitor: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work, "GAMES", 8)
    show = factories.everything()
    lost = lost_game(show)
    request_analysis(person("ana"), lost)
    work.work_off()
    page = visitor.page
    page.goto("/me/")

    visitor.choose(page.get_by_role("link", name="Grendel").first)
    visitor.choose(page.locator(f"a[href='/games/{lost.pk}/']").first)
    expect(page.get_by_role("heading", name="The story of this game")).to_be_visible()
    card = page.locator(".turning li", has=page.locator(".turn-better")).first
    expect(card).to_contain_text("Chance to win from")
    expect(card.locator("figure img")).to_have_count(2)
    expect(card.locator(".turn-played")).to_contain_text("Played:")
    better = card.locator(".turn-better")
    expect(better).to_contain_text("keeps a chance of")
    visitor.check()
    visitor.choose(better.get_by_role("link"))
    expect(page.locator("#board .cell")).to_have_count(64)
    expect(page.locator("#main")).to_contain_text("The line:")
    visitor.tell("the cause of a loss and a better turn")
    assert len(visitor.choices) <= 4
    visitor.check()


def decide(visitor: Visitor) -> None:
    """Answer one question: with the first of the good turns, or in a simple way."""
    page, steps = visitor.page, visitor.page.locator("#steps li")
    if "action point" in page.locator("#task").inner_text():
        if visitor.way == "keyboard":
            page.locator("#main").focus()
            page.keyboard.press("h")
        else:
            visitor.choose(page.locator("#ask"))
        page.locator("#hints > *").first.wait_for()
        good = page.locator("#hints .option").first
        if good.is_visible():
            expect(good).to_contain_text("(")
            visitor.choose(good)
            page.locator(READY).first.wait_for()
    elif page.locator("#options .option").first.is_visible():
        visitor.choose(page.locator("#options .option").first)
        steps.first.wait_for()
    else:
        target = page.locator("#board .target").first
        target.focus()
        page.keyboard.press("Enter")
        visitor.choices.append("a space of the board")
        steps.first.wait_for()
    visitor.choose(page.locator(READY).first)
    page.wait_for_function(SENT)


@needs_compiled
def test_a_game_is_played_by_hand_with_hints(visitor: Visitor, settings) -> None:
    factories.make_bot("mason", "ana")
    page = visitor.page
    page.goto("/play/")
    page.select_option("#id_seat", "0")
    visitor.choose(page.get_by_role("button", name="Play", exact=True))
    page.wait_for_url("**/play/*/")
    again = page.get_by_role("button", name="Play again")
    checked = False
    with practice.hosting(open_player=practice.noting):
        while not again.is_visible():
            if page.locator("#turn").is_visible():
                if not checked and "action point" in page.inner_text("#task"):
                    visitor.check()
                    checked = True
                decide(visitor)
            page.wait_for_timeout(50)
    expect(page.locator("#count")).to_contain_text(" of ")
    visitor.tell("a whole game by hand")

    game = PracticeGame.objects.get()
    assert game.status == PracticeStatus.FINISHED
    expect(page.get_by_role("table", name="Result")).to_be_visible()
    visitor.check()


def test_a_puzzle_is_solved(visitor: Visitor) -> None:
    page = visitor.page
    page.goto("/puzzles/")
    visitor.choose(page.locator("[data-puzzle] a, a[data-puzzle]").first)
    page.wait_for_url("**/puzzles/*/")
    number = int(page.url.rstrip("/").rpartition("/")[2])
    puzzle = puzzles()[number - 1]
    visitor.choose(page.locator("#everything summary"))
    for count, action in enumerate(puzzle.solution[:-1], start=1):
        page.select_option("#legal", action)
        visitor.choose(page.locator("#choose"))
        expect(page.locator("#steps li")).to_have_count(count)
    visitor.check()
    visitor.choose(page.locator("#finish"))
    expect(page.get_by_role("status")).to_contain_text("This is the best turn.")
    visitor.tell("a puzzle")
    visitor.check()
