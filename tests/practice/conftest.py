from pathlib import Path

import pytest

from ladder.practice import host, seats, services


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
