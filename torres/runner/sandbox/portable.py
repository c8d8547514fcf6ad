"""Level ``none`` on systems other than Linux: the bots of ``unconfined``.

Their clock is the wall clock, because these systems have no /proc, and their memory is
not measured.
"""

import subprocess
import sys
from pathlib import Path
from weakref import WeakValueDictionary

from torres.runner.protocol import Limits
from torres.runner.sandbox import api
from torres.runner.sandbox.launch import engine_folder
from torres.runner.sandbox.unconfined import UnconfinedBot, UnconfinedSandbox

_processes: WeakValueDictionary[int, subprocess.Popen[bytes]] = WeakValueDictionary()
"""The processes of the bots that are still used, by their ids."""


def open_sandbox(level: api.Level) -> api.Sandbox:
    """Return a sandbox of level ``none``. Raises SandboxUnavailable for the others."""
    if level != "none":
        raise api.SandboxUnavailable(
            f"The sandbox needs Linux, and this is {sys.platform}. Play your own bots"
            " with --sandbox none."
        )
    return PortableSandbox()


def probe(_wanted: api.Level = "full") -> api.SandboxReport:
    """Return the report that only level ``none`` is possible."""
    linux = api.Control("Linux", held=False, how=sys.platform, cure="use Linux")
    return api.SandboxReport("none", (linux,))


def wait_for_exit(pid: int, wait_ms: float) -> bool:
    """Wait until a bot has exited; True if it has."""
    process = _processes.get(pid)
    if process is None:
        return True
    try:
        process.wait(wait_ms / 1e3)
    except subprocess.TimeoutExpired:
        return False
    return True


class PortableSandbox(UnconfinedSandbox):
    """Remembers the processes of its bots, because not every system can wait by id."""

    def start(self, program: api.Program, limits: Limits) -> UnconfinedBot:
        bot = super().start(program, limits)
        _processes[bot.pid] = bot.process
        return bot

    def _python_path(self) -> Path:
        """Return the folder of the project. Not every user of Windows makes links."""
        return engine_folder().parent
