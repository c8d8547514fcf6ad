"""Neither a thousand games nor a killed worker leave anything behind on the host."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.runner.factories import PROGRAMS, contest, player
from torres.runner.protocol import Limits
from torres.runner.sandbox import SandboxUnavailable, open_sandbox
from torres.runner.sandbox.cgroup_mounts import find
from torres.runner.sandbox.host import Host

GAMES = int(os.environ.get("TESTS_SOAK_GAMES", "1000"))
PLAYERS = ("first", "first", "first", "exit_at_answer", "spin_threads")
ROOT = Path(__file__).parents[2]
# A process may grow by this much, because its allocator does not return all memory.
MAX_GROWTH_KIB = 8_192


@dataclass(frozen=True)
class Leftovers:
    """Everything that could accumulate on the host."""

    descriptors: list[str]
    processes: list[str]
    groups: list[str]
    mounts: str
    files: list[str]


def leftovers(uids: range, *workers: int) -> Leftovers:
    """Return what these workers and all bots left behind, but no other programs."""
    run = Host.from_environment().run_dir
    return Leftovers(
        sorted(path.name for path in Path("/proc/self/fd").iterdir()),
        sorted(bot_processes(uids)),
        sorted(
            str(group.parent)  # its number differs for each bot, so leave it out
            for hierarchy in find()
            for worker in workers
            for group in (hierarchy.here / "torres").glob(f"{worker}-*/*/")
        ),
        Path("/proc/mounts").read_text(),
        sorted(str(p) for p in run.rglob("*") if "slots" not in p.parts),
    )


def bot_processes(uids: range) -> Iterator[str]:
    for process in Path("/proc").iterdir():
        try:
            if process.name.isdecimal() and process.stat().st_uid in uids:
                yield (process / "stat").read_text()
        except OSError:
            continue


def kib(pid: int | str) -> int:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmRSS")).split()[1])


def zygotes() -> list[int]:
    me = Path(f"/proc/{os.getpid()}/task")
    children = [
        pid for t in me.iterdir() for pid in (t / "children").read_text().split()
    ]
    return [int(p) for p in children if b"zygote" in command(p)]


def command(pid: str) -> bytes:
    return Path(f"/proc/{pid}/cmdline").read_bytes()


@pytest.fixture
def slots(monkeypatch) -> Iterator[range]:
    with tempfile.TemporaryDirectory(prefix="torres-soak-") as folder:
        Path(folder).chmod(0o755)  # bots read copies in it
        monkeypatch.setenv("TORRES_SLOT_UIDS", "63100-63119")
        monkeypatch.setenv("TORRES_RUN_DIR", f"{folder}/run")
        yield range(63_100, 63_120)


def opened():
    try:
        return open_sandbox("full")
    except SandboxUnavailable as why:
        pytest.skip(str(why))


def test_a_thousand_games_leave_nothing(slots) -> None:
    sandbox = opened()

    def game(number: int) -> None:
        name = PLAYERS[number % len(PLAYERS)]
        bot = player(PROGRAMS / f"{name}.py", sandbox, Limits(start_ms=20_000))
        contest(
            bot, sandbox, rounds=2, move_ms=50 if name == "spin_threads" else 20_000
        )

    for number in range(len(PLAYERS) * 3):
        game(number)
    before = leftovers(slots, os.getpid())
    size = kib("self")
    (zygote,) = zygotes()
    its_size = kib(zygote)
    for number in range(GAMES):
        game(number)
    after = leftovers(slots, os.getpid())
    sandbox_size, zygote_size = kib("self") - size, kib(zygote) - its_size
    sandbox.close()

    print(f"grown: worker {sandbox_size} KiB, zygote {zygote_size} KiB")
    assert after == before
    assert sandbox_size < MAX_GROWTH_KIB
    assert zygote_size < MAX_GROWTH_KIB


WORKER = """
import sys, threading
from tests.runner.factories import *
from torres.runner.sandbox import open_sandbox
full = open_sandbox("full")
print("ready", flush=True)
def games():
    while True:
        contest(player(PROGRAMS / "wakers.py", full), full)
threads = [threading.Thread(target=games) for _ in range(3)]
for thread in threads: thread.start()
"""


def test_workers_that_are_killed_in_their_games_leave_nothing(slots) -> None:
    """Kill workers at twenty moments: while games start, run and end."""
    opened().close()
    before = leftovers(slots)
    killed = []
    for number in range(20):
        with subprocess.Popen(
            [sys.executable, "-c", WORKER], cwd=ROOT, stdout=subprocess.PIPE
        ) as worker:
            assert worker.stdout is not None
            assert worker.stdout.readline() == b"ready\n"
            time.sleep(0.037 * number)  # noqa: TID251 - an arbitrary moment is intended
            worker.send_signal(signal.SIGKILL)
        killed.append(worker.pid)
        deadline = time.monotonic() + 30
        while list(bot_processes(slots)) and time.monotonic() < deadline:
            time.sleep(0.05)  # noqa: TID251 - the kernel needs time to end them
        assert list(bot_processes(slots)) == []

    opened().close()  # the next sandbox removes what is left
    assert leftovers(slots, *killed) == before
