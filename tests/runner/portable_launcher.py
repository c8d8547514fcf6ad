"""Run `torres` as on a system that is not Linux: `portable_launcher.py darwin play …`.

Modules and functions that the system does not have (for macOS those of Linux, for
Windows those of POSIX) are taken away before the first import of the project. What the
standard library itself needs to start processes here stays: on the real system it has
other means.
"""

import os
import select
import selectors
import shutil
import signal
import subprocess
import sys
import types
from collections.abc import Iterable
from importlib import import_module

PACKAGES = (
    "ctypes", "click", "msgspec", "multiprocessing.connection", "rich.console",
    "rich.progress", "rich.table",
)  # fmt: skip
"""They choose their code by the platform when they are imported."""
POSIX_MODULES = ("fcntl", "termios", "resource", "pwd", "grp", "pty", "tty", "syslog")
LINUX_FUNCTIONS = """
pipe2 pidfd_open sched_getaffinity eventfd memfd_create getresuid
""".split()  # noqa: SIM905 - shorter than a list of strings
POSIX_FUNCTIONS = """
fork forkpty killpg setsid getsid setpgid getpgid getpgrp geteuid getegid getuid getgid
getgroups waitid wait3 wait4 sysconf set_blocking
get_blocking mkfifo mknod chown lchown chroot nice statvfs uname
pread pwrite posix_spawn sched_yield
""".split()  # noqa: SIM905 - shorter than a list of strings
POSIX_SIGNALS = ("SIGKILL", "SIGSTOP", "SIGCONT", "SIGHUP", "SIGALRM", "SIGUSR1")
SYSTEM = "IMITATED_SYSTEM"
"""The variable with which worker processes know the system, too."""


def imitate(system: str) -> None:
    """Take away what the system does not have."""
    for name in PACKAGES:
        import_module(name)
    subprocess.signal = types.SimpleNamespace(**vars(signal))
    subprocess._PopenSelector = selectors.SelectSelector  # type: ignore[attr-defined]
    sys.platform = system
    remove(os, LINUX_FUNCTIONS)
    remove(select, ["epoll"])
    if system == "win32":
        sys.modules["msvcrt"] = locks_of_windows()
        # `shutil.which` of Python 3.12 and newer asks it where to search.
        search = types.SimpleNamespace(
            NeedCurrentDirectoryForExePath=lambda _name: True
        )
        shutil._winapi = search  # type: ignore[attr-defined]
        for name in POSIX_MODULES:
            sys.modules[name] = None  # type: ignore[assignment] - an import of it fails
        subprocess._USE_POSIX_SPAWN = False  # type: ignore[attr-defined]
        remove(os, [*POSIX_FUNCTIONS, "O_CLOEXEC", "O_NOFOLLOW", "O_DIRECTORY"])
        os.O_NOINHERIT = 0  # type: ignore[attr-defined]
        remove(signal, POSIX_SIGNALS)
        remove(select, ["poll"])


def remove(module: types.ModuleType, names: Iterable[str]) -> None:
    for name in names:
        if hasattr(module, name):
            delattr(module, name)


def locks_of_windows() -> types.ModuleType:
    """Return a module that locks files as `msvcrt` does."""
    flock = import_module("fcntl").flock
    msvcrt = types.ModuleType("msvcrt")
    msvcrt.LK_NBLCK = 6  # type: ignore[attr-defined]  # LOCK_EX | LOCK_NB
    msvcrt.locking = lambda fd, mode, _bytes: flock(fd, mode)  # type: ignore[attr-defined]
    return msvcrt


# A worker process of `torres match` imports this file again, by another name.
if __name__ == "__main__":
    os.environ[SYSTEM] = sys.argv[1]
    sys.argv = ["torres", *sys.argv[2:]]
imitate(os.environ[SYSTEM])
if __name__ == "__main__":
    import_module("torres.cli.main").main()
