"""The parts of the embedded service: a web server, a worker, a dispatcher.

The main thread starts and stops them, and hears all signals. The web server is a
process, the others are threads.
"""

import socket
import subprocess
import sys
import threading
from typing import Any

import structlog
from celery import Celery
from celery.worker import WorkController
from django.conf import settings

from ladder.dispatch.dispatcher import Dispatcher

AT_THE_DOOR = 1024
"""So many may wait while the web server starts."""

log = structlog.get_logger()


class EmbeddedWeb:
    """Serves pages and REST from a process of its own, which ends with this one.

    Readers and players then do not wait for the same interpreter's lock. `port` is the
    one it got, when 0 was asked for. Raises OSError where the port is taken or not
    allowed.
    """

    def __init__(self, host: str, port: int) -> None:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        self._door = socket.create_server(
            address[:2], family=family, backlog=AT_THE_DOOR
        )
        self.host, self.port = host, int(self._door.getsockname()[1])
        self._child: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        return f"http://{self.host}:{self.port}"

    def start(self) -> None:
        """Start it, or start it again if it has ended; else do nothing.

        Whoever comes before it listens waits at the door, which stays open here.
        """
        if self._child is not None:
            if self._child.poll() is None:
                return
            log.error("the web server ended: it is started again")
        door = self._door.fileno()
        self._child = subprocess.Popen(
            [sys.executable, settings.BASE_DIR / "manage.py", "serve", str(door)],
            stdin=subprocess.PIPE,
            pass_fds=[door],
            process_group=0,  # Ctrl-C is for this process alone
        )

    def close(self) -> None:
        if self._child is not None:
            self._child.terminate()
            self._child.communicate()
        self._door.close()


class EmbeddedWorker(threading.Thread):
    """A Celery worker that installs no signal handlers; `slots` games at once."""

    def __init__(self, app: Celery, slots: int) -> None:
        super().__init__(name="worker", daemon=True)
        self._worker: Any = WorkController(
            app=app,
            pool_cls="threads",
            concurrency=slots,
            without_gossip=True,
            without_mingle=True,
            without_heartbeat=True,
        )

    def run(self) -> None:
        self._worker.start()

    def close(self) -> None:
        """Let games end for a moment, hand back the rest."""
        self._worker.stop()
        self.join(settings.CELERY_WORKER_SOFT_SHUTDOWN_TIMEOUT)


class EmbeddedDispatcher(threading.Thread):
    """Runs the dispatcher."""

    def __init__(self) -> None:
        super().__init__(name="dispatcher", daemon=True)
        self._stop_it = threading.Event()

    def run(self) -> None:
        Dispatcher().run(self._stop_it)

    def close(self) -> None:
        self._stop_it.set()
        self.join(10)
