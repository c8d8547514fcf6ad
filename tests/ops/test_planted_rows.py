"""A real service plays a tournament to its end, whatever rows are planted beside it.

The organiser uses REST as docs/tournaments.md says. House bots play in processes; the
dispatcher and the worker are those of `manage.py up`.
"""

import shlex
import subprocess
import time
from pathlib import Path
from threading import Event

import httpx
import pytest
from django.conf import settings

from tests.conftest import need_program
from tests.ops.running import MANAGE_PY, environment, running_service
from tests.tournaments import documented

TIMEOUT_S = 120.0
PLANT = "from tests.tournaments.planted_rows import *; plant_everything()"
FREEZE = ["operator", "freeze", "main", "--why", "Only the tournament plays."]
TOKEN = ["token", "oscar", "--scope", "read", "--scope", "organise"]


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    return environment(tmp_path, PYTHONPATH=str(settings.BASE_DIR))


def manage(home: dict[str, str], *words: str, expect: int = 0) -> str:
    done = subprocess.run(
        [*MANAGE_PY, *words], env=home, capture_output=True, text=True, check=False
    )
    assert done.returncode == expect, (words, done.stdout, done.stderr)
    return done.stdout + done.stderr


@pytest.mark.slow
def test_the_service_plays_on_beside_planted_rows(
    home: dict[str, str], tmp_path: Path
) -> None:
    need_program("curl", "curl")
    assert documented.ROLE
    # One process for all, because most of the time of a command is its start.
    commands = [["prepare"], FREEZE, TOKEN, shlex.split(documented.ROLE[1])]
    steps = [
        "from django.core.management import call_command as call",
        *(f"call(*{words})" for words in commands),
        PLANT,
    ]
    done = manage(home, "shell", "-v0", "--no-imports", "-c", "\n".join(steps))
    (token,) = (word for word in done.split() if word.startswith("torres_"))
    with running_service(home, "--slots", "2") as (server, process):
        file = documented.FILES["groups"]
        slug = documented.run_over_rest(tmp_path, file, server, token)
        variables = {"LADDER": server}
        state, standings = documented.lines("Then")
        ends = time.monotonic() + TIMEOUT_S
        address = f"{server}/api/v1/tournaments/{slug}/"
        while httpx.get(address, timeout=60).json()["status"] != "finished":
            assert time.monotonic() < ends, manage(home, "status", expect=1)
            Event().wait(0.5)
        for line, expected in ((state, "finished"), (standings, "house-greedy")):
            own = line.replace(documented.SLUG_OF_THE_PAGE, slug)
            assert expected in documented.run(own, tmp_path, variables)
        said = manage(home, "status", expect=1)
        assert process.poll() is None
    assert said.count("Stopped since") >= 40
    assert "it must be one of round_robin" in said
    assert "The totals add up." in said
