"""The command trusts no server: not its texts, its numbers or the addresses in them."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from torres.cli.client import LadderClient, Login, RemoteError
from torres.cli.ladder_rules import read_ladder
from torres.cli.main import EXPECTED_ERRORS, torres
from torres.runner.protocol import Limits

TITLE = "\x1b]0;PWNED\x07"
"""Changes the title of a terminal's window."""
BOT = {
    "id": 2,
    "owner": None,
    "name_salt": "",
    "house": False,
    "slug": "two",
    "name": TITLE,
    "status": "active",
    "log": "a\n\tb",
}


class Hostile(BaseHTTPRequestHandler):
    """Answers each path with the status and the document that the test planned."""

    def do_GET(self) -> None:
        self.server.asked.append((self.path, self.headers["Authorization"]))
        status, document = self.server.answers[self.path.partition("?")[0]]
        body = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Any]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Hostile) as server:
        server.asked = []
        server.answers = {}
        server.address = f"http://127.0.0.1:{server.server_port}"
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def client(server: Any) -> LadderClient:
    return LadderClient(Login(server.address, "torres_x"))


def test_no_text_of_a_server_controls_the_terminal(server: Any) -> None:
    server.answers["/api/v1/bots/one/"] = (403, {"detail": f"{TITLE} no"})
    server.answers["/api/v1/bots/two/"] = (200, BOT)
    with client(server) as ladder:
        with pytest.raises(RemoteError, match=r"PWNED\\x07 no") as refused:
            ladder.bot("one")
        bot = ladder.bot("two")

    assert "\x1b" not in refused.value.message
    assert bot == BOT | {"name": "\\x1b]0;PWNED\\x07"}


def test_a_file_is_named_after_a_number_only(server: Any, tmp_path: Path) -> None:
    page = {"results": [{"id": "../../evil"}], "next": None}
    server.answers["/api/v1/games/"] = (200, page)
    folder = tmp_path / "replays" / "here"

    result = CliRunner().invoke(
        torres, ["replays", str(folder), "--ladder", server.address]
    )

    assert result.exit_code == 2
    assert "does not answer like a Torres ladder" in result.output
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_a_page_on_another_server_is_asked_for_at_the_own_one(server: Any) -> None:
    elsewhere = "http://192.0.2.1/api/v1/games/?cursor=9"
    server.answers["/api/v1/bots/"] = (200, {"results": [], "next": elsewhere})
    server.answers["/api/v1/games/"] = (200, {"results": [], "next": None})
    with client(server) as ladder:
        assert list(ladder.bots("ana")) == []

    assert [path for path, _ in server.asked][-1] == "/api/v1/games/?cursor=9"


@pytest.mark.parametrize(
    "address",
    ["http://ladder.example.org", "http://192.0.2.1:8000", "http://[2001:db8::1]"],
)
def test_a_token_does_not_cross_a_network_unencrypted(address: str) -> None:
    with pytest.raises(RemoteError, match="use https://"):
        LadderClient(Login(address, "torres_x"))
    LadderClient(Login(address, "")).close()


@pytest.mark.parametrize(
    "address",
    ["https://ladder.example.org", "http://localhost:8000", "http://[::1]:8000"],
)
def test_a_token_may_go_over_https_and_to_this_machine(address: str) -> None:
    LadderClient(Login(address, "torres_x")).close()


LADDER = {
    "slug": "main",
    "default": True,
    "ruleset": "yucata",
    "switches": {},
    "tables": {"2": 1.0},
    "limits": {"move_ms": 100},
    "season": None,
}


@pytest.mark.parametrize("value", [None, "x", 10**400, -1, ["x"], {"x": "y"}])
@pytest.mark.parametrize("key", ["ruleset", "switches", "tables", "limits"])
def test_rules_that_no_ladder_has_are_refused(
    server: Any, key: str, value: object
) -> None:
    server.answers["/api/v1/ladders/main/"] = (200, LADDER | {key: value})

    with pytest.raises(EXPECTED_ERRORS) as refused:
        read_ladder(f"{server.address}/ladders/main/")

    assert str(refused.value).isprintable()


def test_rules_of_a_ladder_are_read_without_unknown_limits(server: Any) -> None:
    ladder = LADDER | {"limits": {"move_ms": 100, "new": 1}}
    server.answers["/api/v1/ladders/main/"] = (200, ladder)

    rules = read_ladder(f"{server.address}/ladders/main/")

    assert rules.limits == Limits(move_ms=100)
    assert rules.tables == {"2": 1.0}


@pytest.mark.parametrize("following", ["/api/v1/bots/", "//["])
def test_a_list_without_an_end_is_refused(server: Any, following: str) -> None:
    server.answers["/api/v1/bots/"] = (200, {"results": [], "next": following})

    with client(server) as ladder, pytest.raises(RemoteError, match="answer like"):
        list(ladder.bots("ana"))
