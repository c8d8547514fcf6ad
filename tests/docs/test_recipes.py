"""The curl recipes of the README and of the API page, against a running service."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from threading import Event

import httpx
import pytest

from tests.conftest import need_program
from tests.docs.test_commands import ROOT, SMALLEST_BOT, commands
from tests.ops.running import environment

# Nothing here measures how fast the service is; a machine may be busy.
HANGS_AFTER_S = 600.0
MANAGE = [sys.executable, str(ROOT / "tests/ops/scripted_manage.py")]
TOURNAMENT = """
from tests.tournaments.factories import tournament
tournament({"format": "swiss", "rounds": 3})
"""
# `zip` may be missing on this machine; Python has the same.
SHELL = 'set -euo pipefail; zip() { python3 -m zipfile -c "$@"; }; '


@dataclass
class RunningService:
    """A service of its own, with the environment that a reader has in the terminal."""

    folder: Path
    variables: dict[str, str]

    @property
    def api(self) -> str:
        return f"{self.variables['LADDER']}/api/v1"

    def run(self, line: str) -> str:
        """Run one command line; an HTTP status of 400 or more is a failure."""
        strict = re.sub(
            r"\bcurl ", "curl --silent --show-error --fail-with-body ", line
        )
        done = subprocess.run(
            ["bash", "-c", SHELL + strict],
            cwd=self.folder,
            env=os.environ | self.variables,
            capture_output=True,
            text=True,
            check=False,
            timeout=HANGS_AFTER_S,
        )
        assert done.returncode == 0, (line, done.stdout, done.stderr)
        return done.stdout

    def first(self, path: str) -> int:
        """Wait until a list of the API has a row, and return its id."""
        ends = time.monotonic() + HANGS_AFTER_S
        while time.monotonic() < ends:
            rows = httpx.get(f"{self.api}/{path}", timeout=60).json()["results"]
            if rows:
                return int(rows[0]["id"])
            Event().wait(0.2)
        raise AssertionError(f"{path} stayed empty for {HANGS_AFTER_S} s")

    def upload_another_version(self) -> None:
        """Upload a changed bot, and wait until it is ready."""
        headers = {"Authorization": f"Bearer {self.variables['TOKEN']}"}
        address = f"{self.api}/bots/my-bot/submissions/"
        changed = {"archive": ("bot.py", f"{SMALLEST_BOT[1]}\n# changed\n")}
        answer = httpx.post(address, files=changed, headers=headers, timeout=60)
        assert answer.status_code == 202, answer.text
        version = f"{self.api}/submissions/{answer.json()['id']}/"
        deadline = time.monotonic() + HANGS_AFTER_S
        while httpx.get(version, timeout=60).json()["status"] != "ready":
            assert time.monotonic() < deadline, httpx.get(version, timeout=60).text
            Event().wait(0.2)


@pytest.fixture
def service(tmp_path: Path) -> Iterator[RunningService]:
    need_program("curl", "curl")
    # Uploads are validated as everywhere; level `none` needs nothing of the machine.
    home = environment(tmp_path, TORRES_SANDBOX="none")
    process = subprocess.Popen(
        [*MANAGE, "up", "--demo"], env=home, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    variables = {}
    for line in process.stdout:
        name, _, value = line.strip().partition("=")
        if name in ("LADDER", "TOKEN"):
            variables[name] = value
        if len(variables) == 2:
            break
    shell = [*MANAGE, "shell", "--verbosity", "0", "--command", TOURNAMENT]
    subprocess.run(shell, env=home, check=True, capture_output=True)
    assert SMALLEST_BOT
    (tmp_path / "bot.py").write_text(SMALLEST_BOT[1])
    (tmp_path / ".venv").symlink_to(Path(sys.executable).parents[1])
    try:
        yield RunningService(tmp_path, variables)
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)


@pytest.mark.slow
@pytest.mark.parametrize("page", ["README.md", "docs/api.md"])
def test_every_recipe_works(page: str, service: RunningService) -> None:
    lines = [line for line in commands(ROOT / page) if re.match(r"curl|zip ", line)]
    # The pages show recipes in an order that makes sense to a reader; the first recipe
    # of the API page reads the bot that a later one creates.
    lines.sort(key=lambda line: '"name":"My bot"' not in line)
    uploaded = False
    for line in lines:
        game = 1
        if "/comparisons/" in line and "-d" in line:
            service.upload_another_version()
        if uploaded:
            game = service.first("games/?bot=my-bot&status=finished")
        own = line.replace("/games/1/", f"/games/{game}/")
        service.run(own.replace("/submissions/1/", "/submissions/$SUBMISSION/"))
        if "archive=" in line:
            uploaded = True
            headers = {"Authorization": f"Bearer {service.variables['TOKEN']}"}
            address = f"{service.api}/bots/my-bot/submissions/"
            rows = httpx.get(address, headers=headers, timeout=60)
            service.variables["SUBMISSION"] = str(rows.json()["results"][0]["id"])
