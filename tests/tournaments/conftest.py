import os

import pytest


@pytest.fixture(autouse=True)
def _scripted(request: pytest.FixtureRequest) -> None:
    """Play games without processes, except in tests that ask for the sandbox."""
    if "sandbox" not in request.keywords:
        request.getfixturevalue("scripted_players")


@pytest.fixture(scope="session", autouse=True)
def _own_slots() -> None:
    """Give each pytest worker its own user ids for bots."""
    number = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    first = 63_000 + 50 * number
    os.environ["TORRES_SLOT_UIDS"] = f"{first}-{first + 49}"
