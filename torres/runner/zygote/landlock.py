"""Landlock: let this process reach only some paths, without namespaces and root."""

import contextlib
import os
import stat
import struct
from collections.abc import Iterable

from torres.runner.zygote.syscalls import PR_SET_NO_NEW_PRIVS, prctl, syscall

_CREATE_RULESET = 444
_ADD_RULE = 445
_RESTRICT_SELF = 446
_CREATE_RULESET_VERSION = 1
"""Flag of ``landlock_create_ruleset``: return the version of the interface."""
_RULE_PATH_BENEATH = 1
_READ = 0b1101
"""Access rights: execute a file, read a file, list a folder."""
_READ_CONTENT = 0b1100
"""Access rights: read a file, list a folder."""
_READ_FOLDER = 0b1000
"""Access right: list a folder. The kernel refuses it in a rule for a file."""
_WRITE = 0b0110
"""Access rights: write to a file and read it."""


def version() -> int:
    """Return the version of the kernel's Landlock interface; 0 if it has none."""
    try:
        return syscall(_CREATE_RULESET, None, 0, _CREATE_RULESET_VERSION)
    except OSError:
        return 0


def restrict(reads: Iterable[str], writes: Iterable[str]) -> None:
    """Let this process read and write nothing but these paths and what is below them.

    The rule set handles every access right to files, TCP ports, abstract sockets and
    signals that this version of the kernel's interface defines.
    """
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    abi = version()
    # Versions 1 to 5 know 13, 14, 15, 15 and 16 access rights to files.
    files = (1 << (13, 14, 15, 15, 16)[min(abi, 5) - 1]) - 1
    # Version 4 added a field for TCP to the structure, version 6 one for scopes.
    size = 8 if abi < 4 else 16 if abi < 6 else 24
    handled = struct.pack("3Q", files, 0b11, 0b11)[:size]
    _enforce(handled, [*((p, _READ) for p in reads), *((p, _WRITE) for p in writes)])


def hide_proc() -> None:
    """Let this process read nothing in /proc, and change no other right.

    Do nothing if the kernel has no Landlock. Links can still be followed, so
    /dev/stdin and /proc/self/exe work. What /proc says about a descriptor contains
    numbers that the whole kernel shares, by which frozen bots could send messages.
    """
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    with contextlib.suppress(OSError):
        handled = struct.pack("Q", _READ_CONTENT)
        others = [f"/{name}" for name in os.listdir("/") if name != "proc"]  # noqa: PTH208
        _enforce(handled, [(path, _READ_CONTENT) for path in others])


def _enforce(handled: bytes, rules: Iterable[tuple[str, int]]) -> None:
    """Take the handled rights from this process, except where a rule grants them.

    ``handled`` is a ``struct landlock_ruleset_attr``. A rule is a path and the rights
    to it and to what is below it.
    """
    ruleset = syscall(_CREATE_RULESET, handled, len(handled), 0)
    for path, rights in rules:
        _allow(ruleset, path, rights)
    syscall(_RESTRICT_SELF, ruleset, 0)
    os.close(ruleset)


def _allow(ruleset: int, path: str, rights: int) -> None:
    fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        if not stat.S_ISDIR(os.fstat(fd).st_mode):
            rights &= ~_READ_FOLDER
        rule = struct.pack("=Qi", rights, fd)
        syscall(_ADD_RULE, ruleset, _RULE_PATH_BENEATH, rule, 0)
    finally:
        os.close(fd)
