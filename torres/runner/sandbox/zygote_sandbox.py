"""The parts that all sandboxes share which start their bots through the zygote.

These are the user ids, the pre-forked process, the pipes, and the handle of a running
bot. The zygote forks the bot into its control groups and under its user id. So every
process that the bot starts is in the groups from its beginning, even if the worker
dies at that moment.
"""

import contextlib
import os
import resource
import signal
import struct
from abc import ABC, abstractmethod
from collections import deque
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from engine.referee import ServiceFault
from torres.runner.protocol import Limits
from torres.runner.sandbox.api import KILL_SIGNAL, Exit, Level, Program, exit_of
from torres.runner.sandbox.cgroup import Cgroup
from torres.runner.sandbox.cgroup_manager import CgroupManager
from torres.runner.sandbox.descriptors import unread
from torres.runner.sandbox.host import Host, UidPool, closing
from torres.runner.sandbox.launch import Pipes, engine_folder, open_pipes
from torres.runner.sandbox.proc import holds, wait_for_exit
from torres.runner.sandbox.process_tree import ProcessTree
from torres.runner.sandbox.seccomp import open_filter
from torres.runner.sandbox.spawner import SpawnedProcess, ZygoteClient
from torres.runner.sandbox.staging import PYTHON_PATH, Stage
from torres.runner.zygote.messages import SharedRoot, SpawnOrder

SHM_BYTES = 1 << 20
"""The size of /dev/shm."""
DATA_LIMIT_FACTOR = 2
"""Without control groups, RLIMIT_DATA of a process is this multiple of the memory."""
ENV = {
    "PATH": "/usr/bin:/bin",
    "HOME": "/tmp",  # noqa: S108 - the sandbox's own /tmp
    "TMPDIR": "/tmp",  # noqa: S108
    "LANG": "C.UTF-8",
    "PYTHONPATH": f"/{PYTHON_PATH}",
    "PYTHONHASHSEED": "0",
}
NO_CORE_FILES = (resource.RLIMIT_CORE, 1)
"""If the host passes core dumps to a program, the kernel ignores a limit of 0 and runs
that program, as root; with a limit of 1 it does not."""
MAX_FILES = 256
"""The descriptors that a process of a bot may have."""
RLIMITS = (
    NO_CORE_FILES,
    (resource.RLIMIT_MEMLOCK, 0),
    (resource.RLIMIT_NOFILE, MAX_FILES),
)
_SIGNAL_BASE = 128
"""bwrap and runsc exit with 128 + n if signal n killed the bot."""
_REAP_TIMEOUT_MS = 1_000
"""How long to wait until the supervisor has reaped a killed bot."""


