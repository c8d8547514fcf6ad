"""A service of the first days is upgraded to this version.

first.tar.xz has the data folder of a service at the commit 33c3063f (2026-11-25), which
had no second migration of any app: 46 finished games, their ledger and the public log.
It also has the folder of an auditor, who checked that service with the same version.
"""

import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.ops.running import MANAGE_PY, environment, running_service

FIRST = Path(__file__).with_name("first.tar.xz")
FINISHED = 46
LEAVES = 148
"""The size of the log that the auditor had seen."""
TORRES = Path(sys.executable).with_name("torres")
TIMEOUT_S = 120


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The upgraded service, which has not started yet."""
    folder = tmp_path_factory.mktemp("upgrade")
    with tarfile.open(FIRST) as archive:
        archive.extractall(folder, filter="data")
    home = environment(folder, migrated=False, AUDITOR=str(folder / "auditor"))
    assert "Ready" in manage(home, "prepare")
    return home


@pytest.fixture(scope="module")
def address(home: dict[str, str]) -> Iterator[str]:
    """The address of the upgraded service, which plays."""
    with running_service(home) as (address, process):
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith("game "):
                break
        yield address


def manage(home: dict[str, str], *words: str) -> str:
    done = subprocess.run(
        [*MANAGE_PY, *words], env=home, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
def test_no_rating_has_changed(home: dict[str, str]) -> None:
    checked = manage(home, "rebuild_ratings", "--check")
    totals = manage(home, "status", "--totals")

    assert "all ratings the same, every finished game rated once" in checked
    assert ["finished", str(FINISHED)] in [line.split() for line in totals.splitlines()]
    assert "The totals add up." in totals


@pytest.mark.slow
def test_it_plays_on_and_its_earlier_auditor_finds_no_fault(
    home: dict[str, str], address: str
) -> None:
    done = subprocess.run(
        [TORRES, "audit", address, "--folder", home["AUDITOR"]],
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert "Everything fits together" in done.stdout
    leaves = int(done.stdout.split(": ", 1)[1].split(" leaves")[0])
    assert leaves > LEAVES


@pytest.mark.slow
def test_old_games_have_their_replays_and_receipts(address: str) -> None:
    with httpx.Client(base_url=f"{address}/api/v1", timeout=TIMEOUT_S) as api:
        games = api.get("/games/?status=finished&ordering=id&limit=5").json()
        for game in games["results"]:
            replay = api.get(f"/games/{game['id']}/replay/")
            assert replay.json()["format"] == "torres-replay/1"
            receipt = api.get(f"/games/{game['id']}/receipt/")
            assert receipt.status_code == httpx.codes.OK, receipt.text
