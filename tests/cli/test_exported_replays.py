"""The client of exports goes on where a part ended or was cut off."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import httpx
import pytest

from torres.cli import client as client_module
from torres.cli.client import LadderClient, Login, RemoteError

Answer = Callable[[str | None], httpx.Response]
"""Answers a request with this cursor."""


def line(number: int) -> str:
    return json.dumps({"cursor": str(number), "id": number, "replay": {}}) + "\n"


def end(following: str | None) -> str:
    return json.dumps({"end": True, "next": following}) + "\n"


@contextmanager
def client(answer: Answer, monkeypatch: pytest.MonkeyPatch) -> Iterator[LadderClient]:
    """Return a client whose requests for exports are answered by a function."""

    def handle(request: httpx.Request) -> httpx.Response:
        assert request.url.path == "/api/v1/exports/replays/"
        assert request.url.params["bot"] == "my-bot"
        return answer(request.url.params.get("cursor"))

    monkeypatch.setattr(client_module, "pause", lambda _: None)
    with LadderClient(Login("http://ladder.test", "")) as ladder:
        transport = httpx.MockTransport(handle)
        ladder._http = httpx.Client(
            base_url="http://ladder.test/api/v1/", transport=transport
        )
        yield ladder


def numbers(ladder: LadderClient) -> list[int]:
    return [row["id"] for row in ladder.exported_replays(bot="my-bot")]


def test_parts_that_end_or_are_cut_off_are_joined(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    parts = {
        None: line(9) + line(8)[:-5],  # cut off within a line
        "9": line(8) + line(7),  # cut off between two lines
        "7": line(6) + end("6"),
        "6": line(5) + end(None),
    }
    asked: list[str | None] = []

    def answer(cursor: str | None) -> httpx.Response:
        asked.append(cursor)
        if asked == [None, "9"]:  # a killed reader may still have its place
            return httpx.Response(429, headers={"Retry-After": "2"}, json={})
        return httpx.Response(200, text=parts[cursor])

    with client(answer, monkeypatch) as ladder:
        assert numbers(ladder) == [9, 8, 7, 6, 5]
    assert asked == [None, "9", "9", "7", "6"]


def test_a_ladder_that_always_cuts_off_is_given_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with (
        client(lambda _: httpx.Response(200, text="{"), monkeypatch) as ladder,
        pytest.raises(RemoteError, match="does not answer"),
    ):
        numbers(ladder)


def test_a_refusal_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    refusal = {"detail": "bot: There is no bot 'my-bot'."}
    with (
        client(lambda _: httpx.Response(400, json=refusal), monkeypatch) as ladder,
        pytest.raises(RemoteError, match="There is no bot"),
    ):
        numbers(ladder)
