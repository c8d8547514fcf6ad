"""The editor in a real browser: run, read the mistake, correct it, look at the game."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect
from pytest_django import Settings

from ladder.extras.editor import work
from ladder.extras.editor.models import TrialGame
from ladder.extras.practice.host import PracticeHost
from tests import browser
from tests.editor import factories
from tests.web.test_accessibility import violations_everywhere
from torres.runner.sandbox import Sandbox

pytestmark = [
    pytest.mark.slow,
    pytest.mark.browser,
    pytest.mark.sandbox,
    pytest.mark.django_db(transaction=True),
]


@pytest.fixture(autouse=True)
def _open(settings: Settings) -> None:
    settings.TORRES_SIGN_UP = "open"


@pytest.fixture
def page(chromium: Browser, live_server, _a_host: None) -> Iterator[Page]:
    with browser.opened(chromium, live_server.url) as page:
        yield page


@pytest.fixture
def _a_host(full: Sandbox, data_dir: Path) -> Iterator[None]:
    """A host with one slot, in a thread of this process."""
    factories.opponent()
    stop = threading.Event()
    host = PracticeHost(1, begin_trial=work.begin_next)
    thread = threading.Thread(target=host.run, args=(stop,))
    thread.start()
    yield
    stop.set()
    thread.join()


def test_a_newcomer_corrects_a_mistake_and_looks_at_the_game(page: Page) -> None:
    page.goto("/")
    page.get_by_role("link", name="Build", exact=True).click()
    code = page.get_by_label("Your bot")
    bad = code.input_value().replace('message["legal"]', 'message["leagl"]')
    code.fill(bad)
    page.reload()
    expect(code).to_have_value(bad)  # a change that was not run stays
    code.press("Control+Enter")
    expect(page.locator("#outcome h2")).to_contain_text("lost its seat")
    expect(page.locator("#progress-sentence")).to_contain_text("lost its seat")
    page.locator("[data-line]").press("Enter")
    selected = "a => a.value.slice(a.selectionStart, a.selectionEnd)"
    assert code.evaluate(selected) == '    legal = message["leagl"]'
    assert violations_everywhere(page) == []

    page.keyboard.insert_text('    legal = message["legal"]')
    code.press("Enter")
    page.keyboard.insert_text("print(len(legal), file=sys.stderr)")
    page.get_by_role("button", name="Run a game").click()
    expect(page.locator("#viewer.ready")).to_be_visible()
    expect(page.locator("#outcome h2")).to_contain_text("against house:random.")
    expect(page.locator("#outcome pre")).to_be_visible()
    expect(page.locator("#turns .turn").nth(20)).to_be_attached()
    expect(page.get_by_role("main").get_by_text("Sign up")).to_be_visible()
    assert violations_everywhere(page) == []
    lines = TrialGame.objects.latest("pk").source.splitlines()
    assert "    print(len(legal), file=sys.stderr)" in lines  # as far in as before
