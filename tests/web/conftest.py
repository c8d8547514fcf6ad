"""A test client, rows to show, and a real browser."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from django.test import Client
from playwright.sync_api import Browser, Page

from ladder.accounts import tokens
from tests import browser, factories


@pytest.fixture
def page(chromium: Browser, live_server, data_dir: Path) -> Iterator[Page]:
    """A page. The test fails if a script fails or the CSP blocks something."""
    with browser.opened(chromium, live_server.url) as page:
        yield page


@pytest.fixture
def visit(db: None, data_dir):
    """Return a function: user name -> signed-in test client; "" is anonymous."""

    def client_of(name: str) -> Client:
        client = Client()
        if name:
            token = tokens.token_for(name)
            assert client.post("/sign-in/", {"token": token}).status_code == 302
        return client

    return client_of


@pytest.fixture
def show(db: None, data_dir):
    """A ladder with a finished game, a bot with a hostile name, a rejected upload."""
    return factories.everything()
