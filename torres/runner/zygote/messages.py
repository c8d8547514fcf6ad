"""The messages that a worker sends to its zygote: JSON in packets of a Unix socket.

A ``ForkRequest`` goes to the zygote, which forks a process. A ``SpawnOrder`` goes to
that process and says which program it is to execute, and under which restrictions.
File descriptors travel with both messages (``SCM_RIGHTS``).
"""

import json
from collections.abc import Mapping, Sequence
from typing import NamedTuple

MAX_MESSAGE_BYTES = 1 << 17
MAX_FDS = 16
"""The most descriptors that one message carries."""
STATUS_FD = 5
"""The pipe to which a supervisor writes the bot's wait status, as a C int. Its own exit
code could not tell a signal from an exit code of the bot."""
QUIT = b"{}"
"""The zygote exits. If it reads the end of its socket without this message, it
concludes that the worker is dead and kills the worker's bots."""


class SharedRoot(NamedTuple):
    """The parts of a sandbox that all bots of a worker have in common.

    ``folder`` contains every mount point. The zygote mounts /usr there, and the
    ``devices``, which are names of files in /dev.
    """

    folder: str
    devices: Sequence[str]


class PrivateMounts(NamedTuple):
    """The parts of a sandbox that belong to one bot.

    ``root`` is the shared root. ``program`` is the bot's folder on the host, which
    appears as /box. ``scratch`` maps each writable folder to its size in bytes.
    """

    root: str
    program: str
    scratch: Mapping[str, int]


class AllowedPaths(NamedTuple):
    """The paths that Landlock lets a bot read and write."""

    reads: Sequence[str]
    writes: Sequence[str]


class ForkRequest(NamedTuple):
    """Ask the zygote for a process that waits for its order.

    The first descriptor of the message is the socket on which the process waits. If
    ``into_cgroup`` is true, the second one is the folder of its cgroup of version 2.
    All others are ``tasks`` files of cgroups of version 1. If ``root`` is given, the
    process is forked into new namespaces.
    """

    root: SharedRoot | None
    into_cgroup: bool

    def encode(self) -> bytes:
        return json.dumps(self).encode()

    @classmethod
    def decode(cls, data: bytes) -> "ForkRequest":
        root, into_cgroup = json.loads(data)
        return cls(SharedRoot(*root) if root is not None else None, into_cgroup)


class SpawnOrder(NamedTuple):
    """The program to execute, and the restrictions to put on it.

    The descriptors of the message become the program's descriptors 0, 1, 2 and so on,
    but a supervisor keeps ``STATUS_FD`` for itself and writes the bot's wait status
    there.
    ``rlimits`` are pairs of a number from ``resource`` and the limit. ``uid`` is the
    user id and the group id to change to. ``mounts`` are set if, and only if, the
    process was forked into namespaces; ``paths`` are set if Landlock is to restrict
    it. If ``seccomp`` is true, descriptor 4 is the filter, and the process reads one
    byte from descriptor 3 as soon as the filter is loaded. ``niceness`` is that of
    ``Program``.
    """

    argv: Sequence[str]
    env: Mapping[str, str]
    cwd: str = "/"
    uid: int | None = None
    rlimits: Sequence[tuple[int, int]] = ()
    mounts: PrivateMounts | None = None
    paths: AllowedPaths | None = None
    seccomp: bool = False
    niceness: int = 0

    def encode(self) -> bytes:
        return json.dumps(self).encode()

    @classmethod
    def decode(cls, data: bytes) -> "SpawnOrder":
        order = cls(*json.loads(data))
        if order.mounts is not None:
            order = order._replace(mounts=PrivateMounts(*order.mounts))
        if order.paths is not None:
            order = order._replace(paths=AllowedPaths(*order.paths))
        return order