class ZygoteSandbox(ABC):
    """Starts bots through a zygote. A subclass decides how a bot is confined."""

    level: Level
    sockets: bool
    """True if a bot may make sockets. They reach only its own network namespace."""
    supervisor_is_init = False
    """True if our supervisor is PID 1 of the bot's PID namespace.

    Then killing the supervisor kills everything in the namespace, and the supervisor
    holds none of the bot's pipes.
    """
    own_memory_mb = 0
    """The memory that the sandbox itself needs for each bot, in MiB."""
    own_pids = 1
    """The processes and threads of the sandbox itself for each bot, at most."""
    pids_each = 1
    """The processes and threads of the host for each one of the bot, at most."""

    def __init__(self, host: Host, cgroups: CgroupManager | None = None) -> None:
        self._cgroups = cgroups
        self._uids = UidPool(host) if os.geteuid() == 0 else None
        self._stage = Stage(host)
        self._zygote = ZygoteClient()
        self._preforked: deque[_Slot] = deque()
        self._owner_pid = os.getpid()

    @abstractmethod
    def _order(
        self, program: Program, limits: Limits, own: "HostResources"
    ) -> SpawnOrder:
        """Return the order for the zygote; what it needs on the host belongs to `own`.

        Its descriptors 3 and 4 are for the zygote or bwrap: one byte must be read from
        3 when the sandbox is complete, and 4 contains the seccomp filter. Descriptor 5
        is ``STATUS_FD``.
        """

    def start(self, program: Program, limits: Limits) -> "SandboxedBot":
        with contextlib.ExitStack() as on_error:
            own = HostResources(on_error.enter_context(contextlib.ExitStack()))
            if self._uids is not None:
                own.uid, uid_lock = self._uids.take()
                own.cleanup.callback(os.close, uid_lock)
            order = self._order(program, limits, own)
            slot = self._take_slot()
            on_error.callback(slot.discard)
            if slot.group is not None:
                slot.group.limit(
                    limits.memory_mb + self.own_memory_mb,
                    limits.pids * self.pids_each + self.own_pids,
                )
            order = order._replace(uid=own.uid, niceness=program.niceness)
            pipes, reports = self._start(
                slot.process, order, building=program.out_mb > 0
            )
            on_error.pop_all()
        self._prefork()
        return SandboxedBot(
            slot.process,
            pipes,
            reports,
            slot.group or ProcessTree(slot.process.pid, limits),
            own,
            supervisor_is_init=self.supervisor_is_init,
        )

    def close(self) -> None:
        if self._owner_pid != os.getpid():
            return  # A fork of the worker owns nothing.
        while self._preforked:
            self._preforked.pop().discard()
        if self._cgroups is not None:
            self._cgroups.close()
        self._zygote.close()
        self._stage.close()

    def _root(self) -> Path:
        """Return the folder on the host that is the root of every bot."""
        return self._stage.root(engine_folder())

    def _shared_root(self) -> SharedRoot | None:
        """Return what all sandboxes share; None if the zygote does not make them."""
        return None

    def _take_slot(self) -> "_Slot":
        """Return a slot whose process is alive: the pre-forked one, or a new one."""
        while self._preforked and self._owner_pid == os.getpid():
            # IndexError: another thread took it. ServiceFault: the fork failed.
            with contextlib.suppress(IndexError, ServiceFault):
                slot = self._preforked.pop()
                if slot.process.poll() is None:
                    return slot
                slot.discard()
        return self._new_slot()

    def _prefork(self) -> None:
        """Fork the next bot's process now, while the current bot starts."""
        if not self._preforked and self._owner_pid == os.getpid():
            # On an error, the next start tries again and reports it.
            with contextlib.suppress(ServiceFault):
                self._preforked.append(self._new_slot())

    def _new_slot(self) -> "_Slot":
        if self._cgroups is None:
            process = self._zygote.fork(self._shared_root(), (), into_cgroup=False)
            return _Slot(None, process)
        group = self._cgroups.make()
        try:
            with group.entry_fds() as (into_cgroup, fds):
                process = self._zygote.fork(
                    self._shared_root(), fds, into_cgroup=into_cgroup
                )
        except BaseException:
            group.remove()
            raise
        return _Slot(group, process)

    def _start(
        self, process: SpawnedProcess, order: SpawnOrder, *, building: bool
    ) -> tuple[Pipes, "_ReportPipes"]:
        """Send the order; return our ends of the bot's pipes and of the others."""
        seccomp = open_filter(
            memfd=self._cgroups is not None, sockets=self.sockets, building=building
        )
        wait_fd, ready_fd = os.pipe2(os.O_CLOEXEC)
        os.write(ready_fd, b"g")
        status_fd, report_fd = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            with closing(wait_fd, seccomp, report_fd), open_pipes() as (theirs, ours):
                process.start(order, (*theirs, wait_fd, seccomp, report_fd))
                return ours, _ReportPipes(ready_fd, status_fd)
        except ServiceFault:
            os.close(ready_fd)
            os.close(status_fd)
            raise


@dataclass(frozen=True, slots=True)
class _Slot:
    """A forked process that waits for its order, and its control group."""

    group: Cgroup | None
    process: SpawnedProcess

    def discard(self) -> None:
        """Kill the process and remove the group; no bot has used them."""
        # The process first: it may still be entering the group.
        self.process.discard()
        if self.group is not None:
            self.group.remove()


class _ReportPipes(NamedTuple):
    """Our ends of two pipes that tell what became of a bot.

    ``ready`` holds one byte, which is read when the sandbox is complete. From
    ``status`` comes how the bot ended, if it has a supervisor.
    """

    ready: int
    status: int


@dataclass(slots=True)
class HostResources:
    """The resources of one bot on the host while it runs.

    ``cleanup`` releases them when it has ended. ``uid`` is its user id; None if it has
    that of the worker. ``complete`` is a file that exists as soon as the sandbox
    is complete; None if the sandbox reads the byte of ``_ReportPipes.ready`` instead.
    """

    cleanup: contextlib.ExitStack
    uid: int | None = None
    complete: Path | None = None


