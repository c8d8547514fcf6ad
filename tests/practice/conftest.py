from pathlib import Path

import pytest

from ladder.practice import host, seats


@pytest.fixture(autouse=True)
def _own_folder(data_dir: Path) -> None:
    """Store the packages of bots in the folder of the test."""


@pytest.fixture(autouse=True)
def _quick_hosts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let hosts look at the database often, because these persons answer at once."""
    monkeypatch.setattr(seats, "POLL_INTERVAL_S", 0.02)
    monkeypatch.setattr(host, "CLAIM_INTERVAL_S", 0.02)
