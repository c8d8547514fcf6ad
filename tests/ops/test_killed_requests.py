"""The server is killed while it processes a POST with an Idempotency-Key."""

import socket
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path

import httpx
import pytest
from django.conf import settings

from ladder.ops.chaos.servers import free_port
from tests.ops.running import environment

MANAGE = settings.BASE_DIR / "manage.py"
HELD_MANAGE = settings.BASE_DIR / "tests/ops/held_manage.py"
TIMEOUT_S = 60
NAMES = ("before", "after")
AGE_S = 301  # the lease is five minutes


@contextmanager
def server(program: Path, port: int, home: dict[str, str]) -> Iterator[httpx.Client]:
    """Serve until the block ends, then kill the server. Yield a client of the API."""
    words = [sys.executable, str(program), "serve", f"--listen=127.0.0.1:{port}"]
    process = subprocess.Popen(words, env=home, stdin=subprocess.DEVNULL)
    try:
        while not accepts_connections(port):
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(0.1)
        with httpx.Client(
            base_url=f"http://127.0.0.1:{port}/api/v1/",
            headers={"Authorization": f"Bearer {home['TOKEN']}"},
            timeout=TIMEOUT_S,
        ) as client:
            yield client
    finally:
        process.kill()
        process.wait()


def accepts_connections(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def create(client: httpx.Client, name: str, key: str = "") -> httpx.Response:
    headers = {"Idempotency-Key": key or f"key-{name}"}
    return client.post("bots/", json={"name": name}, headers=headers)


def bots(client: httpx.Client) -> list[str]:
    return [row["name"] for row in client.get("bots/?owner=ana").json()["results"]]


def let_the_leases_end(data: Path) -> None:
    with closing(sqlite3.connect(data / "ladder.db")) as database, database:
        moment = f"strftime('%Y-%m-%d %H:%M:%f', lease_until, '-{AGE_S} seconds')"
        database.execute(
            f"UPDATE accounts_idempotentrequest SET lease_until = {moment} || '000'"
        )


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    held = tmp_path / "held"
    held.mkdir()
    home = environment(tmp_path, HELD=str(held))
    manage = [sys.executable, str(MANAGE)]
    token = subprocess.run(
        [*manage, "token", "ana"], env=home, capture_output=True, text=True, check=True
    ).stdout
    return home | {"TOKEN": token.strip()}


@pytest.mark.deep
def test_a_request_of_a_killed_server_is_done_at_most_once(
    home: dict[str, str], tmp_path: Path
) -> None:
    """One server is killed before its change, and one between change and response."""
    port, pool = free_port(), ThreadPoolExecutor(len(NAMES))
    with server(HELD_MANAGE, port, home) as client:
        answers = [pool.submit(create, client, name) for name in NAMES]
        while len(list((tmp_path / "held").iterdir())) < len(NAMES):
            threading.Event().wait(0.05)
    for answer in answers:
        assert isinstance(answer.exception(), httpx.TransportError)
    with server(MANAGE, port, home) as client:
        for name in NAMES:
            refused = create(client, name)
            assert (refused.status_code, refused.json()["code"]) == (409, "in-progress")
            assert refused.headers["Retry-After"] == "2"
        assert bots(client) == ["after"]
        let_the_leases_end(tmp_path / "data")
        done, taken = create(client, "before"), create(client, "after")
        assert done.status_code == 201
        assert (taken.status_code, taken.json()["code"]) == (409, "name-taken")
        for first, name in ((done, "before"), (taken, "after")):
            again = create(client, name)
            assert again.headers["Idempotent-Replayed"] == "true"
            assert (again.status_code, again.content) == (
                first.status_code,
                first.content,
            )
        assert sorted(bots(client)) == ["after", "before"]
    pool.shutdown()
