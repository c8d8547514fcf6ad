"""Audits of an honest service that plays at full speed find nothing.

Every third audit begins with an empty folder, the others go on with their copy. From
time to time an operator voids a game, because this changes ratings that are being read.
TESTS_AUDITS is the number of audits.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.ops.running import MANAGE_PY, environment, running_service
from torres.common.pause import pause

AUDITS = int(os.environ.get("TESTS_AUDITS", "200"))
ACT_EVERY = 10
FIRST_GAMES = 20
START_S = 120.0
TORRES = Path(sys.executable).with_name("torres")


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    """Return the environment of a service that limits no client."""
    return environment(tmp_path, TORRES_RATE_ANONYMOUS="100000000")


@pytest.fixture
def address(home: dict[str, str]) -> Iterator[str]:
    with running_service(home) as (found, _):
        end = time.monotonic() + START_S
        while len(games(found)) < FIRST_GAMES:
            assert time.monotonic() < end, "too few games"
            pause(1.0)
        yield found


def games(address: str) -> list[int]:
    query = f"{address}/api/v1/games/?status=finished&limit=50"
    return [row["id"] for row in httpx.get(query, timeout=START_S).json()["results"]]


def operate(home: dict[str, str], *words: str) -> None:
    subprocess.run(
        [*MANAGE_PY, "operator", *words], env=home, check=True, capture_output=True
    )


def test_audits_of_an_honest_service_are_clean(
    home: dict[str, str], address: str, tmp_path: Path
) -> None:
    began = time.monotonic()
    unclean, sizes = [], []
    for number in range(AUDITS):
        if number % ACT_EVERY == ACT_EVERY - 1:
            operate(home, "void", str(games(address)[0]), "--why", "a test")
        folder = tmp_path / f"copy-{number if number % 3 == 0 else 'kept'}"
        done = subprocess.run(
            [TORRES, "audit", address, "--folder", folder, "--json"],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            unclean.append((number, done.returncode, done.stdout[-2000:], done.stderr))
            continue
        sizes.append(json.loads(done.stdout)["size"])
    seconds = time.monotonic() - began
    played = sizes[-1] - sizes[0] if sizes else 0
    print(f"{AUDITS} audits in {seconds:.0f} s; the log grew by {played} leaves")

    assert unclean == []
    assert played > AUDITS
