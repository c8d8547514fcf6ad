"""Nothing is left of a bot: not after its game, and not after a killed worker."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from engine.referee import ServiceFault
from tests.runner.factories import HELLO, PROGRAMS, ask, groups_left, player, survivors
from torres.runner.protocol import Limits
from torres.runner.sandbox import Program, open_sandbox
from torres.runner.sandbox.cgroup_mounts import find
from torres.runner.sandbox.host import Host, UidPool

pytestmark = pytest.mark.sandbox
ROOT = Path(__file__).parents[2]
KILLED = """
import os, signal
from tests.runner.factories import *
from torres.runner.sandbox import open_sandbox
bot = player(PROGRAMS / "first.py", open_sandbox("full"))
bot.start(HELLO)
print(os.getpid(), flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""

EXITS = """
import os
from types import SimpleNamespace
import django
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ladder.settings")
django.setup()
from ladder.bots.players import sandbox_for
from tests.runner.factories import *
from tests.runner.test_hygiene import worker_groups
sandbox = sandbox_for(SimpleNamespace(bot=SimpleNamespace(house=False)))
bot = player(PROGRAMS / "first.py", sandbox)
bot.start(HELLO)
bot.end([0], [1], "completed")
print(os.getpid(), len(worker_groups(os.getpid())))
"""


def descriptors() -> list[str]:
    return sorted(path.name for path in Path("/proc/self/fd").iterdir())


def worker_groups(pid: int) -> list[Path]:
    """Return the folders of a worker in all hierarchies of control groups."""
    return [p for h in find() for p in (h.here / "torres").glob(f"{pid}-*")]


def killed_worker() -> int:
    """Let a worker kill itself in a game, and return its process id."""
    worker = subprocess.run(
        [sys.executable, "-c", KILLED], cwd=ROOT, capture_output=True, check=False
    )
    return int(worker.stdout)


def test_the_next_worker_clears_up_after_a_killed_one(full, monkeypatch) -> None:
    with tempfile.TemporaryDirectory(prefix="torres-test-") as folder:
        Path(folder).chmod(0o755)  # bots read the staged files in it
        monkeypatch.setenv("TORRES_RUN_DIR", f"{folder}/run")
        for _ in range(5):  # a worker of other tests may remove the groups before us
            dead = killed_worker()
            if worker_groups(dead):
                break
        staged = set(Host.from_environment().folder("stage").iterdir())
        assert worker_groups(dead)
        assert staged

        open_sandbox("full").close()

        assert worker_groups(dead) == []
        assert set(Host.from_environment().folder("stage").iterdir()) == set()
        assert worker_groups(os.getpid())  # those of a living worker stay


def test_a_worker_that_exits_leaves_no_group_and_no_staged_file(
    full, monkeypatch
) -> None:
    with tempfile.TemporaryDirectory(prefix="torres-test-") as folder:
        Path(folder).chmod(0o755)
        monkeypatch.setenv("TORRES_RUN_DIR", f"{folder}/run")
        monkeypatch.setenv("TORRES_SANDBOX", "full")
        worker = subprocess.run(
            [sys.executable, "-c", EXITS],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        )

        pid, groups = (int(word) for word in worker.stdout.split())
        assert groups > 0
        assert worker_groups(pid) == []
        assert list((Path(folder) / "run" / "stage").iterdir()) == []


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


def test_a_failed_start_is_a_service_fault_and_leaves_nothing(full) -> None:
    before = descriptors()
    program = Program(
        PROGRAMS / "nowhere", "bot.py", "python", ("/usr/bin/python3", "bot.py")
    )

    with pytest.raises((ServiceFault, OSError)):
        full.start(program, Limits())

    assert descriptors() == before
    assert groups_left() == []


OPEN_AND_CLOSE = """
from torres.runner.sandbox.cgroup_manager import CgroupManager
for _ in range(150): CgroupManager.open().close()
"""


def test_workers_that_start_and_stop_at_the_same_time_do_not_fail() -> None:
    """The last one that stops removes the folder that the next one is about to use."""
    argv = [sys.executable, "-c", OPEN_AND_CLOSE]
    workers = [
        subprocess.Popen(argv, cwd=ROOT, stderr=subprocess.PIPE) for _ in range(3)
    ]
    errors = [worker.communicate()[1] for worker in workers]

    assert [worker.returncode for worker in workers] == [0, 0, 0], errors


def test_two_workers_never_share_a_slot(tmp_path) -> None:
    host = Host(tmp_path / "run", range(7000, 7002))
    slots_of_one = UidPool(host)
    slots_of_other = UidPool(host)

    uid_1, lock_1 = slots_of_one.take()
    uid_2, lock_2 = slots_of_other.take()
    with pytest.raises(ServiceFault, match="TORRES_SLOT_UIDS"):
        slots_of_one.take()
    os.close(lock_1)
    uid_3, lock_3 = slots_of_other.take()

    assert (uid_1, uid_2, uid_3) == (7000, 7001, 7000)
    os.close(lock_2)
    os.close(lock_3)
