"""A person plays in a real browser: clicks, keys, undo, and the end of the game."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from ladder.accounts import tokens
from ladder.extras.practice.models import PracticeGame, PracticeStatus
from tests import browser, factories as rows
from tests.practice import factories

pytestmark = [
    pytest.mark.slow,
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
]


@pytest.fixture
def page(chromium: Browser, live_server, data_dir: Path) -> Iterator[Page]:
    """Ana's page. The test fails if a script fails or the CSP blocks something."""
    # From above no figure stands before a space.
    from_above = "localStorage['torres-play'] ??= JSON.stringify({view: 'top'})"
    with browser.opened(
        chromium, live_server.url, from_above, reduced_motion="reduce"
    ) as page:
        page.goto("/sign-in/")
        page.fill("[name=token]", tokens.token_for("ana"))
        page.get_by_role("button", name="Sign in with the token").click()
        page.wait_for_url("**/me/")
        yield page


def begin(page: Page) -> PracticeGame:
    rows.make_bot("mason", "ana")
    page.goto("/play/")
    page.select_option("#id_seat", "0")
    page.get_by_role("button", name="Play", exact=True).click()
    page.wait_for_url("**/play/*/")
    return PracticeGame.objects.get()


def answer_simply(page: Page) -> None:
    """End the turn, or make the first choice that is offered."""
    steps = page.locator("#steps li")
    if page.locator("#finish").is_visible():
        browser.send_turn(page, "finish")
        return
    count = steps.count()
    if page.locator("#options .option").first.is_visible():
        page.locator("#options .option").first.click()
    else:
        page.locator("#board .target").first.click(force=True)
    steps.nth(count).wait_for()
    expect(steps).to_have_count(count + 1)
    if page.locator("#send").is_enabled():
        browser.send_turn(page)


def reach_turn(page: Page) -> None:
    """Go on until Ana has action points."""
    task = page.locator("#task")
    expect(page.locator("#turn")).to_be_visible()
    while "action point" not in task.inner_text():
        page.locator("#board .target").first.click(force=True)
        expect(page.locator("#send")).to_be_enabled()
        browser.send_turn(page)
        expect(page.locator("#turn")).to_be_visible()


def test_a_good_turn_is_shown_tried_and_sent(page: Page) -> None:
    begin(page)
    with factories.hosting():
        reach_turn(page)
        steps = page.locator("#steps li")
        page.locator("#main").focus()
        page.keyboard.press("h")
        hints = page.locator("#hints .option")
        expect(hints).to_have_count(3)
        expect(hints.first).to_contain_text(" at the scoring)")

        hints.first.click()
        expect(page.locator("#hints .option")).to_have_count(0)
        expect(steps.first).to_be_visible()
        page.click("#restart")
        expect(steps).to_have_count(0)
        page.click("#ask")
        expect(hints).to_have_count(3)


def test_a_turn_is_made_with_clicks_taken_back_and_sent(page: Page) -> None:
    game = begin(page)
    with factories.hosting():
        reach_turn(page)
        task = page.locator("#task")
        steps = page.locator("#steps li")
        expect(task).to_have_text("Your turn: 5 action points left.")

        page.locator("#kinds button", has_text="Build").click()
        page.locator("#board .target .cell").first.hover(force=True)
        expect(page.locator("#gain")).to_contain_text(": Build on ")
        page.locator("#board .target").first.click(force=True)
        expect(steps).to_have_count(1)
        expect(task).to_have_text("Your turn: 4 action points left.")
        page.click("#undo")
        expect(steps).to_have_count(0)
        expect(task).to_have_text("Your turn: 5 action points left.")
        mine = game.moves.filter(seat=0)
        words = [word for move in mine for word in move.actions]
        assert not [word for word in words if word.startswith("block")]

        page.locator("#kinds button", has_text="Everything").click()
        page.locator("#options button", has_text="Take a point (+1 now)").click()
        expect(steps).to_have_text("Take a point score +1 now")
        page.locator("#options button", has_text="Buy a card").click()
        expect(task).to_contain_text("complete")
        page.click("#send")
        expect(page.locator("#hand .drawn")).to_have_count(3)
        expect(task).to_have_text("Keep one of the cards that you drew.")

    sent = [move.actions for move in game.moves.filter(seat=0)]
    assert ["score", "buy"] in sent


def test_the_keyboard_is_enough(page: Page) -> None:
    begin(page)
    with factories.hosting():
        expect(page.locator("#turn")).to_be_visible()
        page.locator("#board .target").first.focus()
        page.keyboard.press("Enter")
        expect(page.locator("#send")).to_be_focused()
        page.keyboard.press("Enter")
        expect(page.locator("#steps li")).to_have_count(0)
        reach_turn(page)

        page.locator("#main").focus()
        page.keyboard.press("v")
        expect(page.locator("#view")).to_have_text("From above")
        page.locator("#everything summary").press("Enter")
        page.locator("#legal").focus()
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        expect(page.locator("#steps li")).to_have_count(1)
        page.locator("#main").focus()
        page.keyboard.press("u")
        expect(page.locator("#steps li")).to_have_count(0)


def test_the_focus_stays_while_nothing_changes(page: Page) -> None:
    """A request without a tag gets the same state again."""

    def ask_without_tag(route: Route) -> None:
        headers = {**route.request.headers}
        headers.pop("if-none-match", None)
        route.continue_(headers=headers)

    page.route("**/state.json*", ask_without_tag)
    begin(page)
    with factories.hosting():
        reach_turn(page)
        target = page.locator("#board .target").first
        target.focus()
        for _ in range(2):  # the page has taken the first before it asks for the second
            with page.expect_response("**/state.json*") as answer:
                pass
            assert answer.value.status == 200
        expect(target).to_be_focused()


def test_a_knight_is_moved_with_two_clicks(page: Page) -> None:
    game = begin(page)
    with factories.hosting():
        reach_turn(page)
        page.locator("#kinds button", has_text="Move").click()
        page.locator("#board .target").first.click(force=True)
        expect(page.locator("#options")).to_contain_text("Selected:")
        page.locator("#board .target").first.focus()
        page.locator("#headline").hover()  # the focused space stays explained
        expect(page.locator("#gain")).to_contain_text(": Move a knight from ")
        page.locator("#board .target").first.click(force=True)
        expect(page.locator("#steps li")).to_contain_text("Move a knight")
        expect(page.locator("#board line.way")).to_have_count(1)
        expect(page.locator("#board .touched")).to_have_count(2)
        browser.send_turn(page, "finish")

        def turn() -> list[str] | None:
            mine = [move.actions for move in game.moves.filter(seat=0)]
            return next((each for each in mine if each[0].startswith("move ")), None)

        assert factories.until(turn)[-1].startswith("end")


@pytest.mark.deep
def test_a_game_is_played_to_its_end_and_shown(page: Page) -> None:
    game = begin(page)
    with factories.hosting(open_player=factories.noting):
        while not page.get_by_role("button", name="Play again").is_visible():
            if page.locator("#turn").is_visible():
                answer_simply(page)
            page.wait_for_timeout(50)

    assert factories.fresh(game).status == PracticeStatus.FINISHED
    page.click("#last")
    expect(page.locator("#description")).to_contain_text("the game is over")
    expect(page.get_by_role("link", name="Download the replay")).to_be_visible()
    page.get_by_role("button", name="Play again").click()
    expect(page.locator("#headline")).to_be_visible()
