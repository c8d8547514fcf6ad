"""The cast: Ana owns, Ben rivals, Cleo is a stranger, and anybody has no token."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from pytest_django import Settings
from rest_framework.test import APIClient

from ladder.accounts import tokens
from ladder.games.worker.play import RUNNING_GAMES
from ladder.ops.chaos import scripted_player
from ladder.runner.sandbox import Level, Sandbox, SandboxUnavailable, open_sandbox

Person = Callable[[str], APIClient]


@pytest.fixture
def data_dir(settings: Settings, tmp_path: Path) -> Path:
    """Where the service keeps its files; every test has its own."""
    settings.DATA_DIR = tmp_path / "data"
    storages = dict(settings.STORAGES)
    storages["bots"] = {
        **storages["bots"],
        "OPTIONS": {"location": settings.DATA_DIR / "submissions"},
    }
    settings.STORAGES = storages
    return settings.DATA_DIR


@pytest.fixture(autouse=True)
def _forget(settings: Settings) -> None:
    """No test sees what another left in the cache: counts, trends; nor an old page."""
    cache.clear()
    settings.TORRES_FRESH_SECONDS = 0


@pytest.fixture
def api(db: None, data_dir: Path) -> Person:
    """Return a client for a person's name, with a token; "" is anybody."""

    def client(name: str) -> APIClient:
        client = APIClient(raise_request_exception=False)
        if name:
            token = tokens.token_for(name)
            client.credentials(HTTP_AUTHORIZATION=f"Bearer {token}")
        return client

    return client


@pytest.fixture
def ana(api: Person) -> APIClient:
    return api("ana")


@pytest.fixture
def ben(api: Person) -> APIClient:
    return api("ben")


@pytest.fixture
def cleo(api: Person) -> APIClient:
    return api("cleo")


@pytest.fixture
def anybody(api: Person) -> APIClient:
    return api("")


@pytest.fixture
def user(db: None) -> Callable[[str], User]:
    return lambda name: User.objects.get_or_create(username=name)[0]


@pytest.fixture
def scripted_players(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let this process play games with scripted players instead of bots."""
    monkeypatch.setattr(RUNNING_GAMES, "open_player", scripted_player.open_player)


@pytest.fixture(scope="session", autouse=True)
def own_slots() -> None:
    """Give each pytest worker its own user ids, so that it can look for survivors."""
    number = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    first = 62_000 + 50 * number
    os.environ["TORRES_SLOT_UIDS"] = f"{first}-{first + 49}"


def part_missing(why: str) -> None:
    """Skip, or fail where CI says that every part must be there."""
    if os.environ.get("TORRES_REQUIRE_ALL") == "1":
        pytest.fail(why)
    pytest.skip(why)


def opened(level: Level) -> Iterator[Sandbox]:
    try:
        sandbox = open_sandbox(level)
    except SandboxUnavailable as why:
        part_missing(str(why))
    else:
        yield sandbox
        sandbox.close()


@pytest.fixture(scope="module")
def full() -> Iterator[Sandbox]:
    yield from opened("full")


@pytest.fixture(scope="module")
def none() -> Iterator[Sandbox]:
    yield from opened("none")
