"""A reader of an export is killed in the middle, and goes on where it was."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Event

import httpx
import pytest
from django.conf import settings

from ladder.ops.chaos.servers import free_port
from tests.ops.running import environment

MANAGE = [sys.executable, str(settings.BASE_DIR / "manage.py")]
GAMES = 400
START_TIMEOUT_S = 60
READER = """
import sys, httpx
with httpx.stream("GET", sys.argv[1], timeout=60) as answer:
    for line in answer.iter_lines():
        print(line, flush=True)
"""


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve a made-up season; return the address of the API."""
    folder, port = tmp_path_factory.mktemp("exports"), free_port()
    home = environment(folder, TMPDIR=str(folder))
    fill = [
        sys.executable,
        "-m",
        "tests.fill",
        "--bots=8",
        f"--games={GAMES}",
        "--tournaments=0",
    ]
    subprocess.run(fill, env=home, check=True, capture_output=True)
    serve = [*MANAGE, "serve", f"--listen=127.0.0.1:{port}"]
    process = subprocess.Popen(
        serve, env=home, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    address = f"http://127.0.0.1:{port}/api/v1"
    transport = httpx.HTTPTransport(retries=10)  # with growing pauses
    with httpx.Client(transport=transport, timeout=START_TIMEOUT_S) as client:
        assert client.get(f"{address}/games/?limit=1").status_code == 200
    yield address
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=120)
    assert process.returncode == 0


def read_and_kill(address: str, lines: int) -> list[str]:
    """Return the first lines that a reader gets before it is killed."""
    reader = subprocess.Popen(
        [sys.executable, "-c", READER, address], stdout=subprocess.PIPE, text=True
    )
    assert reader.stdout is not None
    read = [reader.stdout.readline() for _ in range(lines)]
    reader.kill()
    reader.wait()
    reader.stdout.close()
    return read


def read_on(address: str) -> list[str]:
    """Read an export to its end. A reader that was killed may still be noticed."""
    while True:
        answer = httpx.get(address, timeout=60)
        if answer.status_code != 429:
            break
        Event().wait(0.1)
    assert answer.status_code == 200, answer.text
    return answer.text.splitlines()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["games", "replays"])
def test_a_killed_reader_goes_on_where_it_was(api: str, kind: str) -> None:
    address = f"{api}/exports/{kind}/?status=finished"
    whole = read_on(address)
    lines: list[str] = []
    cursor = ""
    for count in (1, 40, 25):
        lines += read_and_kill(f"{address}{cursor}", count)
        assert "end" not in json.loads(lines[-1])  # so it is known that more follows
        cursor = f"&cursor={json.loads(lines[-1])['cursor']}"
    rest = read_on(f"{address}{cursor}")

    finished = len(whole) - 1
    assert finished > 0.9 * GAMES
    assert [line.rstrip("\n") for line in lines] + rest[:-1] == whole[:-1]
    end = json.loads(rest[-1])
    assert end == {
        "end": True,
        "count": finished - len(lines),
        "withheld": 0,
        "next": None,
    }


@pytest.mark.slow
def test_pages_are_served_beside_readers_that_do_not_read(
    api: str, tmp_path: Path
) -> None:
    """A slow reader has its part in a file of the server, and holds no thread."""
    address = f"{api}/exports/replays/"
    with httpx.Client(timeout=60) as one, one.stream("GET", address) as idle:
        first = next(idle.iter_lines())
        for _ in range(3):
            assert httpx.get(f"{api}/games/?limit=1", timeout=60).status_code == 200
        again = read_on(address)

    assert json.loads(first)["id"] == json.loads(again[0])["id"]
    assert json.loads(again[-1])["end"] is True
