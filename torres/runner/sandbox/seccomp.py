"""The seccomp filter: a list of the system calls that a bot may make.

It is an allow-list, so a call that a later kernel adds is refused until somebody has
examined it. A refused call fails with ENOSYS, "function not implemented": C libraries
and runtimes then fall back to an older call and need not crash. ``clone3`` must fail
with ENOSYS; otherwise no thread starts. libseccomp knows the numbers of each
architecture. A call of a foreign architecture kills the process.
"""

import contextlib
import importlib
import os
from collections.abc import Iterator
from functools import cache
from typing import Any

_FILES = """
open openat openat2 creat close close_range dup dup2 dup3 pipe pipe2
read write readv writev pread64 pwrite64 preadv pwritev lseek
fsync fdatasync sync_file_range truncate ftruncate fallocate
sendfile copy_file_range stat fstat lstat newfstatat statx
access faccessat faccessat2 readlink readlinkat getcwd chdir fchdir mkdir mkdirat
rmdir rename renameat renameat2 link linkat unlink unlinkat symlink symlinkat
chmod fchmod fchmodat chown fchown lchown fchownat umask getdents getdents64
utime utimes utimensat futimesat statfs fstatfs getxattr lgetxattr fgetxattr
listxattr llistxattr flistxattr
"""
_EVENTS = """
select pselect6 poll ppoll epoll_create epoll_create1 epoll_ctl epoll_wait
epoll_pwait epoll_pwait2 eventfd eventfd2 signalfd signalfd4 timerfd_create
timerfd_settime timerfd_gettime
"""
_MEMORY = """
mprotect munmap mremap brk madvise mlock mlock2 munlock mlockall munlockall
mincore msync membarrier pkey_mprotect pkey_alloc pkey_free
get_mempolicy
"""
_PROCESSES = """
fork vfork execve execveat exit exit_group wait4 waitid kill tkill tgkill
rt_sigaction rt_sigprocmask rt_sigreturn rt_sigpending rt_sigtimedwait
rt_sigqueueinfo rt_tgsigqueueinfo rt_sigsuspend sigaltstack pause alarm getitimer
setitimer timer_create timer_settime timer_gettime timer_getoverrun timer_delete
nanosleep clock_nanosleep clock_gettime clock_getres gettimeofday time times
getpid getppid gettid getpgid getpgrp setpgid getsid setsid set_tid_address
set_robust_list get_robust_list futex futex_waitv sched_yield sched_getaffinity
sched_getparam sched_getscheduler sched_getattr sched_get_priority_max
sched_get_priority_min sched_rr_get_interval getpriority arch_prctl rseq
restart_syscall getcpu uname getrlimit getrusage getuid geteuid
getgid getegid getresuid getresgid getgroups capget getrandom pidfd_open
pidfd_send_signal riscv_flush_icache
"""
_SOCKETS = """
connect bind listen accept accept4 getsockname getpeername shutdown
"""
_NAMESPACE_ONLY = """
chmod fchmod fchmodat chown lchown fchown fchownat utime utimes utimensat futimesat
connect bind pidfd_open pidfd_send_signal
"""
"""Refused under Landlock, which does not check these calls: they are harmless only if
the bot has namespaces for files, network and processes."""
_ALLOWED = (_FILES + _EVENTS + _MEMORY + _PROCESSES + _SOCKETS).split()

