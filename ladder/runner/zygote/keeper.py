"""A process between the worker and a bot, which ends as the bot does.

All that the bot leaves behind falls to it. Of a process namespace it is the first
process, with which the others end; without one it is a subreaper, and ends them.
"""

import contextlib
import os
import signal
from pathlib import Path
from typing import NoReturn

from ladder.runner.zygote.calls import DIE_WITH, DUMPABLE, SUBREAPER, prctl

_PIPES, _ALL_FDS = 3, 256
"""Descriptors below these: the bot's pipes, and all that a zygote may have open. They
are few, because some Pythons close one after the other."""


class _Enough(BaseException):
    """The keeper was told to end."""


def keep(worker: int, fds: int) -> int:
    """Fork the bot and return the keeper's id in it; the keeper never returns.

    The keeper ends when ``worker`` does, and closes the first ``fds`` descriptors:
    else the bot's pipes would never end.
    """
    os.setsid()
    keeper = os.getpid()
    signal.signal(signal.SIGTERM, _stop)
    prctl(DIE_WITH, signal.SIGTERM)
    if os.getppid() != worker:
        os._exit(1)
    prctl(SUBREAPER, 1)
    if bot := os.fork():
        _wait_for(bot, fds)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    return keeper


def stand_in_front(argv: list[str], env: dict[str, str]) -> NoReturn:
    """Start the bot and end as it ends, held as it is held.

    A bot that was the first process of its namespace would be deaf to each signal that
    it does not handle: one that aborts would seem to have hit a wrong address.
    """
    # The bot may look into /proc as soon as it runs; here it is to find nothing.
    os.closerange(_PIPES, _ALL_FDS)
    prctl(DUMPABLE, 0)
    bot = os.posix_spawn(argv[0], argv, env)
    os.closerange(0, _PIPES)  # else they would never end
    os._exit(_told(_reap(bot)))


def _reap(bot: int) -> int:
    """Reap what ends until the bot has; return how that ended, as ``waitpid`` does."""
    while (ended := os.waitpid(-1, 0))[0] != bot:
        pass
    return ended[1]


def _told(status: int) -> int:
    """Return the exit code that tells how a bot ended: 128 + n is signal n."""
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


def _stop(*_: object) -> NoReturn:
    raise _Enough


def _wait_for(bot: int, fds: int) -> NoReturn:
    """Wait for the bot, end what it leaves behind, and exit as it did."""
    status = int(signal.SIGKILL)
    try:
        os.closerange(0, fds)
        status = _reap(bot)
    except _Enough:
        pass
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        while children := _descendants(os.getpid()):
            for child in children:
                with contextlib.suppress(OSError):
                    os.kill(child, signal.SIGKILL)
            with contextlib.suppress(OSError):
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass
        os._exit(_told(status))


def _descendants(root: int) -> list[int]:
    found = [root]
    for pid in found:  # grows while it is read
        with contextlib.suppress(OSError):
            for task in Path(f"/proc/{pid}/task").iterdir():
                found += map(int, (task / "children").read_text().split())
    return found[1:]
