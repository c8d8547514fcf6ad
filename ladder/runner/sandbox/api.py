"""What a sandbox is, to those who use one: it starts a box and hands back its reins.

A level says what holds a bot: ``full`` (namespaces, seccomp, cgroups, an own uid),
``reduced`` (less than that; the documentation has the table), ``none`` (a person's
own bots on that person's own machine).
"""

import signal as signals
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

from ladder.common.errors import LadderError
from ladder.runner.protocol import Limits

Level = Literal["full", "reduced", "none"]
LEVELS: tuple[Level, ...] = ("none", "reduced", "full")
"""From the weakest to the strongest."""


class SandboxUnavailable(LadderError):
    """This machine does not reach the level; the message says what to do about it."""

    code = "sandbox-unavailable"
    http_status = 503


@dataclass(frozen=True, slots=True)
class Program:
    """A bot that can be started: its folder, and the command line in that folder.

    ``argv[0]`` is a program's name or absolute path, or starts with ``./`` if it is a
    file of the folder; ``{heap_mb}`` in a word is three quarters of its memory.
    ``env`` is added to what the sandbox sets. A box with a ``compile`` command must
    be built before it can run. ``out_mb`` is the size of a writable /out.
    """

    folder: Path
    entry: str
    language: str
    argv: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    compile: tuple[str, ...] = ()
    out_mb: int = 0

    def command(self, limits: Limits) -> list[str]:
        """Return ``argv`` for these limits."""
        heap = str(limits.memory_mb * 3 // 4)
        return [word.replace("{heap_mb}", heap) for word in self.argv]


@dataclass(frozen=True, slots=True)
class Control:
    """One thing that a sandbox must hold, and whether it did when it was tried."""

    name: str
    held: bool
    how: str
    """What stopped the attempt, or what came through."""
    cure: str = ""
    """What to install or to switch on, if it was not held."""


@dataclass(frozen=True, slots=True)
class SandboxReport:
    """What this machine can hold; ``level`` is the best that all its controls allow."""

    level: Level
    controls: tuple[Control, ...]

    def reasons(self) -> str:
        """Return one sentence that names what is missing and how to get it."""
        missing = [c for c in self.controls if not c.held]
        return "; ".join(f"{c.name}: {c.how} ({c.cure})" for c in missing)


@dataclass(frozen=True, slots=True)
class Exit:
    """How a bot ended: its exit code, or the signal that killed it."""

    code: int | None
    signal: int | None

    def __str__(self) -> str:
        if self.signal is not None:
            what = signals.strsignal(self.signal) or "unknown"
            return f"killed by signal {self.signal} ({what})"
        return f"exit code {self.code}"


class Running(Protocol):
    """The reins of one started bot. Its pipes are non-blocking descriptors of ours."""

    pid: int
    stdin: int
    stdout: int
    stderr: int

    def freeze(self) -> None:
        """Stop every thread of the bot, where the level can; returns at once."""

    def thaw(self) -> None:
        """Let it run again."""

    def cpu_ns(self) -> int:
        """Return the processor time used so far by all of the bot, in nanoseconds."""

    def threads(self) -> list[int]:
        """Return the ids of its living threads, as far as the level can see them."""

    def pressure_ns(self) -> int:
        """Return for how long some thread, one that has ended too, had to wait in all.

        Of the whole machine where it is not known of the bot; in nanoseconds.
        """

    def over_memory(self) -> bool:
        """Return whether it hit its memory limit."""

    def memory_peak(self) -> int | None:
        """Return the most memory it held at a time, in bytes; None if unknown."""

    def closed_stdout(self) -> bool:
        """Return whether it closed its stdout in a way that its pipe does not show."""

    def began(self) -> bool:
        """Return whether its own program was reached: before, a failure is ours."""

    def kill(self) -> Exit:
        """End all of it and wait until it is gone; the second call only answers."""


class Sandbox(Protocol):
    """A way to start bots, good for one process and any number of its threads."""

    level: Level

    def start(self, box: Program, limits: Limits) -> Running:
        """Start the box. Raises ServiceFault if that fails for a reason of ours.

        At level none the thread that starts a bot must live as long as the bot: the
        kernel kills the bot when that thread ends, so that nobody leaves one behind.
        """

    def close(self) -> None:
        """Give back what the sandbox holds on the machine."""
