"""The client sends a request again that got no answer, so that it is done once."""

import gzip
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from torres.cli import client as clients
from torres.cli.client import LadderClient, Login, RemoteError

ANSWER = {
    "id": 1,
    "number": 1,
    "status": "uploaded",
    "report": {"summary": "", "steps": []},
    "owner": "ana",
    "name_salt": "",
    "house": False,
    "slug": "one",
    "name": "One",
    "detail": "not yet",
}


class Flaky(BaseHTTPRequestHandler):
    """Closes the connection before it answers, as often as the server says."""

    def do_POST(self) -> None:
        self.server.keys.append(self.headers["Idempotency-Key"])
        self.rfile.read(int(self.headers["Content-Length"]))
        status = self.server.answers.pop(0)
        if status == 0:
            self.close_connection = True
            return
        body = json.dumps(ANSWER).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        if status in {409, 503}:
            self.send_header("Retry-After", "0")
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self) -> None:
        body = gzip.compress(bytes(self.server.length))
        self.send_response(200)
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ThreadingHTTPServer]:
    monkeypatch.setattr(clients, "pause", lambda _: None)
    with ThreadingHTTPServer(("127.0.0.1", 0), Flaky) as server:
        server.keys = []
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def client(server: ThreadingHTTPServer) -> LadderClient:
    return LadderClient(Login(f"http://127.0.0.1:{server.server_port}", "torres_x"))


def test_a_post_is_sent_again_with_the_same_key(server) -> None:
    server.answers = [0, 409, 503, 201, 201]
    with client(server) as ladder:
        assert ladder.upload("one", "bot.py", b"pass")["number"] == 1
        ladder.create_bot("One")

    *same, other = server.keys
    assert len(same) == 4
    assert len({*same}) == 1
    assert other != same[0]


def test_a_post_is_not_sent_for_ever(server) -> None:
    server.answers = [0] * 9
    with client(server) as ladder, pytest.raises(RemoteError, match="does not answer"):
        ladder.create_bot("One")

    assert len(server.keys) == 3
    assert len(set(server.keys)) == 1


def test_an_answer_cannot_fill_the_memory(server, monkeypatch) -> None:
    monkeypatch.setattr(clients, "MAX_ANSWER_BYTES", 1 << 20)
    with client(server) as ladder:
        server.length = 1 << 20
        assert ladder.log_file("tile/0/000") == bytes(1 << 20)

        server.length += 1
        with pytest.raises(RemoteError, match="more than 1 MiB; check the address"):
            ladder.log_file("tile/0/000")
