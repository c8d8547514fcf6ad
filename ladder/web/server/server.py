"""The web server: waitress, which reads a whole request before it uses a thread.

Half-sent requests and slow readers therefore occupy a connection, but no thread.
"""

import logging
import resource
import socket
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import waitress
from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.db import connection
from django.http import parse_cookie
from waitress.parser import HTTPRequestParser
from waitress.utilities import Error

from ladder.web.api import problems
from ladder.web.middleware import bodies
from ladder.web.server.request_threads import RequestThreads
from ladder.web.server.streams.hand_over import StreamChannel, StreamServer, StreamTask

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication

# A browser keeps its connection open for minutes. With waitress's default of 100 the
# 101st reader would have to wait.
MAX_CONNECTIONS = 1000
# A connection may have the temporary files of its body: that of waitress and, while a
# thread serves it, that of Django. The rest is for the database, logs and processes.
MAX_OPEN_FILES = 2 * MAX_CONNECTIONS + 500
# A connection without any activity is closed after this many seconds.
IDLE_TIMEOUT_S = 30
MAX_HEADER_BYTES = 32 << 10
# With waitress's default of 8 KiB a large upload is read in hundreds of steps. Before
# each of them the event loop waits for the interpreter, which the threads use.
RECEIVE_BYTES = 256 << 10


class RefusedBody(Error):  # type: ignore[misc]
    """The response to a body that is not read."""

    def __init__(self, refusal: bodies.Refusal, path: str) -> None:
        super().__init__(refusal.detail)
        self.code = int(refusal.status)
        self.reason = refusal.status.phrase
        self._refusal = refusal
        self._path = path

    def to_response(
        self, ident: str | None = None
    ) -> tuple[str, list[tuple[str, str]], bytes]:
        content_type, body = problems.content(self._path, *self._refusal)
        return f"{self.code} {self.reason}", [("Content-Type", content_type)], body


class BoundedParser(HTTPRequestParser):  # type: ignore[misc]
    """Refuses a body by the headers of its request, before any of it is stored."""

    content_length: int

    def parse_header(self, header_plus: bytes) -> None:
        super().parse_header(header_plus)
        refusal = bodies.check_body(
            self.path,
            self.content_length,
            chunked=self.chunked,
            credentials=_credentials(self.headers),
        )
        connection.close()  # the check may have opened one
        if refusal:
            self.error = RefusedBody(refusal, self.path)
            # waitress ends a request at once if it expects no body. With "Expect:
            # 100-continue" it would otherwise ask the client for the body.
            self.body_rcv = None
            self.content_length = 0
            self.expect_continue = False
            self.connection_close = True


class KeptTask(StreamTask):
    """Keeps the connection after a response that has no body, such as 304.

    waitress closes it after each response without a length. So a program that asks
    whether something has changed needed a new connection for each answer.
    """

    def set_close_on_finish(self) -> None:
        wants_close = self.request.headers.get("CONNECTION", "").lower() == "close"
        if self.has_body or wants_close or self.version != "1.1":
            super().set_close_on_finish()


class BoundedChannel(StreamChannel):
    task_class = KeptTask
    parser_class = BoundedParser


def without_body_of_head(application: "WSGIApplication") -> "WSGIApplication":
    """Return an application that answers HEAD with the headers of GET and no body.

    waitress sends what the application returns. A body would be taken for the response
    to the next request of the same connection.
    """

    def answer(
        environ: dict[str, Any], start_response: "StartResponse"
    ) -> Iterable[bytes]:
        if environ["REQUEST_METHOD"] != "HEAD":
            return application(environ, start_response)
        started: list[Any] = []

        def start(*arguments: Any) -> Callable[[bytes], object]:
            started[:] = arguments
            return lambda data: None

        body = application(environ, start)
        close = getattr(body, "close", None)
        try:
            status, headers, *exc_info = started
            if not any(name.lower() == "content-length" for name, _ in headers):
                # Without a length waitress would send an empty chunk.
                length = sum(len(chunk) for chunk in body)
                headers = [*headers, ("Content-Length", str(length))]
            start_response(status, headers, *exc_info)
        finally:
            if close is not None:
                close()
        return []

    return answer


def create_server(listener: socket.socket) -> Any:
    """Return a waitress server for a listening socket. Its `run` serves."""
    _permit_open_files()
    # This logger warns of each request that waits for a thread.
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)
    server: Any = waitress.create_server(
        without_body_of_head(get_wsgi_application()),
        sockets=[listener],
        _dispatcher=RequestThreads(),
        connection_limit=MAX_CONNECTIONS,
        recv_bytes=RECEIVE_BYTES,
        channel_timeout=IDLE_TIMEOUT_S,
        max_request_header_size=MAX_HEADER_BYTES,
        # waitress also refuses a body of exactly this size.
        max_request_body_size=bodies.max_upload_bytes() + 1,
        # Django reads the headers of trusted proxies, and only as many as it trusts.
        clear_untrusted_proxy_headers=not settings.TORRES_PROXIES,
        asyncore_use_poll=True,
    )
    server.channel_class = BoundedChannel
    server.streams = StreamServer()
    return server


def _permit_open_files() -> None:
    """Raise the soft limit of open files as far as it is needed and permitted.

    It is 1024 on most systems. Then the server could open no more files for the bodies
    of uploads long before it has MAX_CONNECTIONS.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    infinite = resource.RLIM_INFINITY
    wanted = MAX_OPEN_FILES if hard == infinite else min(MAX_OPEN_FILES, hard)
    if soft != infinite and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _credentials(headers: dict[str, str]) -> bodies.Credentials:
    cookies = parse_cookie(headers.get("COOKIE", ""))
    return bodies.Credentials(
        cookies.get(settings.SESSION_COOKIE_NAME, ""), headers.get("AUTHORIZATION", "")
    )
