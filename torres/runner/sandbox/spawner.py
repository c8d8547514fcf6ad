"""Start programs through a zygote: a quick fork, directly into the control groups.

See ``zygote.serve`` for what the zygote does and why. A process is forked first and
receives its order later, so that it can be forked before it is needed. One thread of
the worker owns the zygote and the processes that it forks: the kernel kills them when
that thread ends, at the latest with the worker.
"""

import contextlib
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

from engine.referee import ServiceFault
from torres.runner.zygote.messages import (
    MAX_MESSAGE_BYTES,
    QUIT,
    ForkRequest,
    SharedRoot,
    SpawnOrder,
)

_ANSWER_TIMEOUT_S = 20.0
_NO_RESPONSE = "The zygote process does not respond. Restart the worker."
_SERVE = (
    f"import sys; sys.path.insert(0, {str(Path(__file__).resolve().parents[3])!r});"
    " from torres.runner.zygote.serve import main; main()"
)


class SpawnedProcess:
    """A process in its control groups and namespaces that waits for its order.

    It is a child of this process, and remains one after it has executed a program.
    """

    def __init__(self, order_socket: socket.socket) -> None:
        self._order_socket = order_socket
        self._pid = 0
        self._exit_code: int | None = None

    @property
    def pid(self) -> int:
        """The process id. Waits for the fork; raises ServiceFault if it failed."""
        self._receive_pid()
        if self._pid < 0:
            reason = os.strerror(-self._pid)
            raise ServiceFault(f"The zygote could not fork a process: {reason}.")
        return self._pid

    def __del__(self) -> None:
        self._order_socket.close()

    def start(self, order: SpawnOrder, fds: Sequence[int]) -> None:
        """Send the order. Raises ServiceFault if the process is gone.

        ``fds`` become the program's descriptors 0, 1, 2 and so on. If the program
        cannot be executed, the process writes why to its stderr and exits with 127.
        """
        data = order.encode()
        if len(data) > MAX_MESSAGE_BYTES:
            raise ServiceFault(
                f"The command line and the environment of {order.argv[0]} need"
                f" {len(data)} bytes; the limit is {MAX_MESSAGE_BYTES}."
            )
        try:
            socket.send_fds(self._order_socket, [data], fds)
        except OSError as why:
            raise ServiceFault(
                f"The process for {order.argv[0]} ended before its start: {why}."
            ) from why
        finally:
            self._receive_pid()
            self._order_socket.close()

    def _receive_pid(self) -> None:
        """Read the zygote's answer once: the process id, or a negative errno."""
        if not self._pid:
            try:
                (self._pid,) = struct.unpack("i", self._order_socket.recv(4))
            except (OSError, struct.error):
                raise ServiceFault(_NO_RESPONSE) from None

    def poll(self) -> int | None:
        """Return the exit code as ``subprocess`` does, or None while it runs."""
        return self._wait(os.WNOHANG)

    def wait(self) -> int:
        """Wait until the process ends, and return its exit code."""
        code = self._wait(0)
        assert code is not None
        return code

    def discard(self) -> None:
        """Kill the process: it has no order, or its order is obsolete."""
        with contextlib.suppress(ServiceFault):  # The fork failed; nothing to kill.
            if self.poll() is None:
                os.kill(self.pid, signal.SIGKILL)
                self.wait()
        self._order_socket.close()

    def _wait(self, options: int) -> int | None:
        if self._exit_code is None:
            pid, status = os.waitpid(self.pid, options)
            if pid:
                self._exit_code = os.waitstatus_to_exitcode(status)
        return self._exit_code


class ZygoteClient:
    """Ask the zygote for processes; any number of threads may share one client."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._zygote: socket.socket | None = None
        self._owner_pid = 0

    def fork(
        self, root: SharedRoot | None, cgroup_fds: Sequence[int], *, into_cgroup: bool
    ) -> SpawnedProcess:
        """Request a process, and do not wait for the fork. Raises ServiceFault.

        ``ForkRequest`` describes the arguments.
        """
        request = ForkRequest(root, into_cgroup).encode()
        ours, theirs = _socket_pair()
        with contextlib.ExitStack() as on_error:
            on_error.callback(ours.close)
            with theirs, self._lock:
                self._send(request, (theirs.fileno(), *cgroup_fds))
            on_error.pop_all()
        return SpawnedProcess(ours)

    def close(self) -> None:
        """Let the zygote exit."""
        with self._lock:
            self._disconnect()

    def __del__(self) -> None:
        self._disconnect()

    def _send(self, request: bytes, fds: Sequence[int]) -> None:
        for _ in range(2):  # If the zygote was killed, start another one and retry.
            if self._zygote is None or self._owner_pid != os.getpid():
                self._zygote = _start_zygote()
                self._owner_pid = os.getpid()
            try:
                socket.send_fds(self._zygote, [request], fds)
            except OSError:
                self._disconnect()
            else:
                return
        raise ServiceFault(_NO_RESPONSE)

    def _disconnect(self) -> None:
        if self._zygote is not None:
            with contextlib.suppress(OSError):
                self._zygote.send(QUIT)
            self._zygote.close()
            self._zygote = None


def _socket_pair() -> tuple[socket.socket, socket.socket]:
    """Return our end, with a timeout, and the end of another process, which blocks.

    A library may set a default timeout for all new sockets of this process, as Celery
    does when it shuts down. Without ``setblocking``, the other process would then find
    its end non-blocking and fail with EAGAIN.
    """
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ours.settimeout(_ANSWER_TIMEOUT_S)
    theirs.setblocking(True)
    return ours, theirs


def _start_zygote() -> socket.socket:
    """Start a zygote in a new thread; return the socket for the requests."""
    ours, theirs = _socket_pair()
    started = threading.Event()
    python = (sys.executable, "-I", "-S", "-B", "-c", _SERVE)
    argv = [*python, str(theirs.fileno())]

    def run() -> None:
        try:
            with theirs:
                process = subprocess.Popen(
                    argv,
                    env={},
                    cwd="/",
                    stdin=subprocess.DEVNULL,
                    pass_fds=(theirs.fileno(),),
                    start_new_session=True,
                )
        finally:
            started.set()
        process.wait()

    threading.Thread(target=run, name="zygote", daemon=True).start()
    started.wait()
    return ours
