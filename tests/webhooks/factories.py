"""Receivers of webhooks, which are real servers, and a clock that tests move."""

import base64
import hashlib
import hmac
import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from random import Random
from typing import Any, NamedTuple

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from ladder.events import outbox
from ladder.events.kinds import EventKind
from ladder.events.outbox import NewEvent
from ladder.extras.webhooks import services, signing
from ladder.extras.webhooks.models import Webhook
from ladder.extras.webhooks.sender import Sender

TIMEOUT_S = 120.0
SITE = "https://ladder.test/"
# Longer than that of the service, because the machine may be busy.
RECEIVER_TIMEOUT_S = 50.0


class Delivered(NamedTuple):
    """A request that a receiver got."""

    headers: dict[str, str]
    body: bytes

    @property
    def content(self) -> dict[str, Any]:
        return dict(json.loads(self.body))

    @property
    def text(self) -> str:
        return str(self.content["data"]["text"])


Answer = Callable[[BaseHTTPRequestHandler], None]


def answer(status: int, **headers: str) -> Answer:
    def write(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    return write


class Receiver:
    """A web server on loopback. `answer` may be replaced at any time."""

    def __init__(self, port: int = 0) -> None:
        self.got: list[Delivered] = []
        self.answer: Answer = answer(204)
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                size = int(self.headers["Content-Length"])
                body = self.rfile.read(size)
                if len(body) < size:
                    return  # the sender was killed
                names = {name.lower(): value for name, value in self.headers.items()}
                outer.got.append(Delivered(names, body))
                outer.answer(self)

            def log_message(self, *args: object) -> None: ...

        ThreadingHTTPServer.allow_reuse_address = True
        self._server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self._server.daemon_threads = True
        self.port = int(self._server.server_address[1])
        self.url = url_of(self.port)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))
        self._thread.start()

    @property
    def texts(self) -> list[str]:
        return [delivered.text for delivered in self.got]

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@contextmanager
def receiver(port: int = 0) -> Iterator[Receiver]:
    server = Receiver(port)
    try:
        yield server
    finally:
        server.close()


@contextmanager
def receiver_that_is_down() -> Iterator[int]:
    """Yield a port at which nobody listens, and that nobody else gets meanwhile."""
    with socket.socket() as kept:
        kept.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        kept.bind(("127.0.0.1", 0))
        yield int(kept.getsockname()[1])


def url_of(port: int) -> str:
    return f"http://127.0.0.1:{port}/hook"


class MovedClock:
    """A clock that stands still until a test moves it."""

    def __init__(self) -> None:
        self.now = timezone.now()

    def __call__(self) -> datetime:
        return self.now

    def move(self, **by: float) -> None:
        self.now += timedelta(**by)


@contextmanager
def sender(clock: MovedClock) -> Iterator[Sender]:
    one = Sender(clock, Random(1), timeout_s=RECEIVER_TIMEOUT_S)
    try:
        yield one
    finally:
        one.close()


def webhook(url: str, user: str = "ana", **values: Any) -> Webhook:
    owner = User.objects.get_or_create(username=user)[0]
    return services.create(owner, {"url": url, **values}, SITE)


def happen(*texts: str, **data: Any) -> None:
    """Let a public event happen for each text."""
    for text in texts:
        with transaction.atomic():
            outbox.record(NewEvent(EventKind.BOT_STATUS, {"text": text, **data}))


def assert_signed(delivered: Delivered, hook: Webhook) -> None:
    """Verify a delivery as the specification of Standard Webhooks says."""
    key = base64.b64decode(signing.secret_of(hook.salt).removeprefix("whsec_"))
    headers = delivered.headers
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode()
    digest = hmac.new(key, signed + delivered.body, hashlib.sha256).digest()
    expected = f"v1,{base64.b64encode(digest).decode()}"
    assert headers["webhook-signature"] == expected
