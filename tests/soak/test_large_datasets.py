"""A hundred thousand games are written as a dataset in constant memory; with kills."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import duckdb
import polars as pl
import psycopg
import pytest
from django.conf import settings

from tests.soak.web_services import ProcessMemory, WebService, filled_service

GAMES = int(os.environ.get("TESTS_EXPORT_GAMES", "100000"))
KILLED_AT = (0.2, 0.5)
"""The shares of the games after which the command is killed."""
MAX_GROWTH_MIB = 48
"""The memory of the command may grow by this much from the first run to the others."""
TIMEOUT_S = 3600.0


@pytest.fixture(scope="module")
def service() -> Iterator[WebService]:
    yield from filled_service(GAMES)


def count(service: WebService, table: str, condition: str) -> int:
    with psycopg.connect(service.environment["DATABASE_URL"]) as connection:
        query = f"SELECT count(*) FROM {table} WHERE {condition}"
        (row,) = connection.execute(query).fetchall()
    return int(row[0])


def write(service: WebService, root: Path, until: int | None) -> float:
    """Write the dataset, and kill the command at a number of games; return its MiB."""
    command = subprocess.Popen(
        [sys.executable, "manage.py", "run_job", "dataset"],
        env=service.environment | {"TORRES_DATASETS": str(root)},
        cwd=settings.BASE_DIR,
        stdout=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + TIMEOUT_S
    peak = 0.0
    while command.poll() is None:
        assert time.monotonic() < deadline
        with suppress(FileNotFoundError, ProcessLookupError, IndexError):  # it ended
            peak = max(peak, ProcessMemory(command.pid).peak())
        parts = list(root.glob("*.partial/parts/games-*.json"))
        if until is not None and 2_000 * len(parts) >= until:
            command.kill()
            assert command.wait() == -9
            return peak
        threading.Event().wait(0.1)
    assert until is None
    assert command.returncode == 0
    return peak


def test_a_dataset_is_whole_although_its_command_is_killed(
    service: WebService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    began = time.monotonic()
    peaks = [write(service, tmp_path, int(share * GAMES)) for share in KILLED_AT]
    peaks.append(write(service, tmp_path, None))
    seconds = time.monotonic() - began
    (folder,) = tmp_path.iterdir()
    monkeypatch.chdir(folder)
    size = sum(file.stat().st_size for file in folder.rglob("*.*"))
    moves = duckdb.sql("SELECT count(*) FROM 'moves/*.parquet'").fetchall()[0][0]

    print(
        f"\n{GAMES} games with {moves} moves in {seconds:.0f} s, {size >> 20} MiB;"
        f" peaks of the three runs {[round(peak) for peak in peaks]} MiB"
    )
    played = "status IN ('finished', 'voided')"
    games = count(service, "games_game", played)
    assert games > 0.9 * GAMES
    numbers = pl.scan_parquet("games/*.parquet").select("id").collect()["id"]
    assert len(numbers) == numbers.n_unique() == games
    seats = f"game_id IN (SELECT id FROM games_game WHERE {played})"
    query = "SELECT count(*) FROM 'seats/*.parquet'"
    read = duckdb.sql(query).fetchall()[0][0]
    assert read == count(service, "games_seat", seats)
    packed = duckdb.sql("SELECT count(*) FROM 'games/*.ndjson.zst'").fetchall()[0][0]
    assert packed == games
    assert max(peaks) - peaks[0] < MAX_GROWTH_MIB
