"""The web server, as a real process, against clients that speak HTTP badly."""

import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from django.conf import settings

from ladder.ops.chaos.servers import free_port
from ladder.ops.programs import find_program
from ladder.web.server.server import MAX_CONNECTIONS
from tests.ops.running import environment

MANAGE = settings.BASE_DIR / "manage.py"
TIMEOUT_S = 20
STREAMS = 3  # of one address
USUAL_OPEN_FILES = 1024
UPLOAD_PAGE = "/bots/grendel/upload/"
UPLOAD_API = "/api/v1/bots/grendel/submissions/"
UPLOAD_LIMIT = 1_000_000 + (64 << 10)
COOKIE = "Cookie: csrftoken=x; sessionid=abc"
TOKEN = "Authorization: Bearer x"


@dataclass
class Server:
    process: subprocess.Popen[bytes]
    port: int
    data: Path
    token: str

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), TIMEOUT_S)

    def send(self, *head: str, body: bytes = b"") -> bytes:
        """Send a request and return everything that comes until the connection ends."""
        lines = [*head, "Host: localhost", "", ""]
        with self.connect() as connection:
            connection.sendall("\r\n".join(lines).encode() + body)
            return b"".join(iter(lambda: connection.recv(65_536), b""))

    def get(self, path: str) -> bytes:
        return self.send(f"GET {path} HTTP/1.1", "Connection: close")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with running(tmp_path_factory.mktemp("serve")) as server:
        yield server


@contextmanager
def running(data: Path, manage: Path = MANAGE) -> Iterator[Server]:
    """Run the web server of a program like manage.py."""
    port = free_port()
    home = environment(
        data,
        TMPDIR=str(data),
        TORRES_UPLOAD_BYTES="1000000",
        TORRES_MAX_STREAMS_PER_ADDRESS=str(STREAMS),
    )
    token = subprocess.run(
        [sys.executable, MANAGE, "token", "ana"],
        env=home,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    process = subprocess.Popen(
        [
            # The usual limit, which this machine may have raised.
            *(find_program("prlimit"), f"--nofile={USUAL_OPEN_FILES}:"),
            *(sys.executable, manage, "serve", f"--listen=127.0.0.1:{port}"),
        ],
        env=home,
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    server = Server(process, port, data, token)
    for _ in range(TIMEOUT_S * 20):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                break
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.05)
    yield server
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=TIMEOUT_S)
    assert process.returncode == 0


def status(response: bytes) -> int:
    assert response.startswith(b"HTTP/1."), response[:200]
    return int(response.split(b" ", 2)[1])


@pytest.mark.parametrize(
    ("path", "length", "credentials"),
    [
        ("/sign-in/", 65_537, COOKIE),
        ("/nothing/", 300_000_000, TOKEN),
        ("/api/v1/bots/", 65_537, TOKEN),
        (UPLOAD_PAGE, 300_000, "Accept: */*"),
        (UPLOAD_API, 300_000, "Cookie: theme=dark"),
        (UPLOAD_PAGE, 300_000, COOKIE),
        (UPLOAD_PAGE, 300_000, "Cookie: sessionid="),
        (UPLOAD_PAGE, 300_000, 'Cookie: sessionid="\\'),
        (UPLOAD_API, 300_000, TOKEN),
        (UPLOAD_API, 300_000, "Authorization: Bearer \xff"),
        (UPLOAD_PAGE, UPLOAD_LIMIT + 1, COOKIE),
        (UPLOAD_API, UPLOAD_LIMIT + 1, TOKEN),
    ],
)
@pytest.mark.parametrize("expect", ["Accept: */*", "Expect: 100-continue"])
def test_a_large_body_is_refused_before_it_is_sent(
    server: Server, path: str, length: int, credentials: str, expect: str
) -> None:
    """The client sends no body. The server would wait for a body that it accepts.

    Everybody can invent a cookie or a token.
    """
    head = [f"POST {path} HTTP/1.1", f"Content-Length: {length}"]
    response = server.send(*head, credentials, expect)

    assert status(response) == 413
    kind = b"application/problem+json" if "/api/" in path else b"text/html"
    assert kind in response
    assert b"limit of" in response or b"sign" in response.lower()


