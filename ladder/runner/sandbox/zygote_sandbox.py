"""What every way to box a bot has in common: slots, the zygote, the reins.

A zygote forks the bot into its control groups and under its user id, so everything
that it starts is born in the group, whoever dies meanwhile.
"""

import contextlib
import os
import resource
import signal
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from engine.referee import ServiceFault
from ladder.runner.protocol import Limits
from ladder.runner.sandbox.api import Exit, Level, Program
from ladder.runner.sandbox.cgroup import Cgroup
from ladder.runner.sandbox.cgroup_manager import CgroupManager
from ladder.runner.sandbox.host import Host, Slots, closing
from ladder.runner.sandbox.launch import Pipes, open_pipes
from ladder.runner.sandbox.proc import holds, unread, wait_for_exit
from ladder.runner.sandbox.process_tree import ProcessTree
from ladder.runner.sandbox.seccomp import open_filter
from ladder.runner.sandbox.spawner import SpawnedProcess, SpawnOrder, ZygoteClient
from ladder.runner.sandbox.staging import PYTHON_PATH, Stage

SHM_BYTES = 1 << 20
"""What a bot may keep in /dev/shm."""
DATA_TIMES = 2
"""Without control groups a process may have so many times the bot's memory."""
ENV = {
    "PATH": "/usr/bin:/bin",
    "HOME": "/tmp",  # noqa: S108 — the box's own
    "TMPDIR": "/tmp",  # noqa: S108
    "LANG": "C.UTF-8",
    "PYTHONPATH": f"/{PYTHON_PATH}",
    "PYTHONHASHSEED": "0",
}
RLIMITS = (
    # No cores: programs of the host would look at them.
    (resource.RLIMIT_CORE, 0),
    (resource.RLIMIT_MEMLOCK, 0),
    (resource.RLIMIT_NOFILE, 256),
)
_BETWEEN = 1
"""The process that stands between the worker and the bot; it ends as the bot does."""
_TOLD = 128
_REAP_MS = 1_000
"""How long who reaps a bot may take to see that it is dead."""


class ZygoteSandbox(ABC):
    """Starts bots through a zygote; how they are boxed is the child class's."""

    level: Level
    sockets: bool
    """Whether a bot may make sockets, which reach no further than its box."""
    first = False
    """Whether who stands between the worker and the bot is the first of its namespace.

    Then all of it ends at once with that one, which keeps none of the bot's pipes.
    """

    def __init__(self, host: Host, cgroups: CgroupManager | None) -> None:
        self._cgroups = cgroups
        self._slots = Slots(host) if os.geteuid() == 0 else None
        self._stage = Stage(host)
        self._spawner = ZygoteClient()
        self._berths: deque[_Slot] = deque()
        self._owner = os.getpid()

    @abstractmethod
    def _order(self, box: Program, limits: Limits) -> SpawnOrder:
        """Return what to start. Its descriptors 3 and 4 are the zygote's or bwrap's.

        A byte is to be read from 3 when the box is made; 4 is the filter.
        """

    def start(self, box: Program, limits: Limits) -> "SandboxedBot":
        order = self._order(box, limits)
        with contextlib.ExitStack() as failing:
            uid, slot = self._slots.take() if self._slots else (None, None)
            if slot is not None:
                failing.callback(os.close, slot)
            berth = self._berth()
            failing.callback(berth.clear)
            if berth.group is not None:
                berth.group.limit(limits, limits.pids + _BETWEEN)
            pipes, began = self._start(berth.child, replace(order, uid=uid))
            failing.pop_all()
        self._lay_in()
        reins = berth.group or ProcessTree(berth.child.pid, limits)
        first = self.first
        return SandboxedBot(berth.child, pipes, began, reins, slot, first=first)

    def close(self) -> None:
        if self._owner != os.getpid():
            return  # a fork of the worker holds nothing
        while self._berths:
            self._berths.pop().clear()
        if self._cgroups is not None:
            self._cgroups.close()
        self._spawner.close()
        self._stage.close()

    def _common(self) -> Mapping[str, Any] | None:
        """Return what all boxes are made of, if the zygote makes them."""
        return None

    def _berth(self) -> "_Slot":
        """Return a berth whose process lives: one that was laid in, or a new one."""
        while self._berths and self._owner == os.getpid():
            with contextlib.suppress(IndexError, ServiceFault):  # taken, or not born
                berth = self._berths.pop()
                if berth.child.poll() is None:
                    return berth
                berth.clear()
        return self._make_berth()

    def _lay_in(self) -> None:
        """Make the next bot's berth, while this one starts."""
        if not self._berths and self._owner == os.getpid():
            with contextlib.suppress(ServiceFault):  # then the next start says why
                self._berths.append(self._make_berth())

    def _make_berth(self) -> "_Slot":
        if self._cgroups is None:
            return _Slot(None, self._spawner.bear(self._common(), (), placed=False))
        group = self._cgroups.make()
        try:
            with group.doors() as (placed, doors):
                child = self._spawner.bear(self._common(), doors, placed=placed)
        except BaseException:
            group.remove()
            raise
        return _Slot(group, child)

    def _start(self, child: SpawnedProcess, order: SpawnOrder) -> tuple[Pipes, int]:
        rules = open_filter(memfd=self._cgroups is not None, sockets=self.sockets)
        wait, began = os.pipe2(os.O_CLOEXEC)
        os.write(began, b"g")
        try:
            with closing(wait, rules), open_pipes() as (its, ours):
                child.start(order, (*its, wait, rules))
                return ours, began
        except ServiceFault:
            os.close(began)
            raise


