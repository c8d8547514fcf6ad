"""The supervisor: a process between the worker and a bot.

It reaps every process that the bot leaves behind, and it reports how the bot ended.
There are two kinds. In a PID namespace the supervisor is PID 1, so the kernel
kills everything in the namespace when the supervisor exits (``supervise``). Without
namespaces the supervisor is a subreaper: orphans become its children, and it kills
them itself (``fork_under_supervisor``).
"""

import contextlib
import os
import signal
import struct
from pathlib import Path
from typing import NoReturn

from torres.runner.zygote.messages import STATUS_FD
from torres.runner.zygote.syscalls import (
    PR_SET_CHILD_SUBREAPER,
    PR_SET_DUMPABLE,
    PR_SET_PDEATHSIG,
    prctl,
)

_STANDARD_FDS = 3
"""stdin, stdout and stderr have the numbers below this one."""
_MAX_FDS = 256
"""A fork of the zygote has no descriptor with this number or a higher one. The limit
is low because some versions of Python close a range one descriptor at a time."""
_EXIT_NOT_REPORTED = 1
"""Exit code of a supervisor that could not report how the bot ended."""


class _Stopped(BaseException):
    """The supervisor received SIGTERM."""


def fork_under_supervisor(worker: int, fds: int) -> int:
    """Fork. The parent becomes the bot's supervisor and never returns from here.

    In the child, which becomes the bot, return the supervisor's PID. The supervisor
    exits when the process ``worker`` does, and closes its descriptors below ``fds``,
    except the status pipe: otherwise the worker would never see the end of the bot's
    pipes.
    """
    os.setsid()
    supervisor = os.getpid()
    signal.signal(signal.SIGTERM, _stop)
    prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != worker:
        os._exit(1)
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    bot = os.fork()
    if bot:
        _wait_and_clean_up(bot, fds)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    return supervisor


def supervise(argv: list[str], env: dict[str, str]) -> NoReturn:
    """Start the bot, wait for it as PID 1 of its namespace, report its end, and exit.

    The supervisor is under the same restrictions as the bot. The bot itself must not
    be PID 1: PID 1 ignores every signal that it does not handle. An ``abort`` in it
    would then end with signal 11 in place of signal 6.
    """
    # The bot may read /proc as soon as it runs; it must learn nothing from this
    # process there.
    _close_all_but_status(_STANDARD_FDS, _MAX_FDS)
    prctl(PR_SET_DUMPABLE, 0)
    bot = os.posix_spawn(argv[0], argv, env)
    os.closerange(0, _STANDARD_FDS)  # Otherwise the pipes would stay open.
    _report_and_exit(_reap_until(bot))


def _reap_until(bot: int) -> int:
    """Reap children until the bot has ended; return its wait status."""
    while True:
        pid, status = os.waitpid(-1, 0)
        if pid == bot:
            return status


def _close_all_but_status(first: int, end: int) -> None:
    """Close the descriptors from ``first`` up to ``end``, except the status pipe."""
    os.closerange(first, STATUS_FD)
    os.closerange(STATUS_FD + 1, end)


def _report_and_exit(status: int) -> NoReturn:
    """Write the bot's wait status to the status pipe, and exit."""
    code = _EXIT_NOT_REPORTED
    try:
        os.write(STATUS_FD, struct.pack("i", status))
        code = 0
    finally:
        os._exit(code)


def _stop(*_: object) -> NoReturn:
    raise _Stopped


def _wait_and_clean_up(bot: int, fds: int) -> NoReturn:
    """Wait for the bot, kill everything that it left behind, report, and exit."""
    status = int(signal.SIGKILL)
    try:
        _close_all_but_status(0, fds)
        status = _reap_until(bot)
    except _Stopped:
        pass
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        _kill_descendants()
        _report_and_exit(status)


def _kill_descendants() -> None:
    """Kill and reap all descendants of this process until there are none."""
    while True:
        pids = _descendants(os.getpid())
        if not pids:
            return
        for pid in pids:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        with contextlib.suppress(OSError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


def _descendants(root: int) -> list[int]:
    pids = [root]
    for pid in pids:  # The list grows while the loop reads it.
        with contextlib.suppress(OSError):
            for task in Path(f"/proc/{pid}/task").iterdir():
                pids += map(int, (task / "children").read_text().split())
    return pids[1:]
