"""The attack programs against level reduced, as an ordinary user."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NAMES = sorted(
    p.stem for p in (ROOT / "tests/bots/attacks").glob("*.py") if p.stem != "kit"
)
USER = "60901"
MAY_FORFEIT = {
    # Where a forfeit is the right end; all others must come to nothing and play on.
    "mem_heap", "mem_mmap_private", "mem_mmap_shared", "mem_children", "mem_pipes",
    "fork_bomb", "fork_sessions", "fork_count", "fork_threads",
}  # fmt: skip
NOT_HELD: dict[str, str] = {}
"""What level reduced cannot hold of these, with the reason; SANDBOX.md says the rest:
peaks between two looks, and children that wake each other while others are to move."""


def test_no_attack_comes_through_at_level_reduced(tmp_path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can become somebody else")
    path = [str(ROOT), *(p for p in sys.path if "site-packages" in p)]
    argv = [
        *("setpriv", "--reuid", USER, "--regid", USER, "--clear-groups", "--"),
        *("/usr/bin/python3", "-B", "-m", "tests.bots.at_reduced", *NAMES),
    ]
    env = {"PATH": "/usr/bin:/bin", "HOME": "/tmp", "PYTHONPATH": ":".join(path)}
    done = subprocess.run(
        argv, env=env, cwd="/", capture_output=True, text=True, check=False, timeout=280
    )
    if "Permission denied" in done.stderr or "No module named" in done.stderr:
        pytest.skip("an ordinary user cannot read this checkout")

    reports = {r["name"]: r for r in map(json.loads, done.stdout.splitlines())}
    assert set(reports) == set(NAMES), done.stderr
    through = {
        name: report
        for name, report in reports.items()
        if "THROUGH" in report["said"] or (report["fault"] and name not in MAY_FORFEIT)
    }
    assert set(through) == set(NOT_HELD), through
    assert {report["opponent"] for report in reports.values()} == {3}
    assert left_of(int(USER)) == []


def left_of(uid: int) -> list[str]:
    left = []
    for process in Path("/proc").iterdir():
        try:
            if process.name.isdecimal() and process.stat().st_uid == uid:
                said = (process / "stat").read_text()
                if said.rpartition(")")[2][1] not in "ZX":
                    left.append(said)
        except OSError:
            continue
    return left
