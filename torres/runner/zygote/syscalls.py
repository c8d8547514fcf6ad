"""System calls that the standard library does not offer, called through ctypes.

Every function raises OSError if the kernel refuses. The module knows nothing of bots
and of sandboxes.
"""

import contextlib
import ctypes
import os
import struct
from functools import cache

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38
_PR_SET_SECCOMP = 22
_PR_CAPBSET_DROP = 24
_SECCOMP_MODE_FILTER = 2
_MNT_DETACH = 2
_ARG_START_FIELD = 45
"""Index of ``arg_start`` in /proc/PID/stat, counted after the name; ``arg_end``
follows. Between the two addresses lies the command line."""
_MAX_CAPABILITIES = 64
_MAX_FILTER_BYTES = 1 << 16
# PyDLL, unlike CDLL, does not release the interpreter's lock.
_libc = ctypes.PyDLL(None, use_errno=True)


def syscall(number: int, *arguments: object) -> int:
    """Make the system call with this number and return its result."""
    return _check(_libc.syscall(number, *arguments))


def prctl(option: int, value: object = 0, more: object = 0) -> int:
    """Change or read an attribute of this process; return prctl's result."""
    return _check(_libc.prctl(option, value, more, 0, 0))


def unshare(flags: int) -> None:
    """Move this process into new namespaces; ``flags`` are CLONE_NEW* flags."""
    _check(_libc.unshare(flags))


def mount(
    source: str | None, target: str, kind: str | None, flags: int, options: str = ""
) -> None:
    """Mount a file system, or change the flags of an existing mount."""
    names = (word.encode() if word is not None else None for word in (source, target))
    file_system = kind.encode() if kind is not None else None
    _check(_libc.mount(*names, file_system, ctypes.c_ulong(flags), options.encode()))


def unmount(target: str) -> None:
    """Detach a mount and all mounts below it."""
    _check(_libc.umount2(target.encode(), _MNT_DETACH))


def pivot_root(root: str) -> None:
    """Make ``root``, which is a mount point, the root folder; detach the old root."""
    os.chdir(root)
    _check(_libc.pivot_root(b".", b"."))
    unmount(".")  # The old root is mounted on top of the new one.
    os.chdir("/")


def drop_bounding_set() -> None:
    """Empty the capability bounding set.

    After this, neither this process nor a program that it executes can gain a
    capability.
    """
    with contextlib.suppress(OSError):  # The kernel refuses the first unknown number.
        for number in range(_MAX_CAPABILITIES):
            prctl(_PR_CAPBSET_DROP, number)


def drop_capabilities() -> None:
    """Give up all capabilities that this process has."""
    # Version 3 of the structure; PID 0 is the calling process.
    header = struct.pack("Ii", 0x2008_0522, 0)
    _check(_libc.capset(header, bytes(24)))


def load_seccomp_filter(fd: int) -> None:
    """Load the seccomp program that the file ``fd`` contains into this process."""
    code = os.pread(fd, _MAX_FILTER_BYTES, 0)
    instructions = ctypes.create_string_buffer(code, len(code))
    address = ctypes.addressof(instructions)
    program = struct.pack("HxxxxxxQ", len(code) // 8, address)
    prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, program)


def set_command_line(name: bytes) -> None:
    """Show ``name`` as the command line of this process and of its forks.

    The real command line contains paths of the host, which a bot must not see.
    """
    start, end = _command_line()
    if start < end:
        ctypes.memset(start, 0, end - start)
        ctypes.memmove(start, name, min(len(name), end - start - 1))


@cache
def _command_line() -> tuple[int, int]:
    """Return the first address of the command line and the address behind it.

    The addresses are the same in a fork, so that it need not read them again.
    """
    with open("/proc/self/stat", "rb") as file:  # noqa: PTH123 - pathlib is slow to load
        fields = file.read().rpartition(b")")[2].split()
    return int(fields[_ARG_START_FIELD]), int(fields[_ARG_START_FIELD + 1])


def write_file(path: str, content: bytes, folder: int | None = None) -> None:
    """Write to an existing file; ``path`` may be relative to an open ``folder``."""
    fd = os.open(path, os.O_WRONLY | os.O_CLOEXEC, dir_fd=folder)
    try:
        os.write(fd, content)
    finally:
        os.close(fd)


def _check(result: int) -> int:
    if result == -1:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return int(result)
