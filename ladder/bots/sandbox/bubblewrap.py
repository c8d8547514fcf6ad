"""Starting a bot in Bubblewrap: namespaces, the filter, its own file system.

A zygote forks it into its control groups and under its user id; then bwrap makes the
box and becomes the bot. So everything that it starts is born in the group, whoever
dies meanwhile.
"""

import contextlib
import os
import resource
from collections.abc import Mapping, Sequence

from engine.referee import ServiceFault
from ladder.bots.protocol import Limits
from ladder.bots.sandbox.base import Box, Exit, Level
from ladder.bots.sandbox.cgroups import Cgroup, Cgroups
from ladder.bots.sandbox.host import Host, Slots, closing
from ladder.bots.sandbox.kernel import holds, unread, wait_for_exit
from ladder.bots.sandbox.launch import Pipes, engine_folder, open_pipes
from ladder.bots.sandbox.spawner import Child, Order, Spawner
from ladder.bots.sandbox.staging import DEVICES, PYTHON_PATH, Stage
from ladder.bots.sandbox.syscalls import open_filter
from ladder.bots.sandbox.tree import Tree

_REAP_MS = 1_000
"""How long bwrap may take to see that its bot is dead."""
_SHM_BYTES = 1 << 20
_RLIMITS = (
    # No cores: programs of the host would look at them.
    (resource.RLIMIT_CORE, 0),
    (resource.RLIMIT_MEMLOCK, 0),
    (resource.RLIMIT_NOFILE, 256),
)
_DATA_TIMES = 2
"""Without control groups a process may have so many times the bot's memory."""
_NOBODY = "65534"
_ENV = {
    "PATH": "/usr/bin:/bin",
    "HOME": "/tmp",  # noqa: S108 — the box's own
    "TMPDIR": "/tmp",  # noqa: S108
    "LANG": "C.UTF-8",
    "PYTHONPATH": f"/{PYTHON_PATH}",
    "PYTHONHASHSEED": "0",
}
_ISOLATION = (
    "--as-pid-1", "--die-with-parent", "--new-session",
    "--unshare-user", "--uid", _NOBODY, "--gid", _NOBODY,
    "--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts",
    "--unshare-cgroup-try", "--hostname", "box",
    "--disable-userns", "--assert-userns-disabled", "--cap-drop", "ALL", "--clearenv",
)  # fmt: skip


