"""Starting a bot in Bubblewrap: namespaces, the filter, its own file system.

The order at a start: bwrap waits for its options; we put it into the bot's control
group; then it gets them. So everything that it starts is born in the group, whoever
dies meanwhile, and no code of ours runs between fork and exec of a threaded worker.
"""

import contextlib
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from engine.referee import ServiceFault
from ladder.bots.protocol import Limits
from ladder.bots.sandbox.base import Box, Exit, Level
from ladder.bots.sandbox.cgroups import Cgroup, Cgroups
from ladder.bots.sandbox.host import Host, Slots, closing
from ladder.bots.sandbox.kernel import holds, unread, wait_for_exit
from ladder.bots.sandbox.launch import Launched, engine_folder, launch
from ladder.bots.sandbox.staging import Stage
from ladder.bots.sandbox.syscalls import open_filter
from ladder.bots.sandbox.tree import Tree

_REAP_MS = 1_000
"""How long bwrap may take to see that its bot is dead."""
_SHM_BYTES = 1 << 20
_FILES_OPEN = 256
_DATA_TIMES = 2
"""Without control groups a process may have so many times the bot's memory."""
_NOBODY = "65534"
_ENV = {
    "PATH": "/usr/bin:/bin",
    "HOME": "/tmp",  # noqa: S108 — the box's own
    "TMPDIR": "/tmp",  # noqa: S108
    "LANG": "C.UTF-8",
    "PYTHONPATH": "/opt/torres",
    "PYTHONHASHSEED": "0",
}
_VISIBLE = (
    # Of the host a bot sees its programs and libraries, and what those cannot do
    # without in /etc: nothing that is a secret, nothing that tells who runs them.
    ("--ro-bind", "/usr", "/usr"),
    ("--symlink", "usr/bin", "/bin"),
    ("--symlink", "usr/sbin", "/sbin"),
    ("--symlink", "usr/lib", "/lib"),
    ("--symlink", "usr/lib64", "/lib64"),
    ("--dir", "/etc"),
    ("--ro-bind-try", "/etc/ld.so.cache", "/etc/ld.so.cache"),
    ("--ro-bind-try", "/etc/alternatives", "/etc/alternatives"),
    *(("--ro-bind", str(p), str(p)) for p in Path("/etc").glob("java-*-openjdk")),
)
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
        self._owner = os.getpid()

    def start(self, box: Box, limits: Limits) -> "BoxedBot":
        words = self._words(box, limits)
        command = [*self._rlimits(limits), *box.command(limits)]
        uid, slot = self._slots.take() if self._slots else (None, None)
        with contextlib.ExitStack() as failing:
            if slot is not None:
                failing.callback(os.close, slot)
            reins = self._cgroups.make(limits) if self._cgroups else Tree(limits)
            failing.callback(reins.remove)
            launched, options, began = _launch(
                command, uid, memfd=self._cgroups is not None
            )
            failing.pop_all()
        bot = BoxedBot(launched, began, reins, slot)
        try:
            with closing(options):
                reins.add(launched.process.pid)
                os.write(options, b"".join(word.encode() + b"\0" for word in words))
        except (ServiceFault, OSError) as why:
            bot.kill()
            for fd in launched.pipes:
                os.close(fd)
            raise ServiceFault(f"no box for {box.folder}: {why}") from why
        return bot

    def close(self) -> None:
        if self._owner != os.getpid():
            return  # a fork of the worker holds nothing
        if self._cgroups is not None:
            self._cgroups.close()
        self._stage.close()

    def _words(self, box: Box, limits: Limits) -> list[str]:
        """Return bwrap's options; only the command stands on its command line."""
        return [
            *_ISOLATION,
            *self._mounts(box, limits),
            *_environment({**_ENV, **box.env}),
        ]

    def _mounts(self, box: Box, limits: Limits) -> list[str]:
        groups: list[Sequence[str]] = [
            *_VISIBLE,
            ("--proc", "/proc") if self._proc else ("--dir", "/proc"),
            ("--dev", "/dev"),
            *self._scratch(box, limits),
            ("--ro-bind", str(self._stage.engine(engine_folder())), "/opt/torres"),
            ("--ro-bind", str(self._stage.box(box)), "/box"),
            ("--chdir", "/box", "--remount-ro", "/dev", "--remount-ro", "/"),
        ]
        return [word for group in groups for word in group]

    def _scratch(self, box: Box, limits: Limits) -> list[Sequence[str]]:
        """Return the writable places: none where no control group counts their files.

        A file system in memory is limited in bytes, but not in empty files.
        """
        if self._cgroups is None:
            return [("--dir", "/tmp")]  # noqa: S108
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
        self, launched: Launched, began: int, reins: Cgroup | Tree, slot: int | None
    ) -> None:
        self._process, self._began, self._reins = launched.process, began, reins
        self._slot = slot
        self.pid = launched.process.pid
        self.stdin, self.stdout, self.stderr = launched.pipes
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
            code = self._process.poll()
            if code is None:
                # The bot first, so that bwrap reaps it: nobody else may be there to.
                self._reins.strike(spare=self.pid)
                wait_for_exit(self.pid, _REAP_MS)
            self._reins.remove()
            self._process.wait()
            self._exit = _exit(self._process.returncode if code is None else code)
            os.close(self._began)
            if self._slot is not None:
                os.close(self._slot)
        return self._exit


def _launch(
    command: Sequence[str], uid: int | None, *, memfd: bool
) -> tuple[Launched, int, int]:
    """Start bwrap under ``uid``, waiting for its options.

    Returns it, the pipe for its options, and one with a byte in it that bwrap takes
    when the box is finished.
    """
    words, arguments = os.pipe2(os.O_CLOEXEC)
    wait, began = os.pipe2(os.O_CLOEXEC)
    rules = open_filter(memfd=memfd)
    os.write(began, b"g")
    passed = (words, wait, rules)
    argv = [
        *_become(uid),
        *("/usr/bin/bwrap", "--seccomp", str(rules), "--block-fd", str(wait)),
        *("--args", str(words), "--", *command),
    ]
    try:
        with closing(*passed):
            return launch(argv, Path("/"), {}, pass_fds=passed), arguments, began
    except ServiceFault:
        os.close(arguments)
        os.close(began)
        raise


def _become(uid: int | None) -> list[str]:
    """Return the command that runs the rest under ``uid``, with few descriptors.

    Popen could change the user, but would have to fork: 20 ms in a worker of 200 MB,
    measured. No cores: programs of the host would look at them.
    """
    limits = f"ulimit -c 0 && ulimit -l 0 && ulimit -n {_FILES_OPEN}"
    limit = ("/bin/sh", "-c", f'{limits} && exec "$@"')
    if uid is None:
        return [*limit, "sh"]
    ids = ("--reuid", str(uid), "--regid", str(uid), "--clear-groups")
    return [*limit, "sh", "/usr/bin/setpriv", *ids, "--"]


def _exit(code: int) -> Exit:
    """Return what bwrap's own exit says of the bot: 128 + n is signal n."""
    if code < 0:
        return Exit(None, -code)
    if code > 128:  # noqa: PLR2004
        return Exit(None, code - 128)
    return Exit(code, None)


def _environment(env: Mapping[str, str]) -> list[str]:
    return [word for item in env.items() for word in ("--setenv", *item)]