def test_a_length_with_forty_digits_is_no_request(server: Server) -> None:
    response = server.send("POST / HTTP/1.1", f"Content-Length: {10**40}")

    assert status(response) == 400


@pytest.mark.parametrize("path", ["/sign-in/", UPLOAD_API])
def test_a_body_without_length_is_refused(server: Server, path: str) -> None:
    response = server.send(
        *(f"POST {path} HTTP/1.1", "Transfer-Encoding: chunked", TOKEN), body=b"f\r\n"
    )

    assert status(response) == 411
    assert b"Content-Length" in response


@pytest.mark.parametrize(
    ("path", "length", "expected"),
    [("/sign-in/", 65_536, 403), (UPLOAD_API, 65_536, 404), (UPLOAD_API, 10**6, 404)],
)
def test_a_body_below_the_limit_is_read(
    server: Server, path: str, length: int, expected: int
) -> None:
    head = [f"POST {path} HTTP/1.1", f"Content-Length: {length}", "Connection: close"]
    token = f"Authorization: Bearer {server.token}"

    assert status(server.send(*head, token, body=b"x" * length)) == expected


def test_a_large_upload_in_a_session_is_read(server: Server) -> None:
    """The session of a browser is as good as a token."""
    form = server.get("/sign-in/").decode()
    csrf = re.search(r"csrftoken=(\w+)", form)[1]
    body = f"csrfmiddlewaretoken={csrf}&token={server.token}".encode()
    signed_in = server.send(
        *("POST /sign-in/ HTTP/1.1", f"Content-Length: {len(body)}"),
        *("Content-Type: application/x-www-form-urlencoded", "Connection: close"),
        f"Cookie: csrftoken={csrf}",
        body=body,
    ).decode()
    key = re.search(r"sessionid=(\w+)", signed_in)[1]
    cookie = f"Cookie: sessionid={key}"
    head = [f"POST {UPLOAD_PAGE} HTTP/1.1", "Content-Length: 300000"]

    response = server.send(*head, "Connection: close", cookie, body=b"x" * 300_000)

    assert status(response) == 403  # the form has no CSRF token, but it was read


def test_a_refused_body_uses_no_disk(server: Server) -> None:
    before = sum(file.stat().st_size for file in server.data.rglob("*"))
    head = "POST /sign-in/ HTTP/1.1\r\nHost: a\r\nContent-Length: 300000000\r\n\r\n"
    with server.connect() as connection:
        connection.sendall(head.encode())
        try:
            for _ in range(200):
                connection.sendall(b"x" * (1 << 20))
        except OSError:
            pass  # the server has closed the connection
        else:
            pytest.fail("the server accepted 200 MiB")

    assert sum(file.stat().st_size for file in server.data.rglob("*")) == before


def test_every_connection_may_have_the_files_of_an_upload(server: Server) -> None:
    limits = Path(f"/proc/{server.process.pid}/limits").read_text()
    soft = re.search(r"^Max open files +(\d+)", limits, re.MULTILINE)

    assert soft is not None
    assert int(soft[1]) > max(2 * MAX_CONNECTIONS, USUAL_OPEN_FILES)


@pytest.mark.parametrize("count", [24, 100])
@pytest.mark.parametrize(
    "half",
    [
        "GET / HTTP/1.1\r\nHost: localhost\r\n",
        "POST /sign-in/ HTTP/1.1\r\nHost: localhost\r\nContent-Length: 60000\r\n\r\nx",
        f"POST {UPLOAD_API} HTTP/1.1\r\n%s\r\nContent-Length: 900000\r\n\r\nx",
    ],
    ids=["header", "form", "upload"],
)
def test_half_sent_requests_delay_nobody(server: Server, count: int, half: str) -> None:
    with ExitStack() as stack:
        for _ in range(count):
            connection = stack.enter_context(server.connect())
            token = f"Authorization: Bearer {server.token}"
            connection.sendall(half.replace("%s", token).encode())
        for _ in range(5):
            assert status(server.get("/sign-in/")) == 200


