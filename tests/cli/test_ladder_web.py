"""The pages of `torres ladder --web`, in memory and from the running command."""

import http.client
import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from tests.cli.conftest import TORRES
from tests.cli.test_ladder import add_bot, entries
from tests.cli.test_match import running, wait_until
from tests.web.test_pages import AccessibilityCheck
from torres.cli.ladder_web import LOOPBACK, LadderServer, serving
from torres.cli.local_ladder import LocalLadder
from torres.cli.local_rules import LocalRules
from torres.rating.ledger import EntryKind

__all__ = ["running"]
HOSTILE = "<script>alert(1)</script>.."


@pytest.fixture
def local(tmp_path: Path):
    """A ladder of two bots with one game, of which one has a hostile name."""
    local = LocalLadder(tmp_path, LocalRules(), "none", "s", [], print)
    with local.opened(fresh=False):
        for number, name in enumerate((HOSTILE, "bob"), 1):
            inputs = {"bot": number, "submission": 1, "digest": name}
            local._append(EntryKind.JOIN, inputs, name=name)
        seats = [
            {"bot": 1, "submission": 1, "rank": 2, "fault": "crash"},
            {"bot": 2, "submission": 1, "rank": 1, "fault": ""},
        ]
        local._open[1] = ()
        local._append(
            EntryKind.GAME, {"seats": seats}, number=1, seed="s/1", scores=[7, 41]
        )
        yield local


def checked(text: str) -> str:
    check = AccessibilityCheck()
    check.feed(text)
    check.close()
    assert check.faults == []
    assert "<script>alert" not in text
    return text


def test_the_pages_show_bots_and_games_and_escape_names(local: LocalLadder) -> None:
    with serving(local, None) as address:
        board = checked(httpx.get(address).text)
        links = re.findall(r'href="(/bots/[^"]+)"', board)
        bot = httpx.get(address + links[0][1:])

    assert "1 games of the bots" in board
    assert "1. <a" in board
    assert '<span class="tag warn">crash</span>' in board
    assert len(set(links)) == 2
    assert bot.status_code == 200
    text = checked(bot.text)
    assert "polyline" in text
    assert "It is not in the folder now." in text


@pytest.mark.parametrize(
    "path",
    [
        "/bots/nobody/",
        "/bots/%2e%2e/",
        "/games/7/",
        "/games/0/",
        "/games/../../etc/passwd/",
        "/site.css/../../../__init__.py",
        "/..%2f..%2fetc/passwd",
        "/bots/%00/",
        "/x" * 3_000,
    ],
)
def test_an_unknown_page_is_not_found(local: LocalLadder, path: str) -> None:
    with serving(local, 0) as address:
        port = httpx.URL(address).port
        connection = http.client.HTTPConnection(LOOPBACK, port, timeout=10)
        connection.putrequest("GET", path)
        connection.endheaders()
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()

    assert answer.status == 404
    assert "Nothing is here" in text


def test_only_requests_that_name_this_machine_are_answered(local: LocalLadder) -> None:
    """A page of another site must not read the ladder under a name of its own."""
    with serving(local, None) as address:
        port = httpx.URL(address).port
        for host in (f"{LOOPBACK}:{port}", f"localhost:{port}"):
            assert httpx.get(address, headers={"Host": host}).status_code == 200
        for host in ("evil.example", f"evil.example:{port}", "localhost", ""):
            assert httpx.get(address, headers={"Host": host}).status_code == 403
        assert httpx.post(address).status_code == 501
        assert httpx.head(address).text == ""
        policy = httpx.get(address).headers["Content-Security-Policy"]
        assert policy.startswith("default-src 'none'")


def test_it_listens_on_the_loopback_address_only(local: LocalLadder) -> None:
    with serving(local, None) as address:
        server = LadderServer(local, 0)
        assert server.server_address[0] == "127.0.0.1"
        server.server_close()
        assert address.startswith("http://127.0.0.1:")
        others = {
            info[4][0]
            for info in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)
        } - {"127.0.0.1"}
        port = httpx.URL(address).port
        for other in others:
            with socket.socket() as client:
                client.settimeout(2)
                assert client.connect_ex((other, port)) != 0 or other.startswith("127.")


def test_a_port_in_use_is_an_error_only_if_it_was_chosen(
    torres, tmp_path: Path
) -> None:
    folder = tmp_path / "bots"
    add_bot(folder, "ann")
    add_bot(folder, "bob")
    with socket.socket() as taken:
        taken.bind((LOOPBACK, 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = torres("ladder", folder, "--port", port, "--games", 1)

    assert done.returncode == 2
    assert f"port {port} cannot be used" in done.stderr
    assert "choose another one" in done.stderr


def test_the_command_shows_a_game_in_the_viewer(tmp_path: Path) -> None:
    folder = tmp_path / "bots"
    add_bot(folder, "ann")
    add_bot(folder, "bob", "banker")
    process = subprocess.Popen(
        [TORRES, "ladder", folder, "--web", "--sandbox", "none"],
        cwd=tmp_path,
        env=os.environ | {"XDG_STATE_HOME": str(tmp_path / "state")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stderr is not None
        lines = (process.stderr.readline() for _ in range(10))
        address = next(
            found[0] for line in lines if (found := re.search(r"http://\S+", line))
        )
        wait_until(lambda: entries(folder, "game") != [])
        # Two games are played at a time, and either may end first.
        number = entries(folder, "game")[0]["number"]
        page = f"{address}games/{number}/"
        # The line of a game is in the ledger a moment before its page is there.
        wait_until(lambda: httpx.get(page).status_code == httpx.codes.OK)
        board = httpx.get(address).text
        game = httpx.get(page)
        bot = checked(httpx.get(f"{address}bots/ann/").text)
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)

    assert 'href="/bots/ann/"' in board
    assert f'href="/games/{number}/"' in bot
    assert 'id="viewer"' in game.text
    assert '<ol class="moves"' in game.text
    assert process.returncode == 0
    replay = folder / ".torres-ladder" / "replays" / f"game-{number}.json"
    done = subprocess.run([TORRES, "verify", replay], check=False)
    assert done.returncode == 0


def test_only_the_command_with_pages_needs_a_web_server() -> None:
    code = "import torres.cli.ladder, sys; print('django' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "False"