_LOW_WORD = 0xFFFF_FFFF
"""The kernel reads an int argument from the low half of a register. The comparison
must ignore the upper half, because the caller may put anything there."""
_WHOLE_WORD = 0xFFFF_FFFF_FFFF_FFFF
_CLONE_NEW_FLAGS = 0x7E02_0080
"""The CLONE_NEW* flags of clone(2), CLONE_NEWTIME (0x80) among them."""
_AF_UNIX = 1
_MAP_HUGETLB = 0x4_0000
_MFD_HUGETLB = 4
_FCNTL_COMMANDS = {
    "F_DUPFD": 0,
    "F_GETFD": 1,
    "F_SETFD": 2,
    "F_GETFL": 3,
    "F_GETLK": 5,
    "F_GETOWN": 9,
    "F_GETSIG": 11,
    "F_OFD_GETLK": 36,
    "F_DUPFD_CLOEXEC": 1030,
    "F_GETPIPE_SZ": 1032,
    "F_ADD_SEALS": 1033,
    "F_GET_SEALS": 1034,
}
"""The commands that runtimes use. Those that send signals to another process or change
the size of the referee's pipes are not among them."""
_F_SETFL = 4
_O_ASYNC = 0x2000
"""Flag of ``F_SETFL``: the kernel sends signals when the file is ready."""
_FCNTL_NO_EFFECT = {
    "F_SETLK": 6,
    "F_SETLKW": 7,
    "F_OFD_SETLK": 37,
    "F_OFD_SETLKW": 38,
    "F_SETLEASE": 1024,
    "F_NOTIFY": 1026,
}
"""Commands that succeed and do nothing. No control group counts the kernel's memory
for record locks, and all sandboxes share the files of /usr."""
_NO_EFFECT = ("fadvise64", "readahead")
"""Calls that succeed and do nothing: they change the page cache of the whole host."""
_IOCTL_REQUESTS = {
    "TCGETS": 0x5401,
    "TIOCGWINSZ": 0x5413,
    "FIONREAD": 0x541B,
    "FIONBIO": 0x5421,
    "FIONCLEX": 0x5450,
    "FIOCLEX": 0x5451,
}
_PRCTL_OPTIONS = {
    "PR_GET_PDEATHSIG": 2,
    "PR_GET_DUMPABLE": 3,
    "PR_SET_DUMPABLE": 4,
    "PR_SET_NAME": 15,
    "PR_GET_NAME": 16,
    "PR_GET_SECCOMP": 21,
    "PR_CAPBSET_READ": 23,
    "PR_SET_TIMERSLACK": 29,
    "PR_GET_TIMERSLACK": 30,
    "PR_SET_NO_NEW_PRIVS": 38,
    "PR_GET_NO_NEW_PRIVS": 39,
    "PR_GET_TID_ADDRESS": 40,
    "PR_SET_THP_DISABLE": 41,
    "PR_GET_THP_DISABLE": 42,
    "PR_GET_SPECULATION_CTRL": 52,
    "PR_GET_AUXV": 0x4155_5856,
    "PR_SET_VMA": 0x5356_4D41,
}
"""The options that runtimes use. PR_SET_PDEATHSIG is not among them: a bot must not
prevent that it dies with its worker."""
_SOL_SOCKET = 1
_SOCKET_OPTIONS = {
    "SO_REUSEADDR": 2,
    "SO_TYPE": 3,
    "SO_ERROR": 4,
    "SO_SNDBUF": 7,
    "SO_RCVBUF": 8,
    "SO_KEEPALIVE": 9,
    "SO_LINGER": 13,
    "SO_PASSCRED": 16,
    "SO_PEERCRED": 17,
    "SO_RCVTIMEO": 20,
    "SO_SNDTIMEO": 21,
    "SO_ACCEPTCONN": 30,
    "SO_PROTOCOL": 38,
    "SO_DOMAIN": 39,
}
"""The options that runtimes use. Among the others are programs for the kernel
(SO_ATTACH_FILTER) and a number that the whole kernel counts (SO_COOKIE)."""
_MSG_OOB = 1
"""Flag of urgent data, which Unix sockets rarely need and had holes in."""
_RLIMIT_CORE = 4
_RLIMITS = [number for number in range(16) if number != _RLIMIT_CORE]
"""The limits that a process may set for itself. With a core limit of 0 in place of 1,
its crash would start the core handler of the host."""
_CONDITIONS = (
    ("socket", 0, (_AF_UNIX,)),
    ("socketpair", 0, (_AF_UNIX,)),
    ("ioctl", 1, _IOCTL_REQUESTS.values()),
    ("prctl", 0, _PRCTL_OPTIONS.values()),
    ("personality", 0, (0, _LOW_WORD)),  # the default one, and the query
    ("setrlimit", 0, _RLIMITS),
    ("fcntl", 1, _FCNTL_COMMANDS.values()),
    # With flags, they tell what is in the page cache of the host, or evict it.
    ("preadv2", 5, (0,)),
    ("pwritev2", 5, (0,)),
)
"""Calls that are allowed if an argument has one of some values: the name, the index of
the argument from 0, the values."""
_WITHOUT_FLAGS = (
    ("clone", 0, _CLONE_NEW_FLAGS),
    # No control group counts the huge pages that a host has reserved.
    ("mmap", 3, _MAP_HUGETLB),
    ("memfd_create", 1, _MFD_HUGETLB),
    ("sendto", 3, _MSG_OOB),
    ("recvfrom", 3, _MSG_OOB),
    ("sendmsg", 2, _MSG_OOB),
    ("recvmsg", 2, _MSG_OOB),
    ("sendmmsg", 3, _MSG_OOB),
    ("recvmmsg", 3, _MSG_OOB),
)
"""Calls that are allowed if some flags are not set: the name, the index of the
argument, the flags."""
_ENOSYS = 38
_CTL_OPTIMIZE = 8
_BINARY_TREE = 2
"""Value of ``_CTL_OPTIMIZE``. The kernel runs a new filter with every call number when
it is loaded, and a tree makes that faster."""


_Conditions = tuple[tuple[int, int, int], ...]
"""For each argument that matters: its index, a mask, and the value under the mask."""


class NoFilter(Exception):
    """The filter cannot be built on this machine; the message says what is missing."""


