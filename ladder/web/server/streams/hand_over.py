"""Pass a connection from the web server on to the stream process.

A thread of waitress is too expensive for a connection that stays open for hours. So a
thread checks the request and computes the head of the response; waitress sends it, and
then this module passes the socket itself on to a process that serves all streams.

1. A view calls the function HAND_OVER of the WSGI environment with a StreamRequest.
2. `StreamTask` removes the length from the head, because the body has no end.
3. After the head was sent, waitress closes the connection. `StreamChannel` passes a
   copy of the socket on before, so that the connection stays open.
"""

import socket
import subprocess
import sys
import threading
from queue import SimpleQueue
from typing import Any

import structlog
from django.conf import settings
from waitress.channel import HTTPChannel
from waitress.task import WSGITask

from ladder.web.server.streams.request import HAND_OVER, StreamRequest, encode

# The pause before another process is started.
RESTART_INTERVAL_S = 2.0
# Connections that wait while the process starts. Beyond that they are closed.
MAX_WAITING = 4096

log = structlog.get_logger()


class StreamServer:
    """The stream process, which starts with the first stream, and the way to it."""

    def __init__(self) -> None:
        self._waiting: SimpleQueue[tuple[socket.socket, bytes]] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._restart = threading.Event()  # never set; it is the pause of a restart
        self._child: subprocess.Popen[bytes] | None = None
        self._outbox: socket.socket | None = None

    def take(self, client: socket.socket, message: bytes) -> None:
        """Hand a copy of a connection over, without waiting."""
        if self._waiting.qsize() >= MAX_WAITING:
            log.error("a stream was refused", reason="the stream process is too slow")
            return
        if self._thread is None:
            self._thread = threading.Thread(
                target=self._hand_all_over, name="streams", daemon=True
            )
            self._thread.start()
        self._waiting.put((client.dup(), message))

    def _hand_all_over(self) -> None:
        while True:
            client, message = self._waiting.get()
            with client:
                try:
                    outbox = self._running_process()
                    socket.send_fds(outbox, [message], [client.fileno()])
                except OSError as error:  # the client tries again
                    log.warning("a stream was not handed over", error=str(error))

    def _running_process(self) -> socket.socket:
        """Return the socket to the process. Start the process if it does not run."""
        if self._outbox is not None and self._child is not None:
            if self._child.poll() is None:
                return self._outbox
            log.error("the stream process ended", status=self._child.returncode)
            self._outbox.close()
            self._restart.wait(RESTART_INTERVAL_S)
        self._outbox, inbox = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with inbox:
            self._child = subprocess.Popen(
                [
                    sys.executable,
                    settings.BASE_DIR / "manage.py",
                    "stream",
                    f"--inherited={inbox.fileno()}",
                ],
                stdin=subprocess.DEVNULL,
                pass_fds=[inbox.fileno()],
            )
        return self._outbox


class StreamTask(WSGITask):  # type: ignore[misc]
    """A request whose connection may be passed on."""

    message: bytes | None = None

    def get_environment(self) -> dict[str, Any]:
        environ: dict[str, Any] = super().get_environment()
        environ[HAND_OVER] = self._hand_over
        return environ

    def _hand_over(self, request: StreamRequest) -> None:
        self.message = encode(request)

    def build_response_header(self) -> bytes:
        if self.message is None:
            head: bytes = super().build_response_header()
            return head
        self.remove_content_length_header()
        self.content_length = None
        head = super().build_response_header()
        self.chunked_response = False
        return head.replace(b"Transfer-Encoding: chunked\r\n", b"")

    def finish(self) -> None:
        super().finish()
        if self.message is not None:
            self.channel.message = self.message
            self.close_on_finish = True


class StreamChannel(HTTPChannel):  # type: ignore[misc]
    """A connection that may be passed on after the head of a response was sent."""

    task_class = StreamTask
    message: bytes | None = None

    def handle_close(self) -> None:
        message, self.message = self.message, None
        if message is not None and self.connected and not self.total_outbufs_len:
            self.server.streams.take(self.socket, message)
        super().handle_close()