@dataclass(frozen=True, slots=True)
class _Slot:
    """Where a bot can live, and the process that is to become it."""

    group: Cgroup | None
    child: SpawnedProcess

    def clear(self) -> None:
        """Let go of what no bot came into."""
        self.child.drop()  # first: it may still be on its way into the group
        if self.group is not None:
            self.group.remove()


class SandboxedBot:
    """A bot in its box."""

    def __init__(
        self,
        child: SpawnedProcess,
        pipes: Pipes,
        began: int,
        reins: Cgroup | ProcessTree,
        slot: int | None,
        *,
        first: bool,
    ) -> None:
        self._first = first
        self._child, self._began, self._reins = child, began, reins
        self._slot = slot
        self.pid = child.pid
        self.stdin, self.stdout, self.stderr = pipes
        self._exit: Exit | None = None
        # What is called for each decision is the reins' own, without a step between.
        self.freeze, self.thaw, self.cpu_ns = reins.freeze, reins.thaw, reins.cpu_ns
        self.threads, self.over_memory = reins.threads, reins.over_memory
        self.memory_peak, self.pressure_ns = reins.memory_peak, reins.pressure_ns

    def closed_stdout(self) -> bool:
        """Look whether anybody has the pipe but who stands between: bwrap keeps it."""
        if self._first:
            return False
        pids = {pid for pid in self._reins.processes() if pid != self.pid}
        return bool(pids) and not any(holds(pid, self.stdout) for pid in pids)

    def began(self) -> bool:
        """Return whether the box was finished and gone on from to the bot."""
        return self._exit is not None or unread(self._began) == 0

    def kill(self) -> Exit:
        if self._exit is None:
            code = self._child.poll()
            if code is None and not self._first:
                # The bot first, so that its parent reaps it: nobody else may be there.
                self._reins.strike(spare=self.pid)
                wait_for_exit(self.pid, _REAP_MS)
            self._reins.remove()
            ended = self._child.wait()
            ended = ended if code is None else code
            self._exit = _exit(ended)
            os.close(self._began)
            if self._slot is not None:
                os.close(self._slot)
        return self._exit


def _exit(code: int) -> Exit:
    """Return how it ended, as who stood between told it: 128 + n is signal n.

    An exit code of the bot's own in that range cannot be told from it.
    """
    if code < 0:
        return Exit(None, -code)
    if 0 < code - _TOLD < signal.NSIG:
        return Exit(None, code - _TOLD)
    return Exit(code, None)


def in_usr(program: str) -> str:
    """Return where a program is that a box names: a path as it is, or in /usr/bin."""
    return program if "/" in program else f"/usr/bin/{program}"
