"""A test client, rows to show, and a real browser."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.db import connection
from django.test import Client
from playwright.sync_api import Browser, Page

from ladder.accounts import scopes, tokens
from ladder.ops.embedded import EmbeddedWeb
from tests import browser, factories


@pytest.fixture
def page(chromium: Browser, live_server, data_dir: Path) -> Iterator[Page]:
    """A page. The test fails if a script fails or the CSP blocks something."""
    with browser.opened(chromium, live_server.url) as page:
        yield page


@pytest.fixture
def served(
    transactional_db: None, data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[str]:
    """The address of a real web server, a process of its own on the test's database."""
    monkeypatch.setenv("DATABASE_URL", database_url())
    monkeypatch.setenv("TORRES_DATA", str(data_dir))
    monkeypatch.setenv("TORRES_FRESH_SECONDS", "0")
    web = EmbeddedWeb("127.0.0.1", 0)
    web.start()
    yield web.address
    web.close()


def database_url() -> str:
    """Return the URL of the database that this test process uses."""
    words = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"sqlite:///{words['NAME']}"
    user = (
        f"{words['USER']}:{words['PASSWORD']}" if words["PASSWORD"] else words["USER"]
    )
    return f"postgres://{user}@{words['HOST']}:{words['PORT']}/{words['NAME']}"


@pytest.fixture
def served_page(chromium: Browser, served: str) -> Iterator[Page]:
    """A page of a real web server, which has streams."""
    with browser.opened(chromium, served) as page:
        yield page


@pytest.fixture
def visit(db: None, data_dir):
    """Return a function: user name -> signed-in test client; "" is anonymous."""

    def client_of(name: str) -> Client:
        client = Client()
        if name:
            token = tokens.token_for(name, scopes=scopes.ALL)
            assert client.post("/sign-in/", {"token": token}).status_code == 302
        return client

    return client_of


@pytest.fixture
def show(db: None, data_dir):
    """A ladder with a finished game, a bot with a hostile name, a rejected upload."""
    return factories.everything()


@pytest.fixture(autouse=True)
def _a_dataset(settings, tmp_path: Path) -> None:
    """Publish a dataset of one file, so that its routes have something to show."""
    folder = tmp_path / "datasets" / "2026-11-22"
    (folder / "games").mkdir(parents=True)
    (folder / "games" / "one.parquet").write_bytes(b"PAR1")
    file = {"path": "games/one.parquet", "rows": 0, "bytes": 4, "sha256": "0" * 64}
    manifest = {"tables": {"games": {"files": [file]}}}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    settings.TORRES_DATASETS = str(tmp_path / "datasets")
