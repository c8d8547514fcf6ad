"""Level none: a person's own bots, as ordinary processes of that person.

Nothing holds them. They are only cleaned up after: each starts in a session of its
own, dies with the thread that started it (where setpriv is installed), and carries a
mark in its environment by which daemons that it left behind are found.
"""

import contextlib
import os
import secrets
import shutil
import signal
import subprocess
import sys
from functools import cache
from pathlib import Path

from engine.referee import ServiceFault
from ladder.runner.protocol import Limits
from ladder.runner.sandbox.api import Exit, Level, Program
from ladder.runner.sandbox.launch import Pipes, bot_path, open_pipes
from ladder.runner.sandbox.proc import pressure, run_time

_MARK = "TORRES_BOX"


class UnconfinedSandbox:
    """Starts bots as they are. Use it for nobody's bots but one's own."""

    level: Level = "none"

    def start(self, box: Program, limits: Limits) -> "UnconfinedBot":
        mark = secrets.token_hex(8)
        env = {
            **os.environ,
            "PYTHONPATH": str(bot_path()),
            "PYTHONHASHSEED": "0",
            **box.env,
            _MARK: mark,
        }
        argv = [*_dies_with_us(), *_resolve(box, limits)]
        with open_pipes() as (its, ours):
            child_in, child_out, child_err = its
            try:
                process = subprocess.Popen(
                    argv,
                    cwd=box.folder,
                    env=env,
                    stdin=child_in,
                    stdout=child_out,
                    stderr=child_err,
                    start_new_session=True,
                )
            except OSError as why:
                raise ServiceFault(f"{argv[0]} could not be started: {why}") from why
        return UnconfinedBot(process, ours, mark)

    def close(self) -> None:
        pass


class UnconfinedBot:
    """One such process, with what can be known of it without a cgroup."""

    def __init__(
        self, process: subprocess.Popen[bytes], pipes: Pipes, mark: str
    ) -> None:
        self._process = process
        self.pid = process.pid
        self.stdin, self.stdout, self.stderr = pipes
        self._mark = f"{_MARK}={mark}".encode()
        self._exit: Exit | None = None

    def freeze(self) -> None:
        """Do nothing: without a cgroup a stop can be dodged, so it would be no rule."""

    def thaw(self) -> None:
        """Do nothing, as ``freeze`` did."""

    def cpu_ns(self) -> int:
        """Return the time of the main process's living threads."""
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
        """Return VmHWM of the main process."""
        try:
            for line in Path(f"/proc/{self.pid}/status").read_text().splitlines():
                if line.startswith("VmHWM:"):
                    return int(line.split()[1]) * 1024
        except OSError:
            pass
        return None

    def closed_stdout(self) -> bool:
        return False  # nobody but the bot holds the pipe, so its end is seen

    def began(self) -> bool:
        return True

    def kill(self) -> Exit:
        if self._exit is None:
            code = self._process.poll()
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)
            self._process.wait()
            _kill_marked(self._mark)
            self._exit = exit_of(self._process.returncode if code is None else code)
        return self._exit


def exit_of(returncode: int) -> Exit:
    """Return subprocess's return code as an Exit."""
    if returncode < 0:
        return Exit(None, -returncode)
    return Exit(returncode, None)


def _kill_marked(mark: bytes) -> None:
    """Kill every process with ``mark`` in its environment, until none is left."""
    for _ in range(100):
        found = [pid for pid in _pids() if mark in _environ(pid).split(b"\0")]
        if not found:
            return
        for pid in found:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)


def _pids() -> list[int]:
    try:
        return [int(p.name) for p in Path("/proc").iterdir() if p.name.isdecimal()]
    except OSError:
        return []  # no /proc (macOS): the process group was all that we could find


def _environ(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return b""


@cache
def _dies_with_us() -> tuple[str, ...]:
    setpriv = shutil.which("setpriv") if sys.platform == "linux" else None
    return (setpriv, "--pdeathsig", "KILL", "--") if setpriv else ()


def _resolve(box: Program, limits: Limits) -> list[str]:
    """Return the command with its program found, so that a missing one is said so."""
    program, *rest = box.command(limits)
    if program.startswith("./"):
        return [str(box.folder / program), *rest]
    if program == "/usr/bin/python3":
        return [_python(), *rest]
    found = shutil.which(program)
    if found is None:
        raise ServiceFault(f"{program} is not installed; {box.language} bots need it")
    return [found, *rest]


@cache
def _python() -> str:
    """Return the server's interpreter where it is there and new enough, else ours."""
    try:
        check = "import sys; sys.exit(sys.version_info < (3, 11))"
        argv = ["/usr/bin/python3", "-I", "-S", "-c", check]
        subprocess.run(argv, check=True, timeout=10)
    except (OSError, subprocess.SubprocessError):
        return sys.executable
    return "/usr/bin/python3"
