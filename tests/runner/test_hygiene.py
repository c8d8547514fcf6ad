"""Nothing is left: not after games, not after a killed worker, not after a thousand."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from engine.referee import ServiceFault
from ladder.runner.protocol import Limits
from ladder.runner.sandbox import Program, open_sandbox
from ladder.runner.sandbox.cgroup_mounts import find
from ladder.runner.sandbox.host import Host, UidPool
from tests.runner.factories import HELLO, PROGRAMS, ask, groups_left, player, survivors

pytestmark = pytest.mark.sandbox
ROOT = Path(__file__).parents[2]
KILLED = """
import os, signal
from tests.runner.factories import *
from ladder.runner.sandbox import open_sandbox
bot = player(PROGRAMS / "first.py", open_sandbox("full"))
bot.start(HELLO)
print(os.getpid(), flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def descriptors() -> list[str]:
    return sorted(path.name for path in Path("/proc/self/fd").iterdir())


def places(pid: int) -> list[Path]:
    return [p for h in find() for p in (h.here / "torres").glob(f"{pid}-*")]


def killed_worker() -> int:
    """Let a worker kill itself in a game, and return its id."""
    done = subprocess.run(
        [sys.executable, "-c", KILLED], cwd=ROOT, capture_output=True, check=False
    )
    return int(done.stdout)


def test_the_next_worker_sweeps_what_a_killed_one_left(full, monkeypatch) -> None:
    with tempfile.TemporaryDirectory(prefix="torres-test-") as own:
        Path(own).chmod(0o755)  # bots see what is staged in it
        monkeypatch.setenv("TORRES_RUN_DIR", f"{own}/run")
        for _ in range(5):  # a worker of other tests may sweep its groups before us
            if places(dead := killed_worker()):
                break
        staged = set(Host.from_environment().folder("stage").iterdir())
        assert places(dead)
        assert staged

        open_sandbox("full").close()

        assert places(dead) == []
        assert set(Host.from_environment().folder("stage").iterdir()) == set()
        assert places(os.getpid())  # and nobody else's


def test_games_leave_no_descriptor_process_or_group(full) -> None:
    def game() -> None:
        bot = player(PROGRAMS / "first.py", full)
        bot.start(HELLO)
        bot.decide(ask())
        bot.end([0], [1], "completed")

    game()
    before = descriptors()
    for _ in range(10):
        game()

    assert descriptors() == before
    assert survivors() == []
    assert groups_left() == []


def test_a_box_that_cannot_be_made_is_our_fault_and_leaves_nothing(full) -> None:
    before = descriptors()
    box = Program(
        PROGRAMS / "nowhere", "bot.py", "python", ("/usr/bin/python3", "bot.py")
    )

    with pytest.raises((ServiceFault, OSError)):
        full.start(box, Limits())

    assert descriptors() == before
    assert groups_left() == []


TAKEN = """
from ladder.runner.sandbox.cgroup_manager import CgroupManager
for _ in range(150): CgroupManager.open().close()
"""


def test_workers_that_come_and_go_are_not_in_each_other_s_way() -> None:
    """The last to go removes the folder that the next is about to use."""
    argv = [sys.executable, "-c", TAKEN]
    coming = [subprocess.Popen(argv, cwd=ROOT, stderr=-1) for _ in range(3)]
    said = [process.communicate()[1] for process in coming]

    assert [process.returncode for process in coming] == [0, 0, 0], said


def test_two_workers_never_share_a_slot(tmp_path) -> None:
    host = Host(tmp_path / "run", range(7000, 7002))
    first, second = UidPool(host), UidPool(host)

    (one, held), (two, other) = first.take(), second.take()
    with pytest.raises(ServiceFault, match="TORRES_SLOT_UIDS"):
        first.take()
    os.close(held)
    again, last = second.take()

    assert (one, two, again) == (7000, 7001, 7000)
    for fd in (other, last):
        os.close(fd)
