"""Level ``none``: a person's own bots, as ordinary processes of that person.

Nothing restricts them; this module only cleans up after them. Each bot starts in a
session of its own and, if setpriv is installed, dies with the thread that started it.
A mark in its environment identifies the daemons that it leaves behind. On a system
without /proc only the clock on the wall is known, and no memory.
"""

import contextlib
import os
import secrets
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

from engine.referee import ServiceFault
from torres.common.parents import end_with_parent
from torres.runner.protocol import Limits
from torres.runner.sandbox.api import KILL_SIGNAL, Exit, Level, Program, exit_of
from torres.runner.sandbox.launch import Pipes, bot_path, open_pipes
from torres.runner.sandbox.proc import machine_oom_kills, pressure, run_time
from torres.runner.shebang import start_problem
from torres.runner.tool_versions import SERVERS_PYTHON, python_here

_MARK = "TORRES_BOX"
"""The environment variable that contains the mark."""
_MAX_KILL_ROUNDS = 100
"""A round may miss a process that starts during it, so there are several."""


class UnconfinedSandbox:
    """Starts bots without any restriction. Use it only for your own bots."""

    level: Level = "none"

    def start(self, program: Program, limits: Limits) -> "UnconfinedBot":
        mark = secrets.token_hex(8)
        env = {
            **os.environ,
            "PYTHONPATH": str(self._python_path()),
            "PYTHONHASHSEED": "0",
            **program.env,
            _MARK: mark,
        }
        argv = [*end_with_parent(), *command_of(program, limits)]
        with open_pipes() as (theirs, ours):
            child_in, child_out, child_err = theirs
            try:
                process = subprocess.Popen(
                    argv,
                    cwd=program.folder,
                    env=env,
                    stdin=child_in,
                    stdout=child_out,
                    stderr=child_err,
                    start_new_session=True,
                )
            except OSError as why:
                raise start_failure(program, why) from why
        return UnconfinedBot(process, ours, mark)

    def _python_path(self) -> Path:
        return bot_path()

    def close(self) -> None:
        pass


class UnconfinedBot:
    """A bot that runs without a sandbox; implements ``Running`` as far as possible."""

    def __init__(
        self, process: subprocess.Popen[bytes], pipes: Pipes, mark: str
    ) -> None:
        self.process = process
        self.pid = process.pid
        self.stdin, self.stdout, self.stderr = pipes
        self._mark = f"{_MARK}={mark}".encode()
        self._exit: Exit | None = None
        self._oom_kills_before = machine_oom_kills()

    def freeze(self) -> None:
        """Do nothing: without a control group, a bot could escape the stop."""

    def thaw(self) -> None:
        """Do nothing, because ``freeze`` does nothing."""

    def cpu_ns(self) -> int:
        """Return the CPU time of the main process's living threads, in ns."""
        return sum(run_time(tid) for tid in self.threads())

    def threads(self) -> list[int]:
        try:
            return [int(t.name) for t in Path(f"/proc/{self.pid}/task").iterdir()]
        except OSError:
            return []

    def pressure_ns(self) -> int:
        return pressure()

    def over_memory(self) -> bool:
        return False

    def memory_peak(self) -> int | None:
        """Return the peak memory use of the main process (VmHWM), in bytes."""
        try:
            for line in Path(f"/proc/{self.pid}/status").read_text().splitlines():
                if line.startswith("VmHWM:"):
                    return int(line.split()[1]) * 1024
        except OSError:
            pass
        return None

    def counters(self) -> dict[str, int]:
        """Return the kills for a lack of memory on the machine since the start."""
        return {"oom_kills": machine_oom_kills() - self._oom_kills_before}

    def closed_stdout(self) -> bool:
        return False  # Only the bot holds the pipe, so the end of the pipe shows it.

    def began(self) -> bool:
        return True

    def kill(self) -> Exit:
        if self._exit is None:
            code = self.process.poll()
            with contextlib.suppress(ProcessLookupError, PermissionError):
                if hasattr(os, "killpg"):
                    os.killpg(self.pid, KILL_SIGNAL)
                else:
                    self.process.kill()
            ended_with = self.process.wait() if code is None else code
            if code is None and sys.platform == "win32":
                # There a process that we end looks like one that exits.
                ended_with = -KILL_SIGNAL
            _kill_marked(self._mark)
            by_host = code == -KILL_SIGNAL and self.counters()["oom_kills"] > 0
            self._exit = replace(exit_of(ended_with), by_host=by_host)
        return self._exit


def start_failure(program: Program, why: OSError) -> ServiceFault:
    """Return the error for a program that the system cannot start.

    For a script the system blames the script itself, although its interpreter is
    missing.
    """
    reason = start_problem(program.folder / program.entry)
    return ServiceFault(f"{program.entry} could not be started: {reason or why}.")


def _kill_marked(mark: bytes) -> None:
    """Kill every process with ``mark`` in its environment, until none is left."""
    for _ in range(_MAX_KILL_ROUNDS):
        pids = [pid for pid in _pids() if mark in _environ(pid).split(b"\0")]
        if not pids:
            return
        for pid in pids:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)


def _pids() -> list[int]:
    try:
        return [int(p.name) for p in Path("/proc").iterdir() if p.name.isdecimal()]
    except OSError:
        return []  # No /proc (macOS): then only the process group can be killed.


def _environ(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return b""


def command_of(program: Program, limits: Limits) -> list[str]:
    """Return the command with the path of its executable.

    Raises ServiceFault if the executable is not installed.
    """
    name, *arguments = program.command(limits)
    if name.startswith("./"):
        path = program.folder / name
        on_windows = path.with_name(f"{path.name}.exe")
        return [str(on_windows if on_windows.is_file() else path), *arguments]
    if name == SERVERS_PYTHON:
        return [python_here(), *arguments]
    installed = shutil.which(name)
    if installed is None:
        raise ServiceFault(
            f"{name} is not installed, and bots in the language {program.language} need"
            " it. Install it."
        )
    return [installed, *arguments]
