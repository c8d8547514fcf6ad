"""Run `torres` as on a system that is not Linux: `portable_launcher.py darwin play …`.

Modules and functions that only POSIX has are taken away before the first import of the
project. What the standard library itself needs to start processes here stays: on the
real system it has other means.
"""

import os
import select
import selectors
import signal
import subprocess
import sys
import types
from importlib import import_module

PACKAGES = ("ctypes", "click", "msgspec", "rich.console", "rich.progress", "rich.table")
"""They choose their code by the platform when they are imported."""
POSIX_MODULES = ("fcntl", "termios", "resource", "pwd", "grp", "pty", "tty", "syslog")
POSIX_FUNCTIONS = """
fork forkpty killpg setsid getsid setpgid getpgid getpgrp geteuid getegid getuid getgid
getgroups pipe2 pidfd_open waitid wait3 wait4 sched_getaffinity sysconf set_blocking
get_blocking mkfifo mknod chown lchown chroot nice statvfs uname eventfd memfd_create
getresuid pread pwrite posix_spawn sched_yield
""".split()  # noqa: SIM905 - shorter than a list of strings
POSIX_SIGNALS = ("SIGKILL", "SIGSTOP", "SIGCONT", "SIGHUP", "SIGALRM", "SIGUSR1")


def main() -> None:
    for name in PACKAGES:
        import_module(name)
    subprocess.signal = types.SimpleNamespace(**vars(signal))
    subprocess._PopenSelector = selectors.SelectSelector  # type: ignore[attr-defined]
    sys.platform, *words = sys.argv[1:]
    for name in POSIX_MODULES:
        sys.modules[name] = None  # type: ignore[assignment] - an import of it fails
    for name in POSIX_FUNCTIONS:
        if hasattr(os, name):
            delattr(os, name)
    for name in POSIX_SIGNALS:
        delattr(signal, name)
    for name in ("poll", "epoll"):
        delattr(select, name)
    sys.argv = ["torres", *words]
    import_module("torres.cli.main").main()


main()
