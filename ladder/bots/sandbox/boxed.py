"""What every way to box a bot has in common: slots, the zygote, the reins.

A zygote forks the bot into its control groups and under its user id, so everything
that it starts is born in the group, whoever dies meanwhile.
"""

import contextlib
import os
import resource
from abc import ABC, abstractmethod
from contextlib import nullcontext
from dataclasses import replace

from engine.referee import ServiceFault
from ladder.bots.protocol import Limits
from ladder.bots.sandbox.base import Box, Exit, Level
from ladder.bots.sandbox.cgroups import Cgroup, Cgroups
from ladder.bots.sandbox.host import Host, Slots, closing
from ladder.bots.sandbox.kernel import holds, unread, wait_for_exit
from ladder.bots.sandbox.launch import Pipes, open_pipes
from ladder.bots.sandbox.spawner import Child, Order, Spawner
from ladder.bots.sandbox.staging import PYTHON_PATH, Stage
from ladder.bots.sandbox.syscalls import open_filter
from ladder.bots.sandbox.tree import Tree

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
_REAP_MS = 1_000
"""How long who reaps a bot may take to see that it is dead."""


class BoxSandbox(ABC):
    """Starts bots through a zygote; how they are boxed is the child class's."""

    level: Level
    sockets: bool
    """Whether a bot may make sockets, which reach no further than its box."""
    between = True
    """Whether a process of the sandbox's own stands between the worker and the bot."""

    def __init__(self, host: Host, cgroups: Cgroups | None) -> None:
        self._cgroups = cgroups
        self._slots = Slots(host) if os.geteuid() == 0 else None
        self._stage = Stage(host)
        self._spawner = Spawner()
        self._owner = os.getpid()

    @abstractmethod
    def _order(self, box: Box, limits: Limits) -> Order:
        """Return what to start. Its descriptors 3 and 4 are the zygote's or bwrap's.

        A byte is to be read from 3 when the box is made; 4 is the filter.
        """

    def start(self, box: Box, limits: Limits) -> "BoxedBot":
        order = self._order(box, limits)
        with contextlib.ExitStack() as failing:
            uid, slot = self._slots.take() if self._slots else (None, None)
            if slot is not None:
                failing.callback(os.close, slot)
            pids = limits.pids + self.between
            group = self._cgroups.make(limits, pids) if self._cgroups else None
            if group is not None:
                failing.callback(group.remove)
            child, pipes, began = self._spawn(replace(order, uid=uid), group)
            failing.pop_all()
        reins = group or Tree(child.pid, limits)
        return BoxedBot(child, pipes, began, reins, slot, between=self.between)

    def close(self) -> None:
        if self._owner != os.getpid():
            return  # a fork of the worker holds nothing
        if self._cgroups is not None:
            self._cgroups.close()
        self._spawner.close()
        self._stage.close()

    def _spawn(self, order: Order, group: Cgroup | None) -> tuple[Child, Pipes, int]:
        rules = open_filter(memfd=self._cgroups is not None, sockets=self.sockets)
        wait, began = os.pipe2(os.O_CLOEXEC)
        os.write(began, b"g")
        try:
            with (
                closing(wait, rules),
                open_pipes() as (its, ours),
                group.doors() if group else nullcontext((False, ())) as (born, doors),
            ):
                order = replace(order, born=born)
                fds = (*its, wait, rules, *doors)
                return self._spawner.spawn(order, fds), ours, began
        except ServiceFault:
            os.close(began)
            raise


class BoxedBot:
    """A bot in its box."""

    def __init__(
        self,
        child: Child,
        pipes: Pipes,
        began: int,
        reins: Cgroup | Tree,
        slot: int | None,
        *,
        between: bool,
    ) -> None:
        self._between = between
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
        if not self._between:
            return False
        pids = {pid for pid in self._reins.processes() if pid != self.pid}
        return bool(pids) and not any(holds(pid, self.stdout) for pid in pids)

    def began(self) -> bool:
        """Return whether the box was finished and gone on from to the bot."""
        return self._exit is not None or unread(self._began) == 0

    def kill(self) -> Exit:
        if self._exit is None:
            code = self._child.poll()
            if code is None and self._between:
                # The bot first, so that its parent reaps it: nobody else may be there.
                self._reins.strike(spare=self.pid)
                wait_for_exit(self.pid, _REAP_MS)
            self._reins.remove()
            ended = self._child.wait()
            ended = ended if code is None else code
            self._exit = _exit(ended, told=self._between)
            os.close(self._began)
            if self._slot is not None:
                os.close(self._slot)
        return self._exit


def _exit(code: int, *, told: bool) -> Exit:
    """Return how it ended; if its parent ``told`` it, 128 + n is signal n."""
    if code < 0:
        return Exit(None, -code)
    if told and code > 128:  # noqa: PLR2004
        return Exit(None, code - 128)
    return Exit(code, None)


def in_usr(program: str) -> str:
    """Return where a program is that a box names: a path as it is, or in /usr/bin."""
    return program if "/" in program else f"/usr/bin/{program}"
