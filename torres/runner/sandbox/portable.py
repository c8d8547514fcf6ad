"""Level ``none`` on systems other than Linux, with the standard library alone.

A person's own bots run as ordinary child processes. Their clock is the wall clock,
because these systems have no /proc, and their memory is not measured.
"""

import contextlib
import os
import subprocess
import sys

from engine.referee import ServiceFault
from torres.runner.protocol import Limits
from torres.runner.sandbox import api
from torres.runner.sandbox.launch import engine_folder
from torres.runner.sandbox.unconfined import command_of, start_failure

_KILL_TIMEOUT_S = 5.0
_processes: dict[int, subprocess.Popen[bytes]] = {}
"""The processes that were started and not yet killed, by their ids."""


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


class PortableSandbox:
    """Starts bots without any restriction. Use it only for your own bots."""

    level: api.Level = "none"

    def start(self, program: api.Program, limits: Limits) -> "PortableBot":
        env = {
            **os.environ,
            "PYTHONPATH": str(engine_folder().parent),
            "PYTHONHASHSEED": "0",
            **program.env,
        }
        argv = command_of(program, limits)
        try:
            process = subprocess.Popen(
                argv,
                cwd=program.folder,
                env=env,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                start_new_session=hasattr(os, "killpg"),
            )
        except OSError as why:
            raise start_failure(program, why) from why
        return PortableBot(process)

    def close(self) -> None:
        pass


class PortableBot:
    """A child process; implements ``Running`` as far as every system can."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self.pid = process.pid
        self.stdin, self.stdout, self.stderr = _own_descriptors(process)
        self._exit: api.Exit | None = None
        _processes[self.pid] = process

    def freeze(self) -> None:
        """Do nothing: there is no portable way to stop a process."""

    def thaw(self) -> None:
        """Do nothing, because ``freeze`` does nothing."""

    def cpu_ns(self) -> int:
        return 0  # unknown, so that the wall time is charged

    def threads(self) -> list[int]:
        return []

    def pressure_ns(self) -> int:
        return 0

    def over_memory(self) -> bool:
        return False

    def memory_peak(self) -> int | None:
        return None

    def counters(self) -> dict[str, int]:
        return {}

    def closed_stdout(self) -> bool:
        return False  # the end of the pipe shows it

    def began(self) -> bool:
        return True

    def kill(self) -> api.Exit:
        if self._exit is None:
            code = self._process.poll()
            with contextlib.suppress(OSError):
                if hasattr(os, "killpg"):
                    os.killpg(self.pid, api.KILL_SIGNAL)
                else:
                    self._process.kill()
            self._process.wait(_KILL_TIMEOUT_S)
            _processes.pop(self.pid, None)
            # Windows has no signals: a process that we end looks like one that exits.
            self._exit = (
                api.Exit(None, api.KILL_SIGNAL) if code is None else api.exit_of(code)
            )
        return self._exit


def _own_descriptors(process: subprocess.Popen[bytes]) -> tuple[int, int, int]:
    """Return descriptors of our ends of the pipes that only we close."""
    streams = (process.stdin, process.stdout, process.stderr)
    descriptors = []
    for stream in streams:
        if stream is None:
            raise ServiceFault("a pipe to the bot is missing")
        descriptors.append(os.dup(stream.fileno()))
        stream.close()
    return descriptors[0], descriptors[1], descriptors[2]
