"""The attack programs against level reduced, in each way to reach it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ladder.runner.sandbox.landlock import MIN_VERSION_SHARED_UID
from ladder.runner.zygote.landlock import version as landlock_version

ROOT = Path(__file__).parents[2]
NAMES = sorted(
    p.stem for p in (ROOT / "tests/runner/attacks").glob("*.py") if p.stem != "kit"
)
USER = 60_901
"""The first of the ids of the first case; twenty for each, some may run at once."""
MAY_FORFEIT = {
    # Where a forfeit is the right end; all others must come to nothing and play on.
    "mem_heap", "mem_mmap_private", "mem_mmap_shared", "mem_children", "mem_pipes",
    "fork_bomb", "fork_sessions", "fork_count", "fork_threads",
}  # fmt: skip
NOT_HELD: dict[str, set[str]] = {
    "bubblewrap": set(),
    "landlock": {
        "file_who_is_it"
    },  # that a file is there can be seen, not what is in it
}
"""What level reduced cannot hold of these; SANDBOX.md says the rest: peaks between two
looks, and children that wake each other while others are to move."""


@pytest.mark.parametrize(
    ("way", "user", "slots"),
    [
        ("bubblewrap", USER, range(USER + 1, USER + 20)),
        ("landlock", USER + 20, range(USER + 21, USER + 40)),
        pytest.param(
            "landlock", 0, range(USER + 40, USER + 60), marks=pytest.mark.slow
        ),
    ],
)
def test_no_attack_comes_through_at_level_reduced(
    way: str, user: int, slots: range
) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can become somebody else")
    if way == "landlock" and landlock_version() < MIN_VERSION_SHARED_UID:
        pytest.skip("this kernel has no Landlock of version 6 (Linux 6.12)")
    done = attacked(way, user, slots)
    if "Permission denied" in done.stderr or "No module named" in done.stderr:
        pytest.skip("an ordinary user cannot read this checkout")

    reports = {r["name"]: r for r in map(json.loads, done.stdout.splitlines())}
    assert set(reports) == set(NAMES), done.stderr
    through = {
        name: report
        for name, report in reports.items()
        if "ours" in report
        or "THROUGH" in report["said"]
        or (report["fault"] and name not in MAY_FORFEIT)
    }
    assert set(through) == NOT_HELD[way], through
    assert {report["opponent"] for report in reports.values()} == {3}
    assert left_of({user, *slots} - {0}) == []


def attacked(way: str, user: int, slots: range) -> subprocess.CompletedProcess[str]:
    path = [str(ROOT), *(p for p in sys.path if "site-packages" in p)]
    argv = [
        *("setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", "--"),
        *("/usr/bin/python3", "-B", "-m", "tests.runner.at_reduced", way, *NAMES),
    ]
    env = {
        "PATH": "/usr/bin:/bin",
        "HOME": "/tmp",
        "PYTHONPATH": ":".join(path),
        "TORRES_SLOT_UIDS": f"{slots[0]}-{slots[-1]}",
    }
    return subprocess.run(
        argv, env=env, cwd="/", capture_output=True, text=True, check=False, timeout=280
    )


def left_of(uids: set[int]) -> list[str]:
    left = []
    for process in Path("/proc").iterdir():
        try:
            if process.name.isdecimal() and process.stat().st_uid in uids:
                said = (process / "stat").read_text()
                if said.rpartition(")")[2][1] not in "ZX":
                    left.append(said)
        except OSError:
            continue
    return left
