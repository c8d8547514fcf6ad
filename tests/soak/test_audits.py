"""Audits of an honest service that plays at full speed find nothing.

Every third audit begins with an empty folder, the others go on with their copy; each
also makes all matches of ladders again. Meanwhile an operator voids games, an author
uploads new versions, and an organiser plays tournaments, because these change what is
being read. TESTS_AUDITS is the number of audits.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from tests.ops.running import MANAGE_PY, environment, running_service
from torres.common.pause import pause

AUDITS = int(os.environ.get("TESTS_AUDITS", "200"))
VOID_EVERY = 10
UPLOAD_EVERY = 7
TOURNAMENT_EVERY = 5
FIRST_GAMES = 20
START_S = 120.0
TORRES = Path(sys.executable).with_name("torres")
BOT = Path(__file__).parents[2] / "torres/kits/python/bot.py"
CUP = """
entrants = ["house:greedy", "house:climber", "house:banker", "house:random"]
format = "swiss"
rounds = 3
"""


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    """Return the environment of a service that limits no client and no author."""
    return environment(
        tmp_path,
        TORRES_RATE_ANONYMOUS="100000000",
        TORRES_UPLOADS_PER_HOUR="1000",
    )


@pytest.fixture
def address(home: dict[str, str]) -> Iterator[str]:
    with running_service(home) as (found, _):
        end = time.monotonic() + START_S
        while len(games(found)) < FIRST_GAMES:
            assert time.monotonic() < end, "too few games"
            pause(1.0)
        yield found


def games(address: str) -> list[int]:
    query = f"{address}/api/v1/games/?status=finished&ladder=main&limit=50"
    return [row["id"] for row in httpx.get(query, timeout=START_S).json()["results"]]


class People:
    """An operator, an author and an organiser, who are one person."""

    def __init__(self, home: dict[str, str], address: str, folder: Path) -> None:
        self._home = home
        self._address = address
        self._cup = folder / "cup.toml"
        self._tournaments = 0
        token = self._manage("token", "ana").split()[-1]
        self._manage("operator", "organiser", "ana", "--why", "a test")
        self._api = httpx.Client(
            base_url=f"{address}/api/v1/",
            headers={"Authorization": f"Bearer {token}"},
            timeout=START_S,
        )
        self._api.post("bots/", json={"name": "Climber"}).raise_for_status()

    def _manage(self, *words: str) -> str:
        done = subprocess.run(
            [*MANAGE_PY, *words],
            env=self._home,
            check=True,
            capture_output=True,
            text=True,
        )
        return done.stdout

    def close(self) -> None:
        self._api.close()

    def void(self) -> None:
        number = str(games(self._address)[0])
        self._manage("operator", "void", number, "--why", "a test")

    def upload(self, number: int) -> None:
        code = f"{BOT.read_text()}\n# version {number}\n".encode()
        self._api.post(
            "bots/climber/submissions/", files={"archive": ("bot.py", code)}
        ).raise_for_status()

    def start_a_tournament(self) -> None:
        self._tournaments += 1
        slug = f"cup-{self._tournaments}"
        self._cup.write_text(f'name = "Cup {self._tournaments}"\n{CUP}')
        self._manage("tournament", str(self._cup), "--organiser", "ana", "--open")
        for step in ("close_entry", "start"):
            self._manage("operator", f"tournament_{step}", slug, "--why", "a test")

    def finished_tournaments(self) -> int:
        rows = self._api.get("tournaments/?status=finished&limit=100").json()
        return len(rows["results"])


def test_audits_of_an_honest_service_are_clean(
    home: dict[str, str], address: str, tmp_path: Path
) -> None:
    with closing(People(home, address, tmp_path)) as people:
        audit_beside(people, address, tmp_path)


def audit_beside(people: People, address: str, tmp_path: Path) -> None:
    """Audit again and again, while people act."""
    began = time.monotonic()
    unclean, reports = [], []
    for number in range(AUDITS):
        if number % VOID_EVERY == VOID_EVERY - 1:
            people.void()
        if number % UPLOAD_EVERY == 0:
            people.upload(number)
        if number % TOURNAMENT_EVERY == 0:
            people.start_a_tournament()
        folder = tmp_path / f"copy-{number if number % 3 == 0 else 'kept'}"
        done = subprocess.run(
            [TORRES, "audit", address, "--folder", folder, "--matchmaking", "--json"],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            unclean.append((number, done.returncode, done.stdout[-2000:], done.stderr))
            print("unclean:", unclean[-1], flush=True)
            continue
        reports.append(json.loads(done.stdout))
        if number % VOID_EVERY == 0:
            games_now, clean = reports[-1]["games"], len(reports)
            print(f"{clean} of {number + 1} are clean; {games_now} games", flush=True)
    seconds = time.monotonic() - began
    first, last = reports[0], reports[-1]
    played = last["size"] - first["size"]
    print(
        f"{AUDITS} audits in {seconds:.0f} s; the log grew by {played} leaves to"
        f" {last['games']} games; {people.finished_tournaments()} tournaments ended;"
        f" made again: {last['pairings']}"
    )

    assert unclean == []
    assert played > AUDITS
    assert people.finished_tournaments() > 0
