"""Requests and servers for tests of accounts."""

import re
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from django.core.mail import EmailMessage
from django.http import HttpResponse
from django.test import Client

from tests.accounts.conftest import PASSWORD


def sign_up(client: Client | None = None, **fields: str) -> HttpResponse:
    """Send the form of the sign-up page, with other values for some fields."""
    form = {"username": "ana", "password": PASSWORD, "again": PASSWORD}
    return (client or Client()).post("/sign-up/", form | fields)


def sign_in(name: str, password: str = PASSWORD) -> Client | None:
    """Return a client that is signed in by password; None if that is refused."""
    client = Client()
    form = {"username": name, "password": password}
    answer = client.post("/sign-in/", form)
    return client if answer.status_code == 302 else None


def link_in(message: EmailMessage) -> str:
    """Return the path and the query of the link in a message."""
    return re.search(r"http://testserver(/\S+)", message.body)[1]


class MailSession(socketserver.StreamRequestHandler):
    """One session of SMTP, which stores its message in the server."""

    def handle(self) -> None:
        self.wfile.write(b"220 mail.example.org\r\n")
        for line in self.rfile:
            word = line[:4].upper()
            if word == b"DATA":
                self.wfile.write(b"354 go on\r\n")
                self.server.messages.append(self._message())
                self.wfile.write(b"250 stored\r\n")
            elif word == b"QUIT":
                self.wfile.write(b"221 bye\r\n")
                return
            else:
                self.wfile.write(b"250 ok\r\n")

    def _message(self) -> str:
        lines = []
        for line in self.rfile:
            if line == b".\r\n":
                break
            lines.append(line.decode())
        return "".join(lines)


class MailServer(socketserver.ThreadingTCPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), MailSession)
        self.messages: list[str] = []


@contextmanager
def mail_server() -> Iterator[MailServer]:
    with MailServer() as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server
        server.shutdown()