@cache
def _filter(*, memfd: bool, sockets: bool, building: bool) -> int:
    """Compile the filter once for this process, and return its descriptor."""
    try:
        seccomp = importlib.import_module("pyseccomp")
    except (ImportError, RuntimeError, OSError) as why:
        raise NoFilter(f"libseccomp could not be loaded: {why}") from why
    rules = seccomp.SyscallFilter(seccomp.ERRNO(_ENOSYS))
    rules.set_attr(seccomp.Attr.ACT_BADARCH, seccomp.KILL_PROCESS)
    # libseccomp before 2.5 does not know the attribute.
    with contextlib.suppress(OSError, ValueError):
        rules.set_attr(_CTL_OPTIMIZE, _BINARY_TREE)
    no_effect = seccomp.ERRNO(0)
    for name, conditions in _allowed(memfd=memfd, sockets=sockets):
        _add(seccomp, rules, seccomp.ALLOW, name, conditions)
    for name, conditions in _without_effect():
        _add(seccomp, rules, no_effect, name, conditions)
    _add(seccomp, rules, seccomp.ALLOW if building else no_effect, "flock", ())
    fd = os.memfd_create("torres-seccomp", os.MFD_CLOEXEC)
    with os.fdopen(os.dup(fd), "wb") as file:
        rules.export_bpf(file)
    return fd


def _allowed(*, memfd: bool, sockets: bool) -> Iterator[tuple[str, _Conditions]]:
    """Yield each call that is allowed, and its conditions."""
    refused = set() if sockets else {"socket", *_NAMESPACE_ONLY.split()}
    if not memfd:
        refused.add("memfd_create")
    for name, conditions in _every_allowed():
        if name not in refused:
            yield name, conditions


def _every_allowed() -> Iterator[tuple[str, _Conditions]]:
    for name in _ALLOWED:
        yield name, ()
    for name, argument, flags in _WITHOUT_FLAGS:
        yield name, ((argument, flags, 0),)
    for name, argument, values in _CONDITIONS:
        for value in values:
            yield name, ((argument, _LOW_WORD, value),)
    for option in _SOCKET_OPTIONS.values():
        words = ((1, _LOW_WORD, _SOL_SOCKET), (2, _LOW_WORD, option))
        yield "setsockopt", words
        yield "getsockopt", words
    # PID 0: only the process itself. Without new limits, the call is a query.
    yield "prlimit64", ((0, _LOW_WORD, 0), (2, _WHOLE_WORD, 0))
    for limit in _RLIMITS:
        yield "prlimit64", ((0, _LOW_WORD, 0), (1, _LOW_WORD, limit))
    yield "fcntl", ((1, _LOW_WORD, _F_SETFL), (2, _O_ASYNC, 0))


def _without_effect() -> Iterator[tuple[str, _Conditions]]:
    """Yield each call that succeeds and does nothing, and its conditions."""
    for command in _FCNTL_NO_EFFECT.values():
        yield "fcntl", ((1, _LOW_WORD, command),)
    for name in _NO_EFFECT:
        yield name, ()


def oci_filter() -> dict[str, object]:
    """Return the same list as the OCI runtime specification writes it, for gVisor.

    The calls without effect are allowed, because their effect ends at gVisor's kernel,
    which belongs to one bot. So is ``clone3``: that kernel answers ENOSYS, where gVisor
    refuses a call of the filter with EPERM, and then no thread would start.
    """
    calls = [
        *_allowed(memfd=True, sockets=True),
        *_without_effect(),
        ("flock", ()),
        ("clone3", ()),
    ]
    return {
        "defaultAction": "SCMP_ACT_ERRNO",
        "syscalls": [_oci_rule(name, conditions) for name, conditions in calls],
    }


def _oci_rule(name: str, conditions: _Conditions) -> dict[str, object]:
    words = [
        {"index": i, "value": mask, "valueTwo": value, "op": "SCMP_CMP_MASKED_EQ"}
        for i, mask, value in conditions
    ]
    return {"names": [name], "action": "SCMP_ACT_ALLOW", "args": words}


def _add(
    seccomp: Any,  # noqa: ANN401
    rules: Any,  # noqa: ANN401
    action: Any,  # noqa: ANN401
    name: str,
    conditions: _Conditions,
) -> None:
    try:
        seccomp.resolve_syscall(seccomp.Arch.NATIVE, name)
    except (OSError, ValueError):
        return  # An older libseccomp, or an architecture without this call.
    words = (
        seccomp.Arg(i, seccomp.MASKED_EQ, mask, value) for i, mask, value in conditions
    )
    rules.add_rule(action, name, *words)


def open_filter(
    *, memfd: bool = True, sockets: bool = True, building: bool = False
) -> int:
    """Return a new descriptor at the start of the filter. Raises NoFilter.

    ``memfd=False`` refuses ``memfd_create``: its memory belongs to no process, so only
    a control group can count it. ``sockets=False`` is for a bot without namespaces: it
    refuses ``socket`` and the calls of ``_NAMESPACE_ONLY``. ``building=True`` is for a
    compiler: its processes may lock files with ``flock``. A bot that plays would talk
    to its opponents with such locks, so for a bot the call has no effect.
    """
    fd = _filter(memfd=memfd, sockets=sockets, building=building)
    return os.open(f"/proc/self/fd/{fd}", os.O_RDONLY | os.O_CLOEXEC)
