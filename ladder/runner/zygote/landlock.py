"""A process that can reach nothing but some paths, by Landlock."""

import os
import stat
import struct
from collections.abc import Iterable

from ladder.runner.zygote.calls import NO_NEW_PRIVS, call, prctl

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION, _PATH_BENEATH = 1, 1
_READ, _READ_FOLDER, _WRITE = 0b1101, 0b1000, 0b0110
"""Rights of Landlock: to execute, read files and list; to list; to write and read."""


def version() -> int:
    """Return the version of the kernel's Landlock; 0 if it has none."""
    try:
        return call(_CREATE_RULESET, None, 0, _VERSION)
    except OSError:
        return 0


def confine(reads: Iterable[str], writes: Iterable[str]) -> None:
    """Let this process read and write nothing but what is below these paths."""
    prctl(NO_NEW_PRIVS, 1)
    known = version()
    # All rights to files, TCP, abstract sockets and signals, as far as it knows them.
    files = (1 << (13, 14, 15, 15, 16)[min(known, 5) - 1]) - 1
    size = 8 if known < 4 else 16 if known < 6 else 24
    handled = struct.pack("3Q", files, 0b11, 0b11)[:size]
    ruleset = call(_CREATE_RULESET, handled, size, 0)
    for paths, rights in ((reads, _READ), (writes, _WRITE)):
        for path in paths:
            _allow(ruleset, path, rights)
    call(_RESTRICT_SELF, ruleset, 0)
    os.close(ruleset)


def _allow(ruleset: int, path: str, rights: int) -> None:
    fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        if not stat.S_ISDIR(os.fstat(fd).st_mode):
            rights &= ~_READ_FOLDER
        rule = struct.pack("=Qi", rights, fd)
        call(_ADD_RULE, ruleset, _PATH_BENEATH, rule, 0)
    finally:
        os.close(fd)
