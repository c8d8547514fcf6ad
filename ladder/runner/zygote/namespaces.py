"""A box of namespaces, made by root: what a bot sees is what it is given.

The root that all boxes have in common is put together once, in a mount namespace of
the zygote's own. A bot is born in a copy of that; what is its own is mounted there, the
rest of the host is let go, and its user id has no name in the box.
"""

import contextlib
import socket
import struct
from collections.abc import Mapping, Sequence
from typing import Any

from ladder.runner.zygote import calls
from ladder.runner.zygote.calls import mount

_NEWNS, _NEWCGROUP, _NEWUTS, _NEWIPC = 0x2_0000, 0x200_0000, 0x400_0000, 0x800_0000
_NEWUSER, _NEWPID, _NEWNET = 0x1000_0000, 0x2000_0000, 0x4000_0000
BORN_IN = _NEWNS | _NEWUTS | _NEWIPC | _NEWPID | _NEWNET
"""The namespaces that a bot is cloned into."""
_RDONLY, _NOSUID, _NODEV, _NOEXEC, _REMOUNT = 1, 2, 4, 8, 32
_BIND, _REC, _SLAVE = 1 << 12, 1 << 14, 1 << 19
_MOUNT_SETATTR, _HERE, _RECURSIVE = 442, -100, 0x8000
_FILE_BYTES = 4096
"""A file system in memory holds a file, empty or not, for each so many bytes."""
_NOBODY = 65_534

_NEEDLESS = ("/sys", "/dev")

_made: set[str] = set()


def prepare(root: str, devices: Sequence[str]) -> None:
    """Put the common root together, in this process's own mount namespace, once.

    ``root`` is a folder with all that is to be mounted on; /usr and the ``devices`` of
    the host are put into it.
    """
    if root in _made:
        return
    if not _made:
        calls.unshare(_NEWNS)
        # What the host mounts later is seen here, and nothing of ours is seen there.
        mount(None, "/", None, _REC | _SLAVE)
    mount(root, root, None, _BIND)
    mount("/usr", f"{root}/usr", None, _BIND | _REC)
    _seal(root, _RDONLY | _NOSUID | _NODEV)
    for name in devices:
        mount(f"/dev/{name}", f"{root}/dev/{name}", None, _BIND)
        _seal(f"{root}/dev/{name}", _RDONLY | _NOSUID | _NOEXEC)
    if not _made:
        # Each bot is born with a copy of what is mounted: the fewer, the quicker.
        for folder in _NEEDLESS:
            with contextlib.suppress(OSError):  # it is no mount here
                calls.unmount(folder)
    _made.add(root)


def furnish(root: str, box: str, scratch: Mapping[str, int]) -> None:
    """Make what this bot alone has, and let go of the host.

    ``box`` is the folder that becomes /box, ``scratch`` tells of each writable folder
    how many bytes it may hold. To be called in the namespaces of ``BORN_IN``.
    """
    for target, size in scratch.items():
        options = f"mode=1777,size={size},nr_inodes={max(16, size // _FILE_BYTES)}"
        mount("tmpfs", root + target, "tmpfs", _NOSUID | _NODEV, options)
    mount("proc", f"{root}/proc", "proc", _NOSUID | _NODEV | _NOEXEC)
    mount(box, f"{root}/box", None, _BIND)
    mount(None, f"{root}/box", None, _BIND | _REMOUNT | _RDONLY | _NOSUID | _NODEV)
    calls.pivot(root)
    socket.sethostname("box")
    calls.unshare(_NEWCGROUP)
    calls.bound_capabilities()


def hide(uid: int) -> None:
    """Be nobody in the box, with no capability there or elsewhere.

    To be called with the user id ``uid``, which is not root's. On a host that forbids
    user namespaces to all but root, the bot sees its number, and no more than that.
    """
    with contextlib.suppress(OSError):
        calls.unshare(_NEWUSER)
        calls.prctl(calls.DUMPABLE, 1)  # else /proc/self belongs to root
        calls.write("/proc/self/setgroups", b"deny")
        for kind in ("uid", "gid"):
            calls.write(f"/proc/self/{kind}_map", f"{_NOBODY} {uid} 1".encode())
        calls.bound_capabilities()  # a new namespace comes with all of them
    calls.drop_capabilities()


def _seal(path: str, flags: int) -> None:
    """Set flags of a mount and of all mounts below it (Linux 5.12)."""
    attributes: Any = struct.pack("4Q", flags, 0, 0, 0)  # the old and new names agree
    calls.call(
        _MOUNT_SETATTR, _HERE, path.encode(), _RECURSIVE, attributes, len(attributes)
    )
