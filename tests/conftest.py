"""Clients and sandboxes: Ana owns a bot, Ben has a rival bot, Cleo has none.

The client ``anybody`` has no token.
"""

import gc
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from django.conf import settings as django_settings
from django.contrib.auth.models import User
from django.core.cache import caches
from django.core.servers.basehttp import WSGIRequestHandler
from django.db import connection
from playwright.sync_api import Browser
from pytest_django import Settings
from rest_framework.test import APIClient

import engine
from ladder.accounts import scopes, tokens
from ladder.games import exports
from ladder.games.worker.play import RUNNING_GAMES
from ladder.ops.chaos import scripted_player
from tests import browser, databases
from torres.runner.sandbox import Level, Sandbox, SandboxUnavailable, open_sandbox

# jsonschema can check IRIs with this package, which compiles a grammar for seconds in
# each process that imports it. No schema of the tests has an IRI.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
# Services with PostgreSQL, which tests start, refuse to run without one.
os.environ.setdefault("SECRET_KEY", "only-for-tests-" * 4)
# No test waits for stories, each of which takes half a minute of a processor.
os.environ.setdefault("TORRES_STORY_SHARE", "0")
django_settings.TORRES_STORY_SHARE = 0.0
# Few tests run a dispatcher, which would give decks to matches. Services that tests
# start read their own settings.
django_settings.TORRES_COMMITTED_DECKS = False

# The live server writes the head and the body of an answer apart. With Nagle's
# algorithm the body waits for 40 ms, until the client confirms the head.
WSGIRequestHandler.disable_nagle_algorithm = True

needs_compiled = pytest.mark.skipif(
    not engine.compiled, reason="the kernel is not compiled, so this takes minutes"
)
Person = Callable[[str], APIClient]


def pytest_configure(config: pytest.Config) -> None:
    """Compile catalogues of languages that have changed, as `make dev` does."""
    if hasattr(config, "workerinput"):
        return
    for path in django_settings.BASE_DIR.glob("ladder/locale/*/LC_MESSAGES/*.po"):
        compiled = path.with_suffix(".mo")
        if not compiled.exists() or compiled.stat().st_mtime < path.stat().st_mtime:
            with path.open("rb") as texts, compiled.open("wb") as file:
                write_mo(file, read_po(texts))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let long tests begin first, or one process works on one of them at the end."""
    items.sort(key=lambda item: item.get_closest_marker("long") is None)


def pytest_collection_finish() -> None:
    """Exclude all that was imported and collected from garbage collection.

    Otherwise each full collection visits millions of objects that stay: tests of the
    database took a third longer.
    """
    gc.collect()
    gc.freeze()


def pytest_unconfigure() -> None:
    """Include all objects again, because some modules warn of those left at the end."""
    gc.unfreeze()


@pytest.fixture(scope="session")
def django_db_keepdb(
    django_db_keepdb: bool,  # noqa: FBT001 -- pytest-django names it
    django_db_modify_db_settings: None,
) -> Iterator[bool]:
    """Copy a migrated SQLite database for this process, instead of migrating one.

    pytest-django keeps a database that exists, so this deletes it in the end.
    """
    if connection.vendor != "sqlite":
        yield django_db_keepdb
        return
    database = Path(connection.settings_dict["TEST"]["NAME"])
    database.parent.mkdir(mode=0o711, parents=True, exist_ok=True)
    _delete_sqlite(database)
    databases.copy_sqlite(database)
    yield True
    connection.close()
    _delete_sqlite(database)


def _delete_sqlite(database: Path) -> None:
    """Delete a database and what a killed process may have left beside it."""
    for suffix in ("", "-wal", "-shm"):
        database.with_name(database.name + suffix).unlink(missing_ok=True)


@pytest.fixture
def data_dir(settings: Settings, tmp_path: Path) -> Path:
    """Give each test a data folder of its own."""
    settings.DATA_DIR = tmp_path / "data"
    storages = dict(settings.STORAGES)
    storages["bots"] = {
        **storages["bots"],
        "OPTIONS": {"location": settings.DATA_DIR / "submissions"},
    }
    settings.STORAGES = storages
    return settings.DATA_DIR


@pytest.fixture(autouse=True)
def _clear_cache(settings: Settings) -> None:
    """Clear all caches, so that no test sees counts or pages of another test."""
    for each in caches.all():
        each.clear()
    settings.TORRES_FRESH_SECONDS = 0


@pytest.fixture
def committed_decks(settings: Settings) -> None:
    """Let decks follow from the public log, as in a service."""
    settings.TORRES_COMMITTED_DECKS = True


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with browser.launched() as chromium:
        yield chromium


@pytest.fixture(autouse=True)
def _free_exports(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no response that another test has not closed hold a place of exports."""
    monkeypatch.setattr(exports, "SLOTS", exports.ExportSlots())


@pytest.fixture
def api(db: None, data_dir: Path) -> Person:
    """Return a function that makes a client with a token for a name; "" has none."""

    def client(name: str) -> APIClient:
        client = APIClient(raise_request_exception=False)
        if name:
            token = tokens.token_for(name, scopes=scopes.ALL)
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
    """Give each pytest worker its own user ids, so that it finds its own survivors.

    ``TESTS_FIRST_UID`` lets several checkouts run their tests at the same time.
    """
    number = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    first = int(os.environ.get("TESTS_FIRST_UID", "62000")) + 50 * number
    os.environ["TORRES_SLOT_UIDS"] = f"{first}-{first + 49}"


@pytest.fixture(scope="session", autouse=True)
def _usual_priority() -> Iterator[None]:
    """Let no command that tests call here lower the priority of all later tests."""
    lower = os.nice
    os.nice = lambda _: lower(0)
    yield
    os.nice = lower


def part_missing(why: str) -> None:
    """Skip the test. Fail instead if CI requires all parts of the machine."""
    if os.environ.get("TESTS_REQUIRE_ALL") == "1":
        pytest.fail(why)
    pytest.skip(why)


def need_program(name: str, package: str) -> None:
    """Skip the test if a program is not installed, and say what to install."""
    if shutil.which(name) is None:
        part_missing(f"needs {name}: apt-get install {package}")


def open_or_skip(level: Level) -> Iterator[Sandbox]:
    try:
        sandbox = open_sandbox(level)
    except SandboxUnavailable as why:
        part_missing(str(why))
    else:
        yield sandbox
        sandbox.close()


@pytest.fixture(scope="module")
def full() -> Iterator[Sandbox]:
    yield from open_or_skip("full")


@pytest.fixture(scope="module")
def none() -> Iterator[Sandbox]:
    yield from open_or_skip("none")


@pytest.fixture(scope="module")
def isolated() -> Iterator[Sandbox]:
    yield from open_or_skip("isolated")
