"""A sandbox of namespaces, made by root.

The root folder that all sandboxes share is mounted once, in a mount namespace that
only the zygote and its forks see. A bot starts in a copy of that namespace. Its own
mounts are added there, the file systems of the host are detached, and its user id is
mapped to ``nobody``.
"""

import contextlib
import os
import socket
import struct
from typing import Any

from torres.runner.zygote import syscalls
from torres.runner.zygote.messages import PrivateMounts, SharedRoot
from torres.runner.zygote.syscalls import mount

_CLONE_NEWNS = 0x2_0000
_CLONE_NEWCGROUP = 0x200_0000
_CLONE_NEWUTS = 0x400_0000
_CLONE_NEWIPC = 0x800_0000
_CLONE_NEWUSER = 0x1000_0000
_CLONE_NEWPID = 0x2000_0000
_CLONE_NEWNET = 0x4000_0000
CLONE_FLAGS = (
    _CLONE_NEWNS | _CLONE_NEWUTS | _CLONE_NEWIPC | _CLONE_NEWPID | _CLONE_NEWNET
)
"""The namespaces that a bot's process is cloned into."""
_RDONLY = 1
_NOSUID = 2
_NODEV = 4
_NOEXEC = 8
_REMOUNT = 32
_BIND = 1 << 12
_REC = 1 << 14
_SLAVE = 1 << 19
_MOUNT_SETATTR = 442
_AT_FDCWD = -100
_AT_RECURSIVE = 0x8000
_BYTES_PER_INODE = 4096
"""A tmpfs may hold one file, even an empty one, for each 4096 bytes of its size."""
_MIN_INODES = 16
_NOBODY = 65_534
_UNUSED_MOUNTS = ("/sys", "/dev")

_prepared_roots: set[str] = set()


def prepare_root(shared: SharedRoot) -> None:
    """Mount the root folder that all sandboxes share, in this process's namespace.

    Do nothing if that was done before. Mount the host's /usr and its devices into the
    folder, and make all of it read-only.
    """
    root = shared.folder
    if root in _prepared_roots:
        return
    if not _prepared_roots:
        syscalls.unshare(_CLONE_NEWNS)
        # Later mounts of the host appear here; our mounts do not appear on the host.
        mount(None, "/", None, _REC | _SLAVE)
    mount(root, root, None, _BIND)
    mount("/usr", f"{root}/usr", None, _BIND | _REC)
    _set_mount_flags(root, _RDONLY | _NOSUID | _NODEV)
    for name in shared.devices:
        mount(f"/dev/{name}", f"{root}/dev/{name}", None, _BIND)
        _set_mount_flags(f"{root}/dev/{name}", _RDONLY | _NOSUID | _NOEXEC)
    if not _prepared_roots:
        # Every bot gets a copy of the mount table, so a short table saves time.
        for folder in _UNUSED_MOUNTS:
            with contextlib.suppress(OSError):  # It is not a mount on this host.
                syscalls.unmount(folder)
    _prepared_roots.add(root)


def enter_root(mounts: PrivateMounts) -> int:
    """Add the mounts of one bot, enter its root folder, and detach the host.

    Return a descriptor of this process's folder in the host's /proc, which is
    writable. Call this in a process that was cloned with ``CLONE_FLAGS``:

    1. Mount each scratch folder as a tmpfs with its limit, and a new /proc, read-only:
       by writing there, a bot could change how it is scheduled and killed.
       Of /proc, mount only what is about the bot's own processes.
    2. Mount the folder of the program as /box, read-only.
    3. Make the sandbox's root the root of the process; detach the host's root.
    4. Set the host name, enter a new cgroup namespace, empty the bounding set.
    """
    root = mounts.root
    for target, size in mounts.scratch.items():
        inodes = max(_MIN_INODES, size // _BYTES_PER_INODE)
        options = f"mode=1777,size={size},nr_inodes={inodes}"
        mount("tmpfs", root + target, "tmpfs", _NOSUID | _NODEV, options)
    proc_self = os.open("/proc/self", os.O_RDONLY | os.O_CLOEXEC)
    flags = _RDONLY | _NOSUID | _NODEV | _NOEXEC
    mount("proc", f"{root}/proc", "proc", flags, "subset=pid")
    mount(mounts.program, f"{root}/box", None, _BIND)
    mount(None, f"{root}/box", None, _BIND | _REMOUNT | _RDONLY | _NOSUID | _NODEV)
    syscalls.pivot_root(root)
    socket.sethostname("box")
    syscalls.unshare(_CLONE_NEWCGROUP)
    syscalls.drop_bounding_set()
    return proc_self


def become_nobody(uid: int, proc_self: int) -> None:
    """Map this process's user id to ``nobody`` and give up all capabilities.

    Call this when the process runs under ``uid``, which is not root's. ``proc_self``
    is the descriptor that ``enter_root`` returned; this function closes it. If the host
    forbids user namespaces, the process sees the number of its user id; this is the
    only difference.
    """
    with contextlib.suppress(OSError):
        syscalls.unshare(_CLONE_NEWUSER)
        # Without this, /proc/self belongs to root and the maps cannot be written.
        syscalls.prctl(syscalls.PR_SET_DUMPABLE, 1)
        syscalls.write_file("setgroups", b"deny", proc_self)
        for kind in ("uid", "gid"):
            line = f"{_NOBODY} {uid} 1".encode()
            syscalls.write_file(f"{kind}_map", line, proc_self)
        # The new user namespace gave this process a full bounding set.
        syscalls.drop_bounding_set()
    os.close(proc_self)
    syscalls.drop_capabilities()


def _set_mount_flags(path: str, flags: int) -> None:
    """Set flags of a mount and of all mounts below it (Linux 5.12)."""
    # Attributes to set, attributes to clear, propagation, user namespace. The values
    # of these MOUNT_ATTR_* flags are those of the MS_* flags.
    attributes: Any = struct.pack("4Q", flags, 0, 0, 0)
    syscalls.syscall(
        _MOUNT_SETATTR,
        _AT_FDCWD,
        path.encode(),
        _AT_RECURSIVE,
        attributes,
        len(attributes),
    )
