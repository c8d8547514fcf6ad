"""Requests for Django, and its answers, between ASGI and WSGI.

Django's views are ordinary functions, and its own ASGI handler would give each request
a new thread. With WSGI they share a few threads, and a request costs less.
"""

import sys
from collections.abc import Iterable, Iterator
from http import HTTPStatus
from typing import IO, TYPE_CHECKING, Any
from urllib.parse import unquote_to_bytes

from asgiref.typing import HTTPScope

from ladder.web.server.streams.request import OPEN_STREAM, StreamRequest

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication

# A response is read and sent in parts of this size or a little more.
PART_BYTES = 64 << 10
WITHOUT_BODY = (HTTPStatus.NO_CONTENT, HTTPStatus.NOT_MODIFIED)


def headers_of(scope: HTTPScope) -> dict[str, str]:
    """Return the headers of a request by their names in lower case.

    Names with an underscore are left out: WSGI could not tell "x_real_ip" from
    "x-real-ip", which only a proxy may set.
    """
    headers: dict[str, str] = {}
    for raw_name, raw_value in scope["headers"]:
        name, value = raw_name.decode("latin-1"), raw_value.decode("latin-1")
        if "_" in name:
            continue
        if name in headers:
            separator = "; " if name == "cookie" else ", "
            value = f"{headers[name]}{separator}{value}"
        headers[name] = value
    return headers


def environ_of(
    scope: HTTPScope, headers: dict[str, str], body: IO[bytes]
) -> dict[str, object]:
    """Return the environment of a request, as PEP 3333 defines it."""
    server, client = scope["server"], scope["client"]
    assert server is not None
    assert client is not None
    environ: dict[str, object] = {
        "REQUEST_METHOD": scope["method"],
        "SCRIPT_NAME": "",
        "PATH_INFO": unquote_to_bytes(scope["raw_path"]).decode("latin-1"),
        "QUERY_STRING": scope["query_string"].decode("latin-1"),
        "SERVER_PROTOCOL": f"HTTP/{scope['http_version']}",
        "SERVER_NAME": server[0],
        "SERVER_PORT": str(server[1]),
        "REMOTE_ADDR": client[0],
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": scope["scheme"],
        "wsgi.input": body,
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": False,
        "wsgi.run_once": False,
    }
    for name, value in headers.items():
        key = name.upper().replace("-", "_")
        is_plain = key in ("CONTENT_TYPE", "CONTENT_LENGTH")
        environ[key if is_plain else f"HTTP_{key}"] = value
    return environ


class WsgiAnswer:
    """The response of a WSGI application.

    It is made, read and closed in threads, of which it occupies none in between.
    """

    def __init__(
        self, application: "WSGIApplication", environ: dict[str, object]
    ) -> None:
        self.status = 0
        self.headers: list[tuple[str, str]] = []
        self.stream: StreamRequest | None = None  # it follows after the head
        environ[OPEN_STREAM] = self._open_stream
        self._body: Iterable[bytes] = application(environ, self._start)
        self._parts: Iterator[bytes] = iter(self._body)
        self.is_over = False
        self.first = self.read()

    @property
    def has_length(self) -> bool:
        """True if Django has declared the length of the body."""
        return any(name.lower() == "content-length" for name, _ in self.headers)

    def head(self) -> list[tuple[bytes, bytes]]:
        """Return the headers for ASGI. Without a length the body is sent in chunks."""
        head = [
            (name.lower().encode("latin-1"), value.encode("latin-1"))
            for name, value in self.headers
        ]
        if self.stream is not None:
            head = [each for each in head if each[0] != b"content-length"]
            return [*head, (b"connection", b"close")]
        if self.is_over and not self.has_length and self.status not in WITHOUT_BODY:
            head.append((b"content-length", b"%d" % len(self.first)))
        return head

    def read(self) -> bytes:
        """Return the next part of the body. After the last one, close the response."""
        part = bytearray()
        try:
            for data in self._parts:
                part += data
                if len(part) >= PART_BYTES:
                    return bytes(part)
        except BaseException:
            self.close()
            raise
        self.close()
        return bytes(part)

    def close(self) -> None:
        """Release everything that the response holds. May be called again."""
        if not self.is_over:
            self.is_over = True
            close = getattr(self._body, "close", None)
            if close is not None:
                close()

    def _start(
        self, status: str, headers: list[tuple[str, str]], exc_info: Any = None
    ) -> Any:
        self.status = int(status.split(" ", 1)[0])
        self.headers = headers

    def _open_stream(self, request: StreamRequest) -> None:
        self.stream = request
