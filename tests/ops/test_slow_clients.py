"""Clients that are slow, silent or too many. The limits of the server are small."""

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from ladder.web.server.connections import (
    MAX_HEAD_BYTES,
    ClientConnection,
    Connections,
)
from tests.ops.test_serve import Server, rest, running, status

IMPATIENT_MANAGE = Path(__file__).with_name("impatient_manage.py")
CONNECTIONS = 8  # the limit of this server
LARGE_FILE = "/static/drf_spectacular_sidecar/swagger-ui-dist/swagger-ui-bundle.js"
GET = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
HALF_HEAD = b"GET / HTTP/1.1\r\nHost: localhost\r\n"
HALF_BODY = b"POST /sign-in/ HTTP/1.1\r\nHost: a\r\nContent-Length: 60000\r\n\r\nx"
DRIBBLE_S = 0.05


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("impatient")
    with running(folder, manage=IMPATIENT_MANAGE) as server:
        yield server


def dribble(connection: socket.socket, done: threading.Event) -> None:
    """Send a byte now and then, until the server closes the connection."""
    try:
        while not done.wait(DRIBBLE_S):
            connection.sendall(b"x")
    except OSError:
        pass


@pytest.mark.parametrize("start", [b"", HALF_HEAD, HALF_BODY])
def test_a_silent_client_is_cut_off(server: Server, start: bytes) -> None:
    with server.connect() as connection:
        connection.sendall(start)
        assert rest(connection) == b""


@pytest.mark.parametrize("start", [b"GET /", HALF_HEAD, HALF_BODY])
def test_a_client_that_sends_a_byte_now_and_then_is_cut_off(
    server: Server, start: bytes
) -> None:
    done = threading.Event()
    with server.connect() as connection:
        connection.sendall(start)
        thread = threading.Thread(target=dribble, args=[connection, done])
        thread.start()
        try:
            assert rest(connection) == b""
        except ConnectionResetError:
            pass  # its last byte came too late
        finally:
            done.set()
            thread.join()


def test_a_connection_is_closed_some_time_after_its_last_response(
    server: Server,
) -> None:
    with server.connect() as connection:
        connection.sendall(GET)
        received = rest(connection)

    assert status(received) == 200


def test_a_client_that_does_not_read_is_cut_off(server: Server) -> None:
    request = f"GET {LARGE_FILE} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.connect(("127.0.0.1", server.port))
        connection.sendall(request * 20)
        port = connection.getsockname()[1]
        wait = threading.Event()
        for _ in range(400):
            if not has_connection(server, port):
                break
            wait.wait(0.05)
        else:
            pytest.fail("the server keeps the connection")


def has_connection(server: Server, client_port: int) -> bool:
    """True if the server has a connection to this port of a client."""
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        local, remote, state = line.split()[1:4]
        ports = [int(each.split(":")[1], 16) for each in (local, remote)]
        if ports == [server.port, client_port] and state == "01":
            return True
    return False


def test_the_connection_that_waits_longest_makes_room(server: Server) -> None:
    with ExitStack() as stack:
        silent = [stack.enter_context(server.connect()) for _ in range(CONNECTIONS)]
        newest = stack.enter_context(server.connect())
        newest.sendall(GET)
        assert status(newest.recv(65_536)) == 200
        assert rest(silent[0]) == b""


def test_more_half_sent_bodies_than_connections_delay_nobody(server: Server) -> None:
    """They counted as requests that are being served, so a visitor was refused."""
    with ExitStack() as stack:
        for _ in range(3 * CONNECTIONS):
            stack.enter_context(server.connect()).sendall(HALF_BODY)
        newest = stack.enter_context(server.connect())
        newest.sendall(GET)
        assert status(newest.recv(65_536)) == 200


class IdleClient(ClientConnection):
    """A connection without a socket."""

    def close(self) -> None:
        self.is_lost = True


def test_a_connection_makes_room_until_its_body_is_complete() -> None:
    connections = Connections(1)
    served, other = (IdleClient(asyncio.Protocol(), connections) for _ in range(2))
    served.address, other.address = (1, 0), (2, 0)
    assert connections.add(served)
    assert connections.begin({"client": 1, "server": 0}) is served

    assert not connections.add(other)
    with connections.sending_body(served):
        assert connections.add(other)
    assert served.is_lost


@pytest.mark.parametrize("end", [b"", b"\r\n\r\n"], ids=["unfinished", "complete"])
def test_a_long_head_is_refused(server: Server, end: bytes) -> None:
    head = HALF_HEAD + b"X-Long: " + b"x" * MAX_HEAD_BYTES + end

    with server.connect() as connection:
        connection.sendall(head)
        assert status(connection.recv(65_536)) == 431