class SandboxedBot:
    """A bot that runs in a sandbox; implements ``Running``.

    ``control`` is the bot's control group, or its process tree if it has no group.
    """

    def __init__(
        self,
        process: SpawnedProcess,
        pipes: Pipes,
        reports: _ReportPipes,
        control: Cgroup | ProcessTree,
        own: HostResources,
        *,
        supervisor_is_init: bool,
    ) -> None:
        self._supervisor_is_init = supervisor_is_init
        self._process = process
        self._reports = reports
        self._control = control
        self._own = own
        self.pid = process.pid
        self.stdin, self.stdout, self.stderr = pipes
        self._exit: Exit | None = None
        # The methods that run for every decision are the control's own: one call less.
        self.freeze = control.freeze
        self.thaw = control.thaw
        self.cpu_ns = control.cpu_ns
        self.threads = control.threads
        self.over_memory = control.over_memory
        self.memory_peak = control.memory_peak
        self.pressure_ns = control.pressure_ns
        self.counters = control.counters

    def closed_stdout(self) -> bool:
        """True if the bot has closed its stdout, but the first process has not.

        The first process is bwrap, which keeps the bot's pipes open. A supervisor
        that is PID 1 keeps none, so there the end of the pipe shows everything.
        """
        if self._supervisor_is_init:
            return False
        pids = {pid for pid in self._control.processes() if pid != self.pid}
        return bool(pids) and not any(holds(pid, self.stdout) for pid in pids)

    def began(self) -> bool:
        """True if the sandbox was completed, so that the bot's own program started."""
        if self._exit is not None:
            return True
        if self._own.complete is not None:
            return self._own.complete.exists()
        return unread(self._reports.ready) == 0

    def kill(self) -> Exit:
        if self._exit is None:
            ended_itself = self._process.poll() is not None
            oom_kills = self._control.counters()["oom_kills"]
            if not ended_itself and not self._supervisor_is_init:
                # Kill the bot before its parent, because only the parent can reap it.
                self._control.kill_all_but(self.pid)
                wait_for_exit(self.pid, _REAP_TIMEOUT_MS)
            self._control.remove()
            code = self._process.wait()
            reported = _read_status(self._reports.status)
            if reported is not None:
                how = exit_of(reported)
            elif code < 0:
                how = exit_of(code)
            else:
                how = _exit_of_bwrap(code, killed=not ended_itself or oom_kills > 0)
            # The bot cannot signal the first process: it is PID 1 of the bot's
            # namespace, or outside of it, or Landlock forbids it.
            is_evident = oom_kills > 0 or code == -KILL_SIGNAL
            by_host = ended_itself and how.signal == KILL_SIGNAL and is_evident
            self._exit = replace(how, by_host=by_host)
            os.close(self._reports.ready)
            os.close(self._reports.status)
            self._own.cleanup.close()
        return self._exit


def _read_status(fd: int) -> int | None:
    """Return the bot's exit code as ``subprocess`` does; None if it is unknown."""
    try:
        (status,) = struct.unpack("i", os.read(fd, 4))
    except (BlockingIOError, struct.error):
        return None
    return os.waitstatus_to_exitcode(status)


def _exit_of_bwrap(code: int, *, killed: bool) -> Exit:
    """Return how the bot ended, from the exit code of bwrap.

    128 + n stands for signal n, but a bot may exit with such a code itself. ``killed``
    is True if we or the kernel killed it. If neither did, 137 is its own exit code: it
    is PID 1, so it cannot kill itself with signal 9.
    """
    number = code - _SIGNAL_BASE
    is_signal = 0 < number < signal.NSIG
    if is_signal and (killed or number != KILL_SIGNAL):
        return Exit(None, number)
    return Exit(code, None)


def scratch_sizes(program: Program, limits: Limits) -> dict[str, int]:
    """Return the writable folders of a bot with control groups, and their bytes."""
    sizes = {"/dev/shm": SHM_BYTES, "/tmp": limits.tmp_mb << 20}  # noqa: S108
    if program.out_mb:
        sizes["/out"] = program.out_mb << 20
    return sizes


def absolute_path(program: str) -> str:
    """Return the path of a program: a name without a slash is in /usr/bin."""
    return program if "/" in program else f"/usr/bin/{program}"
