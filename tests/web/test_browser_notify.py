"""Notifications in a real browser: a click asks for them, a stream brings them."""

from collections.abc import Iterator

import pytest
from django.db import transaction
from playwright.sync_api import Browser, Page, expect

from ladder.events import outbox
from ladder.events.kinds import EventKind
from ladder.events.outbox import NewEvent
from tests import browser
from tests.factories import Show
from tests.tournaments.factories import tournament
from tests.web.test_accessibility import violations_everywhere

pytestmark = [
    pytest.mark.slow,
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
]
# Without a screen no notification can be seen, so the page keeps what it would show.
RECORDED = """
globalThis.notes = [];
const Real = globalThis.Notification;
globalThis.Notification = class {
  static permission = localStorage.getItem("answer") ?? "default";
  static async requestPermission() {
    globalThis.asked = (globalThis.asked ?? 0) + 1;
    const answer = globalThis.answer ?? "granted";
    localStorage.setItem("answer", answer);
    return Notification.permission = answer;
  }
  constructor(title, options) { notes.push(options); }
};
"""
NOTES = "() => notes.map((note) => note.body)"


def finish(game: int, *bots: str) -> None:
    """Tell that a game has ended, as the service does."""
    data = {"game": game, "bots": bots, "ladder": "main", "reason": "completed"}
    seats = [{"bot": bot, "rank": 1 + n, "score": 99} for n, bot in enumerate(bots)]
    data |= {"seats": seats, "url": f"/api/v1/games/{game}/"}
    tell(EventKind.GAME_FINISHED, **data)


def tell(kind: EventKind, **data: object) -> None:
    with transaction.atomic():
        outbox.record(NewEvent(kind, data))


@pytest.fixture
def watching(chromium: Browser, served: str, show: Show) -> Iterator[Page]:
    with browser.opened(chromium, served, script=RECORDED) as page:
        yield page


def switch_on(page: Page, address: str) -> None:
    page.goto(address)
    page.get_by_role("button", name="Notify me in this browser").click()
    expect(page.get_by_role("status").last).to_have_text(
        "On, while a page of this site is open."
    )


def test_a_click_asks_once_and_the_stream_tells_of_games(
    watching: Page, show: Show
) -> None:
    page, slug = watching, show.anas.bot.slug
    page.goto(f"/follow/?bot={slug}")
    assert page.evaluate("() => globalThis.asked") is None
    with page.expect_request("**/api/v1/events/*"):
        switch_on(page, f"/follow/?bot={slug}")
    expect(page.get_by_role("button", name="Stop notifications")).to_be_visible()
    assert "\n".join(violations_everywhere(page)) == ""
    with page.expect_request("**/api/v1/events/*"):
        page.goto("/")  # any page of the site tells it
    number = 1000
    while len(page.evaluate(NOTES)) == 0:  # the stream begins at some moment
        finish(number, "ben-bot", "cleo-bot")
        finish(number + 1, slug, "ben-bot")
        number += 2
        page.wait_for_timeout(300)
    page.wait_for_function("() => notes.length > 0")

    assert set(page.evaluate(NOTES)) == {f"{slug} against ben-bot has ended."}
    tags = page.evaluate("() => notes.map((note) => note.tag)")
    assert all(tag.startswith("/games/") for tag in tags)


def test_one_page_of_several_listens(watching: Page, show: Show) -> None:
    switch_on(watching, f"/follow/?bot={show.anas.bot.slug}")
    other = watching.context.new_page()
    other.goto("/")
    held, waiting = other.evaluate(
        "async () => { const { held, pending } = await navigator.locks.query();"
        " return [held.length, pending.length]; }"
    )

    assert (held, waiting) == (1, 1)
    with other.expect_request("**/api/v1/events/*"):
        watching.close()  # the other page goes on


def test_a_ladder_is_spoken_of_once_a_minute_and_a_tournament_each_round(
    watching: Page, show: Show
) -> None:
    page = watching
    cup = tournament({"format": "round_robin"}).slug
    switch_on(page, "/follow/?ladder=main")
    with page.expect_request("**/api/v1/events/*"):
        switch_on(page, f"/follow/?tournament={cup}")
    round_ = 0
    while not any("round" in note for note in page.evaluate(NOTES)):
        round_ += 1
        finish(1000 + round_, "ana-bot", "ben-bot")
        data = {"name": "Cup", "rounds": [round_], "url": "/api/v1/tournaments/cup/"}
        tell(EventKind.TOURNAMENT_ROUND_STARTED, tournament=cup, **data)
        tell(EventKind.TOURNAMENT_ROUND_STARTED, tournament="other", **data)
        page.wait_for_timeout(300)
    for game in range(2000, 2005):
        finish(game, "ana-bot", "ben-bot")
    data = {"name": "Cup", "url": "/api/v1/tournaments/cup/"}
    tell(EventKind.TOURNAMENT_FINISHED, tournament=cup, **data)
    page.wait_for_function("() => notes.some((note) => note.body === 'Cup is over.')")
    notes = page.evaluate(NOTES)

    assert notes.count("ana-bot against ben-bot has ended.") == 1
    rounds = [note for note in notes if "round" in note]
    assert len(rounds) == len(set(rounds))


def test_a_second_click_ends_it(watching: Page, show: Show) -> None:
    address = f"/follow/?bot={show.anas.bot.slug}"
    switch_on(watching, address)
    watching.get_by_role("button", name="Stop notifications").click()
    expect(watching.get_by_role("status").last).to_have_text("Off.")
    watching.goto(address)

    button = watching.get_by_role("button", name="Notify me in this browser")
    expect(button).to_be_visible()
    assert watching.evaluate("() => localStorage.getItem('torres.notify')") == "[]"


def test_a_refusal_and_a_missing_support_are_said(
    chromium: Browser,
    served: str,
    show: Show,
) -> None:
    denied = RECORDED + "globalThis.answer = 'denied';"
    with browser.opened(chromium, served, script=denied) as page:
        page.goto("/follow/?ladder=main")
        page.get_by_role("button", name="Notify me in this browser").click()
        said = page.get_by_role("status").last
        expect(said).to_contain_text("does not permit notifications")
        assert page.evaluate("() => localStorage.getItem('torres.notify')") is None
    with browser.opened(chromium, served, "delete globalThis.Notification;") as page:
        page.goto("/follow/?ladder=main")
        expect(page.get_by_text("This browser has no notifications.")).to_be_visible()
        expect(page.get_by_role("button", name="Notify me")).to_be_hidden()
    phone = RECORDED + (
        "globalThis.Notification = class extends globalThis.Notification"
        " { constructor() { super(); throw new TypeError('Illegal constructor'); } };"
    )
    with browser.opened(chromium, served, phone) as page:
        page.goto("/follow/?ladder=main")
        page.get_by_role("button", name="Notify me in this browser").click()
        expect(page.get_by_text("This browser has no notifications.")).to_be_visible()


def test_the_real_permission_of_the_browser_is_asked(
    chromium: Browser,
    served: str,
    show: Show,
) -> None:
    with browser.opened(chromium, served, permissions=["notifications"]) as page:
        switch_on(page, "/follow/?ladder=main")
