import os

import pytest
from django.conf import settings


@pytest.fixture(autouse=True)
def _scripted(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """Play games without processes, except in tests that need the sandbox."""
    if "sandbox" not in request.keywords:
        monkeypatch.setattr(
            settings,
            "TORRES_OPEN_PLAYER",
            "ladder.ops.chaos.scripted_player.open_player",
        )


@pytest.fixture(scope="session", autouse=True)
def _own_slots() -> None:
    """Give each pytest worker its own user ids for bots."""
    number = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    first = 63_000 + 50 * number
    os.environ["TORRES_SLOT_UIDS"] = f"{first}-{first + 49}"
