"""A process between the worker and a bot that has no process namespace.

All that the bot leaves behind falls to the keeper (it is a subreaper), which ends it.
"""

import contextlib
import os
import signal
from pathlib import Path
from typing import NoReturn

from ladder.bots.zygote.calls import DIE_WITH, SUBREAPER, prctl


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


def _stop(*_: object) -> NoReturn:
    raise _Enough


def _wait_for(bot: int, fds: int) -> NoReturn:
    """Wait for the bot, end what it leaves behind, and exit as it did."""
    pid, status = 0, int(signal.SIGKILL)
    try:
        os.closerange(0, fds)
        while pid != bot:
            pid, status = os.waitpid(-1, 0)
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
        code = os.waitstatus_to_exitcode(status)
        os._exit(code if code >= 0 else 128 - code)


def _descendants(root: int) -> list[int]:
    found = [root]
    for pid in found:  # grows while it is read
        with contextlib.suppress(OSError):
            for task in Path(f"/proc/{pid}/task").iterdir():
                found += map(int, (task / "children").read_text().split())
    return found[1:]
