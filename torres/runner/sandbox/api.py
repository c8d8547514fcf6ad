"""The interface of a sandbox: it starts a program and returns a handle to control it.

A level says how strictly a bot is confined: ``isolated`` (a kernel of its own),
``full`` (namespaces, seccomp, control groups, a user id of its own), ``reduced`` (less
than that; README.md in this folder has the table) or ``none`` (a person's own bots on
that person's own machine).
"""

import signal as signals
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

from torres.common.errors import LadderError
from torres.runner.protocol import Limits

KILL_SIGNAL = 9
"""SIGKILL, which not every system has."""

Level = Literal["isolated", "full", "reduced", "none"]
LEVELS: tuple[Level, ...] = ("none", "reduced", "full", "isolated")
"""From the weakest to the strongest."""


class SandboxUnavailable(LadderError, code="sandbox-unavailable", http_status=503):
    """This machine does not reach the level; the message says what to do about it."""


@dataclass(frozen=True, slots=True)
class Program:
    """A program that a sandbox can start: a folder, and a command line to run in it.

    ``entry`` is the bot's main file in ``folder``, and ``language`` is the name of a
    row of ``languages.LANGUAGES``. ``argv[0]`` is the name of a program in /usr/bin,
    an absolute path, or starts with ``./`` if it is a file in the folder;
    ``{heap_mb}`` in an argument stands for three quarters of the memory limit.
    ``env`` is added to the environment that the sandbox sets. If ``compile`` is not
    empty, the program must be built with that command before it can run. ``out_mb``
    is the size of a writable folder /out in MiB; 0 means that there is none. With a
    ``niceness`` of 1 to 19 other programs get the processors first.
    """

    folder: Path
    entry: str
    language: str
    argv: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    compile: tuple[str, ...] = ()
    out_mb: int = 0
    niceness: int = 0

    def command(self, limits: Limits) -> list[str]:
        """Return ``argv`` with the placeholders filled in for these limits."""
        heap_mb = str(limits.memory_mb * 3 // 4)
        return [word.replace("{heap_mb}", heap_mb) for word in self.argv]


@dataclass(frozen=True, slots=True)
class Control:
    """One thing that a sandbox must prevent, and whether it did when it was tried.

    ``how`` says what stopped the attempt, or what succeeded. ``cure`` says what to
    install or to switch on if the control was not held.
    """

    name: str
    held: bool
    how: str
    cure: str = ""


@dataclass(frozen=True, slots=True)
class SandboxReport:
    """The controls tried on this machine; ``level`` is the best that they allow."""

    level: Level
    controls: tuple[Control, ...]

    def reasons(self) -> str:
        """Return one sentence that names what is missing and how to get it."""
        missing = [c for c in self.controls if not c.held]
        return "; ".join(f"{c.name}: {c.how} ({c.cure})" for c in missing)


@dataclass(frozen=True, slots=True)
class Exit:
    """How a bot ended: with an exit code or by a signal. Exactly one of them is set.

    ``by_host`` is True if there is evidence that the bot is not to blame for the
    signal: the kernel killed a process of it for a lack of memory, or the signal ended
    a process of the sandbox that the bot cannot reach.
    """

    code: int | None
    signal: int | None
    by_host: bool = False

    def __str__(self) -> str:
        if self.signal is not None:
            description = signals.strsignal(self.signal) or "unknown"
            return f"killed by signal {self.signal} ({description})"
        return f"exit code {self.code}"


def exit_of(returncode: int) -> Exit:
    """Convert a return code of ``subprocess``, in which -n stands for signal n."""
    if returncode < 0:
        return Exit(None, -returncode)
    return Exit(returncode, None)


class Running(Protocol):
    """The handle of one started bot. Its pipes are non-blocking descriptors of ours."""

    pid: int
    stdin: int
    stdout: int
    stderr: int

    def freeze(self) -> None:
        """Stop every thread of the bot, if the level can. Returns at once."""

    def thaw(self) -> None:
        """Let the bot run again."""

    def cpu_ns(self) -> int:
        """Return the CPU time that the whole bot has used so far, in nanoseconds."""

    def threads(self) -> list[int]:
        """Return the ids of the bot's living threads that the level can see."""

    def pressure_ns(self) -> int:
        """Return for how long at least one thread had to wait for a CPU, in ns.

        The value counts threads that have ended, too. It is the value of the whole
        machine if the kernel does not count it for the bot.
        """

    def over_memory(self) -> bool:
        """True if the bot has reached its memory limit."""

    def memory_peak(self) -> int | None:
        """Return the bot's peak memory use in bytes; None if it is unknown."""

    def counters(self) -> dict[str, int]:
        """Return what the kernel counted for the bot, as evidence if it fails.

        The names depend on the level. ``oom_kills`` are the processes that the kernel
        killed for a lack of memory, of the bot or, without control groups, of the whole
        machine since the bot started.
        """

    def closed_stdout(self) -> bool:
        """True if the bot closed its stdout although its pipe is still open.

        The pipe stays open if a process of the sandbox holds it, too.
        """

    def began(self) -> bool:
        """True if the bot's own program was started.

        A failure before that point is the service's fault, not the bot's.
        """

    def kill(self) -> Exit:
        """Kill all of the bot's processes, and wait until they are gone.

        Return how the bot ended. A second call only returns the same value again.
        """


class Sandbox(Protocol):
    """A way to start bots; one process uses it, with any number of threads."""

    level: Level

    def start(self, program: Program, limits: Limits) -> Running:
        """Start the program. Raises ServiceFault if the service is why it failed.

        At level ``none`` the thread that calls this must live as long as the bot: the
        kernel kills the bot when the thread ends, so that no bot outlives its worker.
        """

    def close(self) -> None:
        """Release what the sandbox holds on the machine."""
