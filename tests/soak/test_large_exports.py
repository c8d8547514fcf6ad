"""A hundred thousand games are exported in constant memory; the readers are killed."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from django.conf import settings

from tests.soak.web_services import WebService, filled_service

GAMES = int(os.environ.get("TESTS_EXPORT_GAMES", "100000"))
KILLED_AT = (0.15, 0.4, 0.8)
"""The shares of the games after which a reader is killed."""
MAX_GROWTH_MIB = 48
"""Of the web server and of the reader, from the first games to the last ones."""
TIMEOUT_S = 1800.0


@pytest.fixture(scope="module")
def service() -> Iterator[WebService]:
    yield from filled_service(GAMES)


def busiest(service: WebService) -> str:
    query = (
        "SELECT b.slug FROM games_seat s JOIN bots_submission u ON u.id ="
        " s.submission_id JOIN bots_bot b ON b.id = u.bot_id GROUP BY b.slug"
        " ORDER BY count(*) DESC LIMIT 1"
    )
    with psycopg.connect(service.environment["DATABASE_URL"]) as connection:
        (row,) = connection.execute(query).fetchall()
    return str(row[0])


def finished(service: WebService, bot: str) -> list[int]:
    """Return the numbers of the finished games, the newest first."""
    query = "SELECT id FROM games_game g WHERE status = 'finished'"
    if bot:
        query += (
            " AND EXISTS (SELECT 1 FROM games_seat s JOIN bots_submission u"
            " ON u.id = s.submission_id JOIN bots_bot b ON b.id = u.bot_id"
            " WHERE s.game_id = g.id AND b.slug = %s)"
        )
    with psycopg.connect(service.environment["DATABASE_URL"]) as connection:
        rows = connection.execute(query + " ORDER BY id DESC", [bot] if bot else None)
        return [row[0] for row in rows.fetchall()]


def reader(service: WebService, kind: str, file: Path, bot: str) -> subprocess.Popen:
    words = [f"bot={bot}"] if bot else []
    program = [sys.executable, "-m", "tests.soak.export_reader"]
    return subprocess.Popen(
        [*program, service.address, kind, str(file), *words],
        stdout=subprocess.PIPE,
        text=True,
        cwd=settings.BASE_DIR,
    )


def kill_after(process: subprocess.Popen, file: Path, lines: int) -> None:
    """Kill a reader when its file has this many lines."""
    deadline = time.monotonic() + TIMEOUT_S
    while not (file.exists() and file.read_bytes().count(b"\n") >= lines):
        assert process.poll() is None
        assert time.monotonic() < deadline
        threading.Event().wait(0.02)
    process.kill()
    process.wait()
    assert process.stdout is not None
    process.stdout.close()


@pytest.mark.parametrize("kind", ["games", "replays"])
def test_every_game_is_read_once_by_readers_that_are_killed(
    service: WebService, tmp_path: Path, kind: str
) -> None:
    """All games, and the replays of the busiest bot, which are much larger."""
    bot = "" if kind == "games" else busiest(service)
    wanted = finished(service, bot)
    file = tmp_path / "numbers"
    memory = service.memory
    memory.forget()
    began = time.monotonic()
    counts, peaks = [], []
    for share in KILLED_AT:
        lines = int(share * len(wanted))
        kill_after(reader(service, kind, file, bot), file, lines)
        counts.append(file.read_bytes().count(b"\n"))
        peaks.append(memory.peak())
    last = reader(service, kind, file, bot)
    output, _ = last.communicate(timeout=TIMEOUT_S)
    seconds = time.monotonic() - began
    at_first, at_most = map(int, output.split())
    peaks.append(memory.peak())
    numbers = [int(line) for line in file.read_text().splitlines()]

    print(
        f"\n{len(numbers)} {kind} in {seconds:.0f} s; readers killed after {counts};"
        f" peak of the web process {[round(peak) for peak in peaks]} MiB; the last"
        f" reader {at_first} MiB at first, at most {at_most} MiB"
    )
    assert last.returncode == 0
    assert len(wanted) > 0.9 * (GAMES if kind == "games" else GAMES / 20)
    assert numbers == wanted
    assert all(count < len(wanted) for count in counts)
    assert peaks[-1] - peaks[0] < MAX_GROWTH_MIB
    assert at_most - at_first < MAX_GROWTH_MIB
