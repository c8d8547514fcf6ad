from collections.abc import Callable
from pathlib import Path

import pytest
from django.test import Client

from ladder.accounts import tokens
from ladder.extras.practice import host, seats, services


@pytest.fixture(autouse=True)
def _own_folder(data_dir: Path) -> None:
    """Store the packages of bots in the folder of the test."""


@pytest.fixture(autouse=True)
def _same_decks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give all games the same decks, so that a failure happens again."""
    monkeypatch.setattr(services, "new_seed", lambda: "5eed" * 8)


@pytest.fixture(autouse=True)
def _quick_hosts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let hosts look at the database often, because these persons answer at once."""
    monkeypatch.setattr(seats, "POLL_INTERVAL_S", 0.02)
    monkeypatch.setattr(host, "CLAIM_INTERVAL_S", 0.02)


@pytest.fixture
def visit() -> Callable[[str], Client]:
    def browser(name: str) -> Client:
        client = Client(raise_request_exception=False)
        answer = client.post("/sign-in/", {"token": tokens.token_for(name)})
        assert answer.status_code == 302
        return client

    return browser
