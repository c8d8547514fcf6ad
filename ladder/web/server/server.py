"""The web server: uvicorn with limits for connections, requests and clients."""

import asyncio
import resource
import socket
import sys

import uvicorn
from django.conf import settings

from ladder.common.watchdog import Watchdog
from ladder.web.server.application import Application
from ladder.web.server.connections import (
    HEAD_TIMEOUT_S,
    MAX_CONNECTIONS,
    Connections,
    LimitedLoop,
    set_options,
)
from ladder.web.server.streams.service import Streams

BACKLOG = 1024  # connections that wait until the server accepts them
# A connection may have the temporary files of its body: that of the server and, while a
# thread serves it, that of Django. The rest is for the database, logs and processes.
MAX_OPEN_FILES = 2 * MAX_CONNECTIONS + 500
# A request that takes longer is cut off when the server stops.
STOP_TIMEOUT_S = 1
# Each write to a connection releases the interpreter lock, and a thread that renders a
# page gives it back after this time. With Python's default of 5 ms pages took 145 ms
# beside 2,000 streams, and with this one 25 ms.
SWITCH_INTERVAL_S = 0.0005


class WebServer(uvicorn.Server):
    """Serves pages, the REST API and streams until SIGTERM or Ctrl-C."""

    def __init__(self) -> None:
        self._connections = Connections(MAX_CONNECTIONS)
        self._streams = Streams()
        self._watchdog = Watchdog()
        config = uvicorn.Config(
            Application(self._connections, self._streams),
            http="httptools",
            ws="none",
            lifespan="on",
            interface="asgi3",
            backlog=BACKLOG,
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,  # Django reads them, and only as many as it trusts
            timeout_keep_alive=int(HEAD_TIMEOUT_S),
            timeout_graceful_shutdown=STOP_TIMEOUT_S,
            callback_notify=self._go_on,
            timeout_notify=1,
        )
        super().__init__(config)

    def run_on(self, listener: socket.socket) -> None:
        """Serve the clients of a listening socket."""
        _permit_open_files()
        sys.setswitchinterval(SWITCH_INTERVAL_S)
        set_options(listener)
        runner = asyncio.Runner(loop_factory=lambda: LimitedLoop(self._connections))
        with self._watchdog, runner:
            runner.run(self.serve([listener]))

    async def _go_on(self) -> None:
        self._watchdog.pet()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End the streams, whose clients would stay, and then everything else."""
        self._streams.close()
        await super().shutdown(sockets)


def _permit_open_files() -> None:
    """Raise the soft limit of open files as far as it is needed and permitted.

    It is 1024 on most systems. Then the server could open no more files for the bodies
    of uploads long before it has MAX_CONNECTIONS.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    infinite = resource.RLIM_INFINITY
    needed = MAX_OPEN_FILES + settings.TORRES_MAX_STREAMS
    wanted = needed if hard == infinite else min(needed, hard)
    if soft != infinite and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
