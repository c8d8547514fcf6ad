"""The parts of the embedded service: web server, worker, dispatcher and others.

`manage.py up` starts and stops them from its main thread, which also receives all
signals. The web server is a process; the others are threads. `stop` of a part returns
at once, and `close` waits for its end. So all parts end at the same time.
"""

import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import structlog
from celery import Celery
from celery.worker import WorkController
from django.conf import settings
from django.db import connection

from ladder.common.watchdog import Watchdog
from ladder.dispatch.dispatcher import Dispatcher
from ladder.extras.editor import work as editor
from ladder.extras.practice.host import PracticeHost
from ladder.games.worker import registry
from ladder.games.worker.play import RUNNING_GAMES
from ladder.health.monitor import Monitor

LISTEN_BACKLOG = 1024  # connections that wait while the web server starts
PART_STOP_TIMEOUT_S = 10
REGISTRATION_TIMEOUT_S = 10
REGISTRATION_POLL_S = 0.02
GAMES_STOP_TIMEOUT_S = min(1.0, settings.TORRES_GRACE_SECONDS)

log = structlog.get_logger()


class EmbeddedWeb:
    """Serves pages and the REST API from a child process.

    A process of its own has its own interpreter lock, so readers do not slow down the
    games. This process opens the socket and keeps it open; the child inherits it.
    """

    def __init__(self, host: str, port: int) -> None:
        """Open the socket. `port` 0 lets the kernel choose a free one.

        Raises OSError if the port is in use or not permitted.
        """
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        self._socket = socket.create_server(
            address[:2], family=family, backlog=LISTEN_BACKLOG
        )
        self.host = host
        self.port = int(self._socket.getsockname()[1])
        self._child: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        return f"http://{self.host}:{self.port}"

    def start(self) -> None:
        """Start the child process, or start it again if it has ended.

        Clients that connect before it accepts connections wait in the backlog.
        """
        if self._child is not None:
            if self._child.poll() is None:
                return
            log.error("the web server ended and is restarted")
        descriptor = self._socket.fileno()
        self._child = subprocess.Popen(
            [
                sys.executable,
                settings.BASE_DIR / "manage.py",
                "serve",
                f"--inherited={descriptor}",
            ],
            stdin=subprocess.PIPE,
            pass_fds=[descriptor],
            process_group=0,  # so that Ctrl-C reaches only this process
        )

    def stop(self) -> None:
        if self._child is not None:
            self._child.terminate()

    def close(self) -> None:
        self.stop()
        if self._child is not None:
            self._child.communicate()
        self._socket.close()


class EmbeddedWorker(threading.Thread):
    """A Celery worker without signal handlers that plays `slots` games at once."""

    def __init__(self, app: Celery, slots: int) -> None:
        super().__init__(name="worker", daemon=True)
        self._releasing = threading.Thread(target=self._release, name="release")
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

    def wait_until_registered(self) -> None:
        """Wait until the worker has described itself in the database, or for 10 s."""
        deadline = time.monotonic() + REGISTRATION_TIMEOUT_S
        while not registry.is_registered() and time.monotonic() < deadline:
            self.join(REGISTRATION_POLL_S)

    def stop(self) -> None:
        """Begin to release the running games after a short pause. Idempotent.

        A person may be waiting. Released games are played again at the next start.
        """
        if not self._releasing.ident:
            self._releasing.start()

    def close(self) -> None:
        """Wait until the running games are released, and end the worker.

        The thread of the worker does nothing any more, but it may wait for a message
        for two seconds. It ends with the process.
        """
        self.stop()
        self._releasing.join()
        self._worker.stop()

    def _release(self) -> None:
        RUNNING_GAMES.stop_all("the service stops", grace_s=GAMES_STOP_TIMEOUT_S)
        connection.close()


class EmbeddedPart:
    """Runs one part of the service in a thread until it is closed.

    `run` begins with a new state. It returns soon after its event is set.
    """

    def __init__(self, name: str, run: Callable[[threading.Event], None]) -> None:
        self._name = name
        self._ended = f"the {name} ended"
        self._restarted = f"{self._ended} and is restarted"
        self._run_part = run
        self._stop_event = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Start the thread, or start another one if it has ended."""
        if self._thread is not None:
            if self._thread.is_alive():
                return
            log.error(self._restarted)
        self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._run_part(self._stop_event)
        except BaseException as error:
            log.exception(self._ended, error=str(error))

    def stop(self) -> None:
        self._stop_event.set()

    def close(self) -> None:
        self.stop()
        if self._thread is not None:
            self._thread.join(PART_STOP_TIMEOUT_S)


def threads(web: EmbeddedWeb) -> list[EmbeddedPart]:
    """Return the parts that are threads, in the order of their start.

    The dispatcher comes first. Games by hand may be switched off.
    """
    parts = [EmbeddedPart("dispatcher", dispatch)]
    if slots := settings.TORRES_PRACTICE_SLOTS:
        parts.append(EmbeddedPart("host of practice games", partial(practise, slots)))
    return [*parts, EmbeddedPart("monitor", partial(watch, web.address))]


def dispatch(stop: threading.Event) -> None:
    """Run a new dispatcher until `stop` is set."""
    with Watchdog() as watchdog:
        Dispatcher(watchdog.pet).run(stop)


def practise(slots: int, stop: threading.Event) -> None:
    """Host games by hand until `stop` is set."""
    with Watchdog() as watchdog:
        PracticeHost(
            slots,
            goes_on=watchdog.pet,
            begin_trial=editor.source(),
            waits=editor.waits,
        ).run(stop)


def watch(web: str, stop: threading.Event) -> None:
    """Run a new monitor of a web server until `stop` is set."""
    with Watchdog() as watchdog:
        Monitor([web], watchdog.pet).run(stop)
