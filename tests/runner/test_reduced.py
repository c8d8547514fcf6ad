"""The attack programs against level reduced, with each back end that reaches it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import need_program
from torres.runner.sandbox.landlock import MIN_VERSION_SHARED_UID
from torres.runner.zygote.landlock import version as landlock_version

ROOT = Path(__file__).parents[2]
NAMES = sorted(
    p.stem for p in (ROOT / "tests/runner/attacks").glob("*.py") if p.stem != "kit"
)
USER = 60_901
"""The first user id of the first case. Each case has twenty of its own, because the
cases may run at the same time."""
MAY_FORFEIT = {
    # A forfeit is a right end for these; all others must fail and let the bot play on.
    "mem_heap", "mem_mmap_private", "mem_mmap_shared", "mem_children", "mem_pipes",
    "fork_bomb", "fork_sessions", "fork_count", "fork_threads",
}  # fmt: skip
NOT_HELD: dict[str, set[str]] = {
    # Bubblewrap mounts a whole /proc, with the numbers of event descriptors.
    "bubblewrap": {"chan_descriptor_numbers"},
    # Landlock does not hide the name of the host and the bot's user id.
    "landlock": {"file_who_is_it"},
}
"""The attacks that succeed at level reduced. torres/runner/sandbox/README.md describes
its other weaknesses: short peaks of memory, and children that wake each other while
other seats decide."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("backend", "user", "uids"),
    [
        ("bubblewrap", USER, range(USER + 1, USER + 20)),
        ("landlock", USER + 20, range(USER + 21, USER + 40)),
        pytest.param(
            "landlock", 0, range(USER + 40, USER + 60), marks=pytest.mark.deep
        ),
    ],
)
def test_no_attack_comes_through_at_level_reduced(
    backend: str, user: int, uids: range
) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can become another user")
    if backend == "landlock" and landlock_version() < MIN_VERSION_SHARED_UID:
        pytest.skip("this kernel has no Landlock of version 6 (Linux 6.12)")
    done = run_attacks(backend, user, uids)
    if "Permission denied" in done.stderr or "No module named" in done.stderr:
        pytest.skip("an ordinary user cannot read this checkout")

    reports = {r["name"]: r for r in map(json.loads, done.stdout.splitlines())}
    assert set(reports) == set(NAMES), done.stderr
    successful = {
        name: report
        for name, report in reports.items()
        if "ours" in report
        or (not report["fault"] and "HELD" not in report["said"])
        or "THROUGH" in report["said"]
        or (report["fault"] and name not in MAY_FORFEIT)
    }
    assert set(successful) == NOT_HELD[backend], successful
    assert {report["opponent"] for report in reports.values()} == {3}
    assert processes_of({user, *uids} - {0}) == []


def run_attacks(
    backend: str, user: int, uids: range
) -> subprocess.CompletedProcess[str]:
    path = [str(ROOT), *(p for p in sys.path if "site-packages" in p)]
    argv = [
        *("setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", "--"),
        *("/usr/bin/python3", "-B", "-m", "tests.runner.run_attacks", backend, *NAMES),
    ]
    env = {
        "PATH": "/usr/bin:/bin",
        "HOME": "/tmp",
        "PYTHONPATH": ":".join(path),
        "TORRES_SLOT_UIDS": f"{uids[0]}-{uids[-1]}",
    }
    return subprocess.run(
        argv, env=env, cwd="/", capture_output=True, text=True, check=False, timeout=280
    )


def processes_of(uids: set[int]) -> list[str]:
    """Return /proc/PID/stat of each living process of these users."""
    living = []
    for process in Path("/proc").iterdir():
        try:
            if process.name.isdecimal() and process.stat().st_uid in uids:
                stat = (process / "stat").read_text()
                if stat.rpartition(")")[2][1] not in "ZX":
                    living.append(stat)
        except OSError:
            continue
    return living


HOLDS = """
import os, subprocess
from torres.runner.sandbox.proc import holds
mine, its = os.pipe()
bot = subprocess.Popen(["sleep", "60"], stdout=its, user=60_999)
try:
    print(holds(bot.pid, mine))
finally:
    bot.kill()
"""


def test_a_pipe_counts_as_open_where_root_may_not_look() -> None:
    """Containers give root no right to look into processes of other users."""
    if os.geteuid() != 0:
        pytest.skip("only root can become another user")
    need_program("setpriv", "util-linux")
    done = subprocess.run(
        ["setpriv", "--bounding-set=-sys_ptrace", sys.executable, "-c", HOLDS],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.stdout == "True\n", done.stderr
