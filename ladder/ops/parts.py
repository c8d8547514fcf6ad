"""The parts of a service in one process: a web server, a worker, a dispatcher.

Each runs in a thread that the main one starts and stops; only the main thread hears
signals.
"""

import threading
from contextlib import suppress
from typing import Any

import structlog
import waitress
from celery import Celery
from celery.worker import WorkController
from django.conf import settings
from django.core.wsgi import get_wsgi_application

from ladder.dispatch import Dispatcher

CONNECTIONS = 1000

log = structlog.get_logger()


class Web(threading.Thread):
    """Serves pages and REST; `port` is the one it got, when 0 was asked for.

    Raises OSError where the port is taken or not allowed.
    """

    def __init__(self, host: str, port: int, threads: int = 8) -> None:
        super().__init__(name="web", daemon=True)
        self._server: Any = waitress.create_server(
            get_wsgi_application(),
            host=host,
            port=port,
            threads=threads,
            # A reader keeps its connection for minutes: by default the 101st waits.
            connection_limit=CONNECTIONS,
            asyncore_use_poll=True,
        )
        self.host, self.port = host, int(self._server.effective_port)

    @property
    def address(self) -> str:
        return f"http://{self.host}:{self.port}"

    def run(self) -> None:
        # Closing it from another thread makes its select fail: that is how it ends.
        with suppress(OSError):
            self._server.run()

    def close(self) -> None:
        self._server.close()


class Worker(threading.Thread):
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


class Scheduler(threading.Thread):
    """Runs the dispatcher."""

    def __init__(self) -> None:
        super().__init__(name="dispatcher", daemon=True)
        self._stop_it = threading.Event()

    def run(self) -> None:
        Dispatcher().run(self._stop_it)

    def close(self) -> None:
        self._stop_it.set()
        self.join(10)