class BubblewrapSandbox:
    """Level full with control groups, reduced without.

    ``proc`` is False where the kernel lets nobody mount a new /proc: in a container
    that hides parts of its own.
    """

    def __init__(
        self, host: Host, cgroups: Cgroups | None, *, proc: bool = True
    ) -> None:
        self.level: Level = "full" if cgroups else "reduced"
        self._cgroups, self._proc = cgroups, proc
        self._slots = Slots(host) if os.geteuid() == 0 else None
        self._stage = Stage(host)
        self._spawner = Spawner()
        self._owner = os.getpid()

    def start(self, box: Box, limits: Limits) -> "BoxedBot":
        words = self._words(box, limits)
        command = [*self._rlimits(limits), *box.command(limits)]
        with contextlib.ExitStack() as failing:
            uid, slot = self._slots.take() if self._slots else (None, None)
            if slot is not None:
                failing.callback(os.close, slot)
            group = self._cgroups.make(limits) if self._cgroups else None
            if group is not None:
                failing.callback(group.remove)
            child, pipes, began = self._spawn([*words, "--", *command], uid, group)
            failing.pop_all()
        return BoxedBot(child, pipes, began, group or Tree(child.pid, limits), slot)

    def _spawn(
        self, words: Sequence[str], uid: int | None, group: Cgroup | None
    ) -> tuple[Child, Pipes, int]:
        """Start bwrap; also return a pipe whose byte it takes when the box is made."""
        rules = open_filter(memfd=self._cgroups is not None)
        wait, began = os.pipe2(os.O_CLOEXEC)
        os.write(began, b"g")
        order = Order(
            # The pipes of the bot are 0 to 2, then come bwrap's two.
            ("/usr/bin/bwrap", "--block-fd", "3", "--seccomp", "4", *words),
            uid=uid,
            rlimits=_RLIMITS,
            enters=group.enters if group else (),
            born_in=group.born_in if group else None,
        )
        try:
            with closing(wait, rules), open_pipes() as (its, ours):
                return self._spawner.spawn(order, (*its, wait, rules)), ours, began
        except ServiceFault:
            os.close(began)
            raise

    def close(self) -> None:
        if self._owner != os.getpid():
            return  # a fork of the worker holds nothing
        if self._cgroups is not None:
            self._cgroups.close()
        self._spawner.close()
        self._stage.close()

    def _words(self, box: Box, limits: Limits) -> list[str]:
        """Return bwrap's options."""
        return [
            *_ISOLATION,
            *self._mounts(box, limits),
            *_environment({**_ENV, **box.env}),
        ]

    def _mounts(self, box: Box, limits: Limits) -> list[str]:
        groups: list[Sequence[str]] = [
            ("--ro-bind", str(self._stage.root(engine_folder())), "/"),
            ("--ro-bind", "/usr", "/usr"),
            *[("--proc", "/proc")][: self._proc],
            *(("--dev-bind", f"/dev/{name}", f"/dev/{name}") for name in DEVICES),
            *self._scratch(box, limits),
            ("--ro-bind", str(self._stage.box(box)), "/box", "--chdir", "/box"),
        ]
        return [word for group in groups for word in group]

    def _scratch(self, box: Box, limits: Limits) -> list[Sequence[str]]:
        """Return the writable places: none where no control group counts their files.

        A file system in memory is limited in bytes, but not in empty files.
        """
        if self._cgroups is None:
            return []
        return [
            ("--size", str(_SHM_BYTES), "--tmpfs", "/dev/shm"),  # noqa: S108
            ("--size", str(limits.tmp_mb << 20), "--tmpfs", "/tmp"),  # noqa: S108
            *[("--size", str(box.out_mb << 20), "--tmpfs", "/out")][: box.out_mb],
        ]

    def _rlimits(self, limits: Limits) -> list[str]:
        """Return the command that limits each process of a box without a group.

        In the box the kernel counts the processes of this box alone.
        """
        if self._cgroups is not None:
            return []
        return [
            "/usr/bin/prlimit",
            f"--fsize={limits.tmp_mb << 20}",
            f"--nproc={limits.pids}",
            f"--data={_DATA_TIMES * limits.memory_mb << 20}",
            "--",
        ]


class BoxedBot:
    """A bot in its box."""

    def __init__(
        self,
        child: Child,
        pipes: Pipes,
        began: int,
        reins: Cgroup | Tree,
        slot: int | None,
    ) -> None:
        self._child, self._began, self._reins = child, began, reins
        self._slot = slot
        self.pid = child.pid
        self.stdin, self.stdout, self.stderr = pipes
        self._exit: Exit | None = None
        # What is called for each decision is the reins' own, without a step between.
        self.freeze, self.thaw, self.cpu_ns = reins.freeze, reins.thaw, reins.cpu_ns
        self.threads, self.over_memory = reins.threads, reins.over_memory
        self.memory_peak = reins.memory_peak

    def closed_stdout(self) -> bool:
        """Look whether anybody but bwrap, which never lets go, still has the pipe."""
        pids = {pid for pid in self._reins.processes() if pid != self.pid}
        return bool(pids) and not any(holds(pid, self.stdout) for pid in pids)

    def began(self) -> bool:
        """Return whether bwrap had finished the box and gone on to the bot."""
        return self._exit is not None or unread(self._began) == 0

    def kill(self) -> Exit:
        if self._exit is None:
            code = self._child.poll()
            if code is None:
                # The bot first, so that bwrap reaps it: nobody else may be there to.
                self._reins.strike(spare=self.pid)
                wait_for_exit(self.pid, _REAP_MS)
            self._reins.remove()
            ended = self._child.wait()
            self._exit = _exit(ended if code is None else code)
            os.close(self._began)
            if self._slot is not None:
                os.close(self._slot)
        return self._exit


def _exit(code: int) -> Exit:
    """Return what bwrap's own exit says of the bot: 128 + n is signal n."""
    if code < 0:
        return Exit(None, -code)
    if code > 128:  # noqa: PLR2004
        return Exit(None, code - 128)
    return Exit(code, None)


def _environment(env: Mapping[str, str]) -> list[str]:
    return [word for item in env.items() for word in ("--setenv", *item)]
