"""System calls that Python's library does not offer, by ctypes. All raise OSError."""

import contextlib
import ctypes
import os
import struct
from functools import cache

NO_NEW_PRIVS, DIE_WITH, DUMPABLE, SUBREAPER = 38, 1, 4, 36
"""Numbers of ``prctl``."""
_SET_SECCOMP, _FILTER = 22, 2
_DETACH = 2
_ARGUMENTS = 45
"""Two words of /proc/PID/stat, after the name: where its command line is."""
_BOUND_DROP, _MOST_CAPABILITIES = 24, 64
_libc = ctypes.PyDLL(None, use_errno=True)  # holds the interpreter's lock


def call(number: int, *arguments: object) -> int:
    """Make the system call of this number."""
    return _checked(_libc.syscall(number, *arguments))


def prctl(option: int, value: object = 0, more: object = 0) -> int:
    """Change or ask something of this process."""
    return _checked(_libc.prctl(option, value, more, 0, 0))


def unshare(flags: int) -> None:
    """Leave namespaces for new ones."""
    _checked(_libc.unshare(flags))


def mount(
    source: str | None, target: str, kind: str | None, flags: int, options: str = ""
) -> None:
    """Mount something, or change how it is mounted."""
    names = (word.encode() if word is not None else None for word in (source, target))
    sort = kind.encode() if kind is not None else None
    _checked(_libc.mount(*names, sort, ctypes.c_ulong(flags), options.encode()))


def unmount(target: str) -> None:
    """Let go of a mount and of all below it."""
    _checked(_libc.umount2(target.encode(), _DETACH))


def pivot(root: str) -> None:
    """Make a folder, which is a mount, the root of all, and let go of the old one."""
    os.chdir(root)
    _checked(_libc.pivot_root(b".", b"."))
    unmount(".")  # the old root lies on the new one
    os.chdir("/")


def bound_capabilities() -> None:
    """Let this process, and what it starts, never again get a capability."""
    with contextlib.suppress(OSError):  # behind the last
        for number in range(_MOST_CAPABILITIES):
            prctl(_BOUND_DROP, number)


def drop_capabilities() -> None:
    """Give up the capabilities that this process has."""
    header = struct.pack("Ii", 0x2008_0522, 0)  # version 3, this process
    _checked(_libc.capset(header, bytes(24)))


def load_filter(fd: int) -> None:
    """Let this process make only the calls of a filter, which lies in ``fd``."""
    code = os.pread(fd, 1 << 16, 0)
    kept = ctypes.create_string_buffer(code, len(code))
    program = struct.pack("HxxxxxxQ", len(code) // 8, ctypes.addressof(kept))
    prctl(_SET_SECCOMP, _FILTER, program)


def rename(name: bytes) -> None:
    """Show ``name`` as this process's command line: the true one has paths of the host.

    Whoever is forked from it shows the same.
    """
    start, end = _command_line()
    if start < end:
        ctypes.memset(start, 0, end - start)
        ctypes.memmove(start, name, min(len(name), end - start - 1))


@cache
def _command_line() -> tuple[int, int]:
    """Return where in memory the command line begins and ends; a fork has it there."""
    with open("/proc/self/stat", "rb") as file:  # noqa: PTH123 - pathlib is slow to load
        words = file.read().rpartition(b")")[2].split()
    return int(words[_ARGUMENTS]), int(words[_ARGUMENTS + 1])


def write(path: str, content: bytes, folder: int | None = None) -> None:
    """Write to a file that is there; ``path`` may begin in an open folder."""
    fd = os.open(path, os.O_WRONLY | os.O_CLOEXEC, dir_fd=folder)
    try:
        os.write(fd, content)
    finally:
        os.close(fd)


def _checked(answer: int) -> int:
    if answer == -1:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return int(answer)
