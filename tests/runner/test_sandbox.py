"""Properties that the attack programs cannot show about the sandbox.

Each test stands for a mistake that is easily made: a limit that does not count
threads, a control that misses children, a file that the bot's user cannot read.
"""

import contextlib
import dataclasses
import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from engine.referee import PlayerFault
from tests.conftest import need_program
from tests.runner.factories import HELLO, PROGRAMS, ask, contest, player
from torres.common.locks import lock
from torres.runner.languages import locate
from torres.runner.process import BotProcess
from torres.runner.protocol import Limits
from torres.runner.sandbox import Program, open_sandbox, staging
from torres.runner.sandbox.bubblewrap import BubblewrapSandbox
from torres.runner.sandbox.host import Host
from torres.runner.sandbox.landlock import MIN_VERSION_OWN_UID
from torres.runner.sandbox.staging import Stage
from torres.runner.zygote.landlock import version as landlock_version

pytestmark = pytest.mark.sandbox


def started(bot: BotProcess) -> list[int]:
    """Start a bot, and return the ids of all threads in its sandbox."""
    bot.start(HELLO)
    return bot._bot.threads()


def test_no_process_of_the_sandbox_has_the_worker_s_environment(full, bot) -> None:
    os.environ["TESTS_SECRET"] = "sesame"
    try:
        pids = started(bot("first.py", full))
    finally:
        del os.environ["TESTS_SECRET"]

    for pid in pids:
        assert b"sesame" not in Path(f"/proc/{pid}/environ").read_bytes()


def test_cpu_time_of_children_that_have_ended_is_counted(full) -> None:
    bot = player(PROGRAMS / "many_threads.py", full)
    bot.start(HELLO)
    assert bot.decide(ask()).cpu_ms > 199
    bot.kill()


def test_each_bot_has_a_user_id_of_its_own_on_the_host(full, bot) -> None:
    pids = [pid for _ in range(3) for pid in started(bot("first.py", full))]

    uids = [Path(f"/proc/{pid}").stat().st_uid for pid in pids]
    assert 0 not in uids
    assert len(set(uids)) == 3


def test_every_process_of_a_bot_lets_others_go_first(full) -> None:
    program = dataclasses.replace(locate(PROGRAMS / "first.py"), niceness=10)
    bot = BotProcess(program, full)
    pids = started(bot)
    expected = min(os.nice(0) + 10, 19)  # the tests may run with a niceness, too
    try:
        for pid in pids:
            assert os.getpriority(os.PRIO_PROCESS, pid) == expected
            autogroup = Path(f"/proc/{pid}/autogroup")
            assert not autogroup.exists() or "nice 10" in autogroup.read_text()
    finally:
        bot.kill()


def test_one_child_over_memory_ends_the_whole_bot(full) -> None:
    """The kernel may kill only the child, and the bot would go on and answer."""
    bot = player(PROGRAMS / "child_over_memory.py", full, Limits(memory_mb=64))

    game = contest(bot, full)

    assert game.fault is not None
    assert game.fault.reason == "memory"


SANDBOXES = {
    "full": "from torres.runner.sandbox import open_sandbox;"
    " sandbox = open_sandbox('full')",
    "bubblewrap": "from torres.runner.sandbox.bubblewrap import BubblewrapSandbox;"
    " from torres.runner.sandbox.host import Host;"
    " sandbox = BubblewrapSandbox(Host.from_environment(), None)",
    "landlock": "from torres.runner.sandbox.landlock import LandlockSandbox;"
    " from torres.runner.sandbox.host import Host;"
    " sandbox = LandlockSandbox(Host.from_environment())",
    "gvisor": "from torres.runner.sandbox import open_sandbox;"
    " sandbox = open_sandbox('isolated')",
}