def test_more_half_sent_heads_than_connections_delay_nobody(server: Server) -> None:
    """A thousand of them stopped the service; now the oldest ones make room."""
    with ExitStack() as stack:
        for _ in range(MAX_CONNECTIONS + 200):
            connection = stack.enter_context(server.connect())
            connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n")
        for _ in range(5):
            assert status(server.get("/sign-in/")) == 200


@pytest.mark.parametrize(
    "path",
    ["/", "/nothing/", "/api/v1/bots/", "/api/v1/nothing/", "/static/web/site.css"],
)
def test_head_has_no_body_and_the_connection_stays(server: Server, path: str) -> None:
    """A body was taken for the response to the next request."""
    head = f"HEAD {path} HTTP/1.1\r\nHost: localhost\r\n\r\n"
    get = "GET /sign-in/ HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    with server.connect() as connection:
        connection.sendall(head.encode())
        received = b""
        while b"\r\n\r\n" not in received:
            received += connection.recv(65_536)
        headers, _, rest = received.partition(b"\r\n\r\n")
        assert rest == b""
        assert int(re.search(rb"(?i)content-length: (\d+)", headers)[1]) > 0
        connection.sendall(get.encode())
        following = b"".join(iter(lambda: connection.recv(65_536), b""))

    assert following.startswith(b"HTTP/1.1 200")


def test_a_connection_stays_after_an_answer_without_a_body(server: Server) -> None:
    path = "/static/web/site.css"
    date = re.search(rb"(?i)last-modified: ([^\r]+)", server.get(path))[1].decode()
    ask = f"GET {path} HTTP/1.1\r\nHost: localhost\r\nIf-Modified-Since: {date}\r\n"
    with server.connect() as connection:
        for last in ("", "Connection: close\r\n"):
            connection.sendall(f"{ask}{last}\r\n".encode())
            head = b""
            while b"\r\n\r\n" not in head:
                data = connection.recv(65_536)
                assert data, "the connection was closed"
                head += data
            assert status(head) == 304
        assert connection.recv(1) == b""


def open_stream(server: Server) -> socket.socket:
    """Open a stream and read the head of the response."""
    connection = server.connect()
    connection.sendall(b"GET /live/stream/ HTTP/1.1\r\nHost: localhost\r\n\r\n")
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        head += connection.recv(1)
    assert status(head) == 200
    assert b"text/event-stream" in head
    assert b"content-length" not in head.lower()
    return connection


def rest(connection: socket.socket) -> bytes:
    """Return everything until the server closes the connection."""
    return b"".join(iter(lambda: connection.recv(65_536), b""))


def test_streams_occupy_no_thread_and_are_limited_per_address(server: Server) -> None:
    with ExitStack() as stack:
        streams = [stack.enter_context(open_stream(server)) for _ in range(STREAMS)]
        refused = rest(stack.enter_context(open_stream(server)))
        assert status(server.get("/sign-in/")) == 200
        streams[0].close()
        # The place is free as soon as the server has noticed that.
        for _ in range(TIMEOUT_S * 20):
            connection = stack.enter_context(open_stream(server))
            connection.settimeout(0.5)
            try:
                assert b"too-many" in rest(connection)
            except TimeoutError:  # this stream stays open
                break
        else:
            pytest.fail("the place of a closed stream never becomes free")

    assert b"event: problem" in refused
    assert b"too-many" in refused
    assert f"Your address has {STREAMS} streams".encode() in refused


def test_a_server_that_stops_ends_its_streams(tmp_path: Path) -> None:
    with ExitStack() as stack:
        server = stack.enter_context(running(tmp_path))
        streams = [stack.enter_context(open_stream(server)) for _ in range(STREAMS)]
        idle = stack.enter_context(server.connect())
        half = stack.enter_context(server.connect())
        half.sendall(b"POST /sign-in/ HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n")
        server.process.send_signal(signal.SIGTERM)
        ends = [rest(each) for each in streams]
        assert (rest(idle), rest(half)) == (b"", b"")
        assert server.process.wait(TIMEOUT_S) == 0

    # The last chunk: the client knows that the stream is over.
    assert all(each.endswith(b"0\r\n\r\n") for each in ends)


def test_head_opens_no_stream(server: Server) -> None:
    answer = server.send("HEAD /live/stream/ HTTP/1.1", "Connection: close")

    assert status(answer) == 405
