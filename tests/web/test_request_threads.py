"""Uploads have threads of their own, so that pages do not wait behind them."""

import http.client
import socket
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from functools import partial

import pytest

from ladder.web.middleware import bodies
from ladder.web.server import application
from ladder.web.server.connections import set_options
from ladder.web.server.request_threads import PAGE_THREADS, UPLOAD_THREADS
from ladder.web.server.server import WebServer

TIMEOUT_S = 30
LARGE = b"x" * (bodies.MAX_BODY_BYTES + 1)
SMALL = b"x" * bodies.MAX_BODY_BYTES


class HeldDjango:
    """Holds each request until the test lets all of them end."""

    def __init__(self) -> None:
        self.begun = threading.Semaphore(0)
        self.may_end = threading.Event()
        self.threads: Counter[str] = Counter()
        self.respond = lambda: None  # or the headers and the body

    def __call__(self, environ, start_response):
        self.threads[threading.current_thread().name] += 1
        self.begun.release()
        self.may_end.wait(TIMEOUT_S)
        headers, body = self.respond() or ([], [environ["wsgi.input"].read()[:1]])
        start_response("200 OK", headers)
        return body

    def wait_for(self, count: int) -> None:
        for _ in range(count):
            assert self.begun.acquire(timeout=TIMEOUT_S)


@pytest.fixture
def django(monkeypatch: pytest.MonkeyPatch) -> HeldDjango:
    held = HeldDjango()
    monkeypatch.setattr(application, "get_wsgi_application", lambda: held)
    monkeypatch.setattr(bodies, "check_body", lambda *args, **words: None)
    return held


@pytest.fixture
def port(django: HeldDjango) -> Iterator[int]:
    """The port of a server in a thread of this process."""
    interval = sys.getswitchinterval()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = WebServer()
        thread = threading.Thread(target=server.run_on, args=[listener])
        thread.start()
        yield listener.getsockname()[1]
        django.may_end.set()
        server.should_exit = True
        thread.join()
    sys.setswitchinterval(interval)


@pytest.fixture
def clients() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(PAGE_THREADS + UPLOAD_THREADS + 10) as clients:
        yield clients


def send(port: int, body: bytes) -> bytes:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=TIMEOUT_S)
    with closing(connection):
        connection.request("POST", "/", body)
        return connection.getresponse().read()


def answers(sent: list[Future[bytes]]) -> set[bytes]:
    return {each.result(TIMEOUT_S) for each in sent}


def test_pages_do_not_wait_behind_uploads(
    django: HeldDjango, port: int, clients: ThreadPoolExecutor
) -> None:
    uploads = [clients.submit(send, port, LARGE) for _ in range(UPLOAD_THREADS + 5)]
    django.wait_for(UPLOAD_THREADS)
    pages = [clients.submit(send, port, body) for body in (b"", SMALL)]
    django.wait_for(len(pages))

    assert django.threads == {"uploads": UPLOAD_THREADS, "pages": len(pages)}
    django.may_end.set()
    assert answers(uploads) == {b"x"}
    assert answers(pages) == {b"", b"x"}


def test_all_threads_of_pages_serve_pages(
    django: HeldDjango, port: int, clients: ThreadPoolExecutor
) -> None:
    pages = [clients.submit(send, port, b"") for _ in range(PAGE_THREADS)]
    django.wait_for(PAGE_THREADS)

    assert django.threads == {"pages": PAGE_THREADS}
    django.may_end.set()
    assert answers(pages) == {b""}


@dataclass
class LongBody:
    """A response in small parts, which knows whether all of it was computed."""

    size: int
    closed: threading.Event = field(default_factory=threading.Event)

    def __iter__(self):
        part = b"x" * (64 << 10)
        for _ in range(self.size // len(part)):
            yield part

    def close(self) -> None:
        self.closed.set()


@pytest.mark.parametrize("kind", ["computed", "file"])
def test_a_slow_reader_holds_no_thread(
    django: HeldDjango, port: int, kind: str
) -> None:
    """A computed response does not wait for its reader. A file does, at no cost."""
    bodies = [LongBody(12 << 20) for _ in range(PAGE_THREADS)]
    headers = [("Content-Length", str(12 << 20))] if kind == "file" else []
    django.respond = partial(next, iter([(headers, body) for body in bodies]))
    django.may_end.set()
    with ExitStack() as stack:
        readers = [stack.enter_context(open_slowly(port)) for _ in bodies]
        django.wait_for(len(readers))
        if kind == "computed":
            assert all(body.closed.wait(TIMEOUT_S) for body in bodies)
        django.respond = lambda: ([], [b"a page"])
        assert send(port, b"") == b"a page"
        if kind == "file":
            assert not any(body.closed.is_set() for body in bodies)
        received = [len(read_all(reader)) for reader in readers]

    assert min(received) > 12 << 20
    assert all(body.closed.wait(TIMEOUT_S) for body in bodies)


def test_a_reader_who_leaves_ends_the_response(django: HeldDjango, port: int) -> None:
    body = LongBody(1 << 40)
    django.respond = lambda: ([("Content-Length", str(body.size))], body)
    django.may_end.set()
    with open_slowly(port):
        django.wait_for(1)

    assert body.closed.wait(TIMEOUT_S)


def open_slowly(port: int) -> socket.socket:
    """Send a request, and do not read the response yet."""
    connection = socket.socket()
    connection.settimeout(TIMEOUT_S)
    connection.connect(("127.0.0.1", port))
    connection.sendall(b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
    return connection


def read_all(connection: socket.socket) -> bytes:
    return b"".join(iter(lambda: connection.recv(1 << 20), b""))


def test_nothing_waits_for_more_to_send() -> None:
    """Otherwise the body of a response follows 40 ms after its head."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        set_options(listener)
        with socket.create_connection(listener.getsockname()):
            served, _ = listener.accept()
            with served:
                assert served.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