@pytest.mark.parametrize("backend", SANDBOXES)
def test_a_killed_worker_leaves_no_process(full, backend: str) -> None:
    if backend == "landlock" and landlock_version() < MIN_VERSION_OWN_UID:
        pytest.skip(f"this kernel has no Landlock of version {MIN_VERSION_OWN_UID}")
    if backend == "gvisor":
        need_program("runsc", "runsc")
    code = f"""
from tests.runner.factories import *
{SANDBOXES[backend]}
names = ("first.py", "wakers.py", "ignores_everything.py")
bots = [player(PROGRAMS / name, sandbox) for name in names]
for bot in bots: bot.start(HELLO)
for bot in bots: bot.decide(ask())
print(*(pid for bot in bots for pid in bot._bot.threads()), flush=True)
import os, signal
os.kill(os.getpid(), signal.SIGKILL)
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )

    pids = [int(word) for word in done.stdout.split()]
    assert len(pids) >= 3, done.stderr  # One for each bot, and their children.
    for _ in range(200):  # The kernel needs some time.
        if not any(alive(pid) for pid in pids):
            break
        subprocess.run(["sleep", "0.05"], check=True)
    assert [pid for pid in pids if alive(pid)] == []


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2][1] not in "ZX"
    except OSError:
        return False


def test_a_sandbox_without_proc_runs_python() -> None:
    need_program("bwrap", "bubblewrap")
    sandbox = BubblewrapSandbox(Host.from_environment(), None, proc=False)
    try:
        assert contest(player(PROGRAMS / "first.py", sandbox), sandbox).answers == 3
    finally:
        sandbox.close()


@pytest.mark.parametrize("when", ["before the zygote", "after the zygote"])
def test_bots_start_while_a_library_has_set_a_default_socket_timeout(
    full, when: str
) -> None:
    """Celery sets one when it shuts down, and kombu when it connects again."""
    before = socket.getdefaulttimeout()
    with contextlib.ExitStack() as stack:
        stack.callback(socket.setdefaulttimeout, before)
        if when == "before the zygote":
            socket.setdefaulttimeout(5)
            sandbox = stack.enter_context(contextlib.closing(open_sandbox("full")))
        else:
            sandbox = full
            contest(player(PROGRAMS / "first.py", full), full)
            socket.setdefaulttimeout(5)
        games = [
            contest(player(PROGRAMS / "first.py", sandbox), sandbox, rounds=1)
            for _ in range(20)
        ]

    assert [(game.fault, game.answers) for game in games] == [(None, 1)] * 20


@pytest.mark.parametrize(
    ("env", "reason"), [({"APART": "1"}, "memory"), ({}, None)], ids=["apart", "same"]
)
def test_shared_memory_counts_once_for_those_that_share_it(env, reason) -> None:
    """Without control groups the memory of all processes is added up."""
    need_program("bwrap", "bubblewrap")
    sandbox = BubblewrapSandbox(Host.from_environment(), None)
    limits = Limits(memory_mb=200)
    bot = player(PROGRAMS / "shared_memory.py", sandbox, limits, env)
    try:
        bot.start(HELLO)
        fault = None
        try:
            bot.decide(ask(move_ms=20_000))
        except PlayerFault as caught:
            fault = caught.reason
    finally:
        bot.kill()
        sandbox.close()

    assert fault == reason


def test_threads_start(full) -> None:
    game = contest(player(PROGRAMS / "ponder.py", full), full)

    assert game.fault is None


def test_a_bot_in_a_private_folder_is_copied_to_a_readable_one(full, tmp_path) -> None:
    folder = tmp_path / "private"
    folder.mkdir(mode=0o700)
    (folder / "bot.py").write_bytes((PROGRAMS / "first.py").read_bytes())
    (folder / "bot.py").chmod(0o600)

    assert contest(player(folder, full), full).answers == 3
    assert oct(folder.stat().st_mode & 0o777) == "0o700"


def test_a_changed_bot_is_copied_again(tmp_path) -> None:
    folder = tmp_path / "bot"
    folder.mkdir(mode=0o700)
    (folder / "bot.py").write_text("1")
    stage = Stage(Host(tmp_path / "run", range(1)))

    program = locate(folder)
    first = stage.folder(program)
    (folder / "bot.py").write_text("22")
    os.utime(folder / "bot.py", ns=(1, 1 << 62))
    second = stage.folder(program)
    stage.close()

    assert first != second
    assert list((tmp_path / "run" / "stage").iterdir()) == []


def test_a_new_folder_that_another_process_removes_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other process removes it between the opening and the lock of its file."""
    removed = []

    def removed_meanwhile(path: Path) -> int:
        descriptor = lock(path)
        if not removed:
            removed.append(path.parent)
            shutil.rmtree(path.parent)
        return descriptor

    monkeypatch.setattr(staging, "lock", removed_meanwhile)
    stage = Stage(Host(tmp_path / "run", range(1)))
    (own,) = (tmp_path / "run" / "stage").iterdir()
    stage.close()

    assert own not in removed


def test_threads_count_as_processes(full) -> None:
    """The limit counts threads, and must allow the about 20 of a Java bot."""
    program = Program(PROGRAMS, "x", "python", ("/usr/bin/python3", "-c", THREADS))
    bot = full.start(program, Limits(pids=20))
    for _ in range(200):
        try:
            output = os.read(bot.stdout, 100)
        except BlockingIOError:
            subprocess.run(["sleep", "0.02"], check=True)
        else:
            break
    bot.kill()
    for fd in (bot.stdin, bot.stdout, bot.stderr):
        os.close(fd)

    assert int(output) == 19  # The main thread is the twentieth.


THREADS = """
import threading
n = 0
try:
    while True:
        threading.Thread(target=threading.Event().wait, daemon=True).start()
        n += 1
except RuntimeError:
    print(n, flush=True)
    import os; os._exit(0)
"""
