"""A test client, rows to show, and a real browser."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.test import Client
from playwright.sync_api import Browser, Page, expect, sync_playwright

from ladder.accounts import tokens
from tests import factories

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
QUIET = [
    "--no-sandbox",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
]
TIMEOUT_MS = 60_000  # generous, because the machine may be busy


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    if CHROMIUM is None:
        why = "Chromium is missing: apt-get install chromium"
        if os.environ.get("TORRES_REQUIRE_ALL") == "1":
            pytest.fail(why)
        pytest.skip(why)
    # Playwright runs an event loop in this thread. Django refuses to use the database
    # in such a thread, unless this variable is set.
    expect.set_options(timeout=TIMEOUT_MS)
    with pytest.MonkeyPatch.context() as patch, sync_playwright() as playwright:
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        yield browser
        browser.close()


@pytest.fixture
def page(chromium: Browser, live_server, data_dir: Path) -> Iterator[Page]:
    """A page. The test fails if a script fails or the CSP blocks something."""
    context = chromium.new_context(base_url=live_server.url)
    context.set_default_timeout(TIMEOUT_MS)
    page = context.new_page()
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on(
        "console",
        lambda message: (
            faults.append(message.text) if message.type == "error" else None
        ),
    )
    yield page
    context.close()
    assert faults == []


@pytest.fixture
def visit(db: None, data_dir):
    """Return a function: user name -> signed-in test client; "" is anonymous."""

    def browser(name: str) -> Client:
        client = Client()
        if name:
            token = tokens.token_for(name)
            assert client.post("/sign-in/", {"token": token}).status_code == 302
        return client

    return browser


@pytest.fixture
def show(db: None, data_dir):
    """A ladder with a finished game, a bot with a hostile name, a rejected upload."""
    return factories.everything()
