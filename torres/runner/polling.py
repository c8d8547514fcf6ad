"""Wait for a bot's pipes, and measure the wait without our own delays.

A thread that waits for a bot may lose time by itself: it waits for the interpreter's
lock, which other threads hold, or its process is stopped (SIGSTOP, a frozen container).
A clock that is read before and after the wait would charge that time to the bot. So the
kernel measures the wait: ``ppoll`` writes the time that is left of its timeout. It does
so before the thread asks for the interpreter's lock, and before a stopped process
stops; the restarted call then gets only the time that was left.
"""

import ctypes
import errno
import os
import platform
import select
import struct
import sys
import time

_NS_PER_S = 1_000_000_000
# The C library's ppoll() hides the time that is left, so we make the system call.
_PPOLL = {"x86_64": 271, "aarch64": 73, "riscv64": 73}
_MAX_PIPES = 3
_MAX_GAP_NS = 50_000_000
"""A longer time between two waits means that our process was stopped."""
_POLLFD = struct.Struct("=ihh")
_TIMESPEC = struct.Struct("=qq")


class TimedPoll:
    """Like ``select.poll``, for up to three descriptors.

    ``slept_ns`` is the sum of the times that calls of ``poll`` waited in the kernel,
    and of the gaps that ``count_gap`` added.
    """

    def __init__(self) -> None:
        self.slept_ns = 0
        self._ended_ns: int | None = None
        """The time of the monotonic clock at which the last wait ended."""
        self._events: dict[int, int] = {}

    def register(self, fd: int, events: int) -> None:
        """Wait for these events of a descriptor, too."""
        self._events[fd] = events

    def unregister(self, fd: int) -> None:
        """Wait for this descriptor no more."""
        del self._events[fd]

    def poll(self, wait_ms: float) -> list[tuple[int, int]]:
        """Wait for events for at most ``wait_ms``; return (descriptor, events) pairs.

        The list is empty if the time is over, or if a signal interrupted the wait.
        """
        raise NotImplementedError

    def count_gap(self) -> None:
        """Add the time since the last wait to ``slept_ns``, if no event has come since.

        We looked at the bot meanwhile, and it has still not answered. At most 50 ms
        count: if our process was stopped for longer, so may the bot have been.
        """
        if self._ended_ns is None:
            return
        ended_ns = self._ended_ns
        if not self.poll(0):
            self.slept_ns += min(time.monotonic_ns() - ended_ns, _MAX_GAP_NS)


class _KernelTimedPoll(TimedPoll):
    """Lets the kernel measure the waits."""

    def __init__(self) -> None:
        super().__init__()
        self._number = _PPOLL[platform.machine()]
        self._pipes = bytearray(_MAX_PIPES * _POLLFD.size)
        self._left = bytearray(_TIMESPEC.size)
        self._pipes_address = _address(self._pipes)
        self._left_address = _address(self._left)

    def register(self, fd: int, events: int) -> None:
        super().register(fd, events)
        self._write_pipes()

    def unregister(self, fd: int) -> None:
        super().unregister(fd)
        self._write_pipes()

    def _write_pipes(self) -> None:
        self._pipes[:] = bytes(len(self._pipes))
        for number, (fd, events) in enumerate(self._events.items()):
            _POLLFD.pack_into(self._pipes, number * _POLLFD.size, fd, events, 0)

    def poll(self, wait_ms: float) -> list[tuple[int, int]]:
        timeout_ns = max(0, int(wait_ms * 1e6))
        _TIMESPEC.pack_into(self._left, 0, *divmod(timeout_ns, _NS_PER_S))
        count = _libc.syscall(
            self._number,
            self._pipes_address,
            len(self._events),
            self._left_address,
            None,
            0,
        )
        self._ended_ns = time.monotonic_ns()
        seconds, ns = _TIMESPEC.unpack_from(self._left)
        self.slept_ns += timeout_ns - seconds * _NS_PER_S - ns
        if count > 0:
            pipes = _POLLFD.iter_unpack(self._pipes)
            return [(fd, found) for fd, _, found in pipes if found]
        if count < 0 and (code := ctypes.get_errno()) != errno.EINTR:
            raise OSError(code, os.strerror(code))
        return []


class _ClockTimedPoll(TimedPoll):
    """Measures the waits with a clock, where the kernel's interface is not known."""

    def poll(self, wait_ms: float) -> list[tuple[int, int]]:
        poll = select.poll()
        for fd, events in self._events.items():
            poll.register(fd, events)
        started_ns = time.monotonic_ns()
        found = poll.poll(max(0.0, wait_ms))
        self._ended_ns = time.monotonic_ns()
        self.slept_ns += self._ended_ns - started_ns
        return found


def _address(buffer: bytearray) -> ctypes.Array[ctypes.c_char]:
    return (ctypes.c_char * len(buffer)).from_buffer(buffer)


def timed_poll() -> TimedPoll:
    """Return the most exact poll that this machine offers."""
    known = sys.platform == "linux" and platform.machine() in _PPOLL
    return _KernelTimedPoll() if known else _ClockTimedPoll()


if sys.platform == "linux":
    # CDLL, unlike PyDLL, releases the interpreter's lock during a call.
    _libc = ctypes.CDLL(None, use_errno=True)
    _libc.syscall.argtypes = [
        ctypes.c_long,
        ctypes.c_void_p,
        ctypes.c_ulong,
        ctypes.c_void_p,
        ctypes.c_void_p,
        ctypes.c_size_t,
    ]
    _libc.syscall.restype = ctypes.c_long
