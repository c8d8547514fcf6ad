"""Each command that talks to a ladder gets answers in which one field is malformed."""

import io
import json
import random
import re
import shutil
import sys
import threading
import traceback
from collections.abc import Iterator, Mapping
from contextlib import redirect_stderr, redirect_stdout
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest
from pytest_django.live_server_helper import LiveServer

from ladder.accounts import tokens
from ladder.accounts.scopes import Scope
from ladder.bots.models import Bot
from ladder.games.models import Game
from tests.games import factories as games
from tests.public_log.audited import AuditedLadder, audit_at_once
from torres.cli import audit, client
from torres.cli.main import main

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("data_dir", "committed_decks", "scripted_players"),
]
MISSING = object()
VALUES: list[Any] = [
    MISSING,
    None,
    True,
    "[/x]\x1b]0;PWNED\x07\ud800",
    10**400,
    -(10**18),
    0.5,
    [],
    {},
    [None],
    {"\x1b": {"x": []}},
]
ODD_BODIES = [
    b"",
    b"\xff",
    b"nul",
    b"null",
    b"[" * 100_000,
    b'{"next":NaN}',
    b"1" * 5000,
]
HOUSE = Path(__file__).parents[2] / "torres/house"


class Recorder(BaseHTTPRequestHandler):
    """Answers as the service did; one answer is the malformed one of the test."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # otherwise each body waits for 40 ms

    def do_GET(self) -> None:
        size = int(self.headers.get("Content-Length", 0))
        content = self.rfile.read(size)
        key = f"{self.command} {self.path}"
        server: MalformedLadder = self.server  # type: ignore[assignment]
        server.asked.append(key)
        if key not in server.answers:
            server.answers[key] = server.fetch(self, content)
        status, body = server.answers[key]
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_GET  # noqa: N815

    def log_message(self, *_: object) -> None:
        pass


class MalformedLadder(ThreadingHTTPServer):
    """A server that asks a service once for each address, and remembers its answers."""

    def __init__(self, service: str) -> None:
        super().__init__(("127.0.0.1", 0), Recorder)
        self.service = service
        self.address = f"http://127.0.0.1:{self.server_port}"
        self.answers: dict[str, tuple[int, bytes]] = {}
        self.asked: list[str] = []

    def fetch(self, asked: BaseHTTPRequestHandler, content: bytes) -> tuple[int, bytes]:
        kept = ("authorization", "content-type", "idempotency-key")
        headers = {k: v for k, v in asked.headers.items() if k.lower() in kept}
        url = self.service + asked.path
        answer = httpx.request(
            asked.command, url, headers=headers, content=content, timeout=60
        )
        return answer.status_code, answer.content


class Ran(NamedTuple):
    """The end of a command."""

    code: object
    output: str


@pytest.fixture
def server(
    live_server: LiveServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[MalformedLadder]:
    audit_at_once(monkeypatch)
    for module in (client, audit):
        monkeypatch.setattr(module, "pause", lambda _seconds: None)
    ladder = AuditedLadder(live_server.url, tmp_path / "audit")
    for _ in range(3):
        ladder.play()
    with MalformedLadder(live_server.url) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def places(value: Any) -> Iterator[tuple[Any, ...]]:
    """Yield the path of each value in a document; of a list, only of the first item."""
    yield ()
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from ((key, *path) for path in places(inner))
    elif isinstance(value, list) and value:
        yield from ((0, *path) for path in places(value[0]))


def changed(document: Any, path: tuple[Any, ...], value: Any) -> Any:
    """Return a document with another value in one place."""
    if not path:
        return None if value is MISSING else value
    copy = document.copy()
    if len(path) == 1 and value is MISSING:
        del copy[path[0]]
    else:
        copy[path[0]] = changed(copy[path[0]], path[1:], value)
    return copy


def malformed(body: bytes) -> Iterator[bytes]:
    """Yield an answer with each of its fields malformed in each way."""
    yield from ODD_BODIES
    lines = body.splitlines()
    try:
        documents = [json.loads(line) for line in lines]
    except ValueError:
        yield from (body[: len(body) // 2], body.replace(b"\n", b"\x1b\n"), body + body)
        return
    for number in {0, len(lines) - 1} if lines else set():
        for path in places(documents[number]):
            for value in VALUES:
                new = json.dumps(changed(documents[number], path, value)).encode()
                yield b"\n".join([*lines[:number], new, *lines[number + 1 :], b""])


COMMANDS = (
    "login LADDER --token TOKEN",
    "status",
    "status bot-0",
    "leaderboard main",
    "logs GAME",
    "logs SUBMISSION --submission",
    "replays FOLDER --last 1",
    "watch GAME",
    "join main bot-0",
    "submit BOT --bot bot-0 --no-check --no-wait",
    "reproduce GAME BOT --seat 0",
    "audit LADDER --folder COPY",
    "witness LADDER --folder SEEN --once",
)


def problems(ran: Ran) -> str:
    """Return what is wrong with the end of a command, or ""."""
    if ran.code not in (0, 1, 2):
        return f"exit code {ran.code}: {ran.output[-1500:]}"
    if re.search(r"[^\n\t\x20-\x7e\xa0-\U0010ffff]", ran.output):
        return f"a control character in {ran.output!r}"
    if ran.code == 2 and not re.fullmatch(r"(.*\n)*torres: .+\n", ran.output):
        return f"no sentence: {ran.output!r}"
    return ""


@pytest.mark.parametrize("most", [2, pytest.param(25, marks=[pytest.mark.soak])])
def test_a_malformed_answer_gives_one_sentence_and_an_exit_code(
    server: MalformedLadder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    token = tokens.token_for("owner-of-bot-0", scopes=Scope.READ | Scope.SUBMIT)
    monkeypatch.setenv("TORRES_TOKEN", token)
    monkeypatch.setenv("TORRES_LADDER", server.address)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "new/state"))
    game = Game.objects.filter(seats__submission__bot__slug="bot-0").earliest("pk")
    words = {
        "LADDER": server.address,
        "TOKEN": token,
        "GAME": game.pk,
        "SUBMISSION": games.newest(Bot.objects.get(slug="bot-0")).pk,
        "BOT": HOUSE / "random/bot.py",
    }
    chosen = random.Random(1)
    wrong = []
    for command in COMMANDS:
        run = partial(run_command, monkeypatch, tmp_path, command, words)
        server.asked.clear()
        honest = run()
        # The scripted players of the games play otherwise than the bot here.
        expected = 1 if command.startswith("reproduce") else 0
        assert honest.code == expected, f"{command}: {honest}"
        for asked in sorted(set(server.asked)):
            status, body = server.answers[asked]
            bodies = list(malformed(body))
            for new in chosen.sample(bodies, min(most, len(bodies))):
                server.answers[asked] = (status, new)
                if problem := problems(run()):
                    wrong.append(f"{command}: {asked}: {new[:300]!r}: {problem}")
            server.answers[asked] = (status, body)
    assert not wrong, "\n\n".join(wrong)


def run_command(
    monkeypatch: pytest.MonkeyPatch,
    folder: Path,
    command: str,
    words: Mapping[str, object],
) -> Ran:
    """Run `torres` in this process, in new folders, as a shell would."""
    shutil.rmtree(folder / "new", ignore_errors=True)
    new = {word: folder / "new" / word for word in ("FOLDER", "COPY", "SEEN")}
    argv = [str({**words, **new}.get(word, word)) for word in command.split()]
    monkeypatch.setattr(sys, "argv", ["torres", *argv])
    output = io.StringIO()
    try:
        with redirect_stdout(output), redirect_stderr(output):
            main()
    except SystemExit as end:
        return Ran(end.code, output.getvalue())
    except Exception:  # noqa: BLE001 - any of them would be a fault
        return Ran("a traceback", traceback.format_exc())
    return Ran("no exit", "")
