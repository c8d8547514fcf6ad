"""The viewer on other pages: in a frame of another site, and for a replay file."""

import json
import re
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from tests.engine.factories import random_replay
from tests.factories import HOSTILE, Show


@pytest.fixture
def replay() -> dict[str, Any]:
    return random_replay("yucata", 3, "page")


def send(client: Client, data: bytes, name: str = "game.json") -> Any:
    return client.post("/replay/", {"replay": SimpleUploadedFile(name, data)})


def test_only_the_embedded_game_may_be_framed(client: Client, show: Show) -> None:
    embedded = client.get(f"/games/{show.game.pk}/embed/")
    page = client.get(f"/games/{show.game.pk}/")

    assert "frame-ancestors" not in embedded["Content-Security-Policy"]
    assert "script-src 'self'" in embedded["Content-Security-Policy"]
    assert "X-Frame-Options" not in embedded
    assert "frame-ancestors 'none'" in page["Content-Security-Policy"]
    assert page["X-Frame-Options"] == "DENY"
    text = embedded.content.decode()
    assert f'data-frames="/games/{show.game.pk}/frames.json"' in text
    assert "<form" not in text
    assert HOSTILE not in text
    assert "Set-Cookie" not in embedded


def test_a_game_without_a_position_cannot_be_embedded(
    client: Client, show: Show
) -> None:
    waiting = show.waiting.games.get()

    assert client.get(f"/games/{waiting.pk}/embed/").status_code == 404
    assert client.get("/games/999999/embed/").status_code == 404


def test_the_page_of_a_game_says_how_to_embed_it(client: Client, show: Show) -> None:
    text = client.get(f"/games/{show.game.pk}/").content.decode()

    address = f"http://testserver/games/{show.game.pk}/embed/"
    assert f"&lt;iframe src=&quot;{address}&quot;" in text


def test_a_replay_file_is_shown_and_not_stored(
    client: Client, db: None, data_dir, replay: dict[str, Any]
) -> None:
    replay["players"][0]["name"] = HOSTILE
    before = sorted(data_dir.rglob("*"))

    page = send(client, json.dumps(replay).encode())

    text = page.content.decode()
    assert page.status_code == 200
    found = re.search(
        r'<script id="frames" type="application/json">(.*?)</script>', text
    )
    assert found is not None
    document = json.loads(found[1])
    assert document["players"][0] == HOSTILE
    assert HOSTILE not in text
    assert document["frames"][-1]["over"] is True
    listed = re.findall(r'<code class="did">(.*?)</code>', text)
    actions = [action for turn in listed for action in turn.split("  ·  ")]
    assert actions == [a for move in replay["moves"] for a in move["actions"]]
    assert sorted(data_dir.rglob("*")) == before


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "The submitted file is empty."),
        (b"\x00\xff", "This file cannot be read"),
        (b"{", "This file cannot be read"),
        (b"[" * 60_000, "it is nested too deeply"),
        (b"[]", "This replay is invalid"),
        (b'{"setup": {}}', "This replay is invalid"),
    ],
)
def test_a_file_that_is_no_replay_is_refused_with_the_reason(
    client: Client, db: None, data_dir, data: bytes, message: str
) -> None:
    page = send(client, data, f"{HOSTILE}.json")

    assert page.status_code == 422
    assert message in page.content.decode()
    assert HOSTILE not in page.content.decode()


def test_a_forged_replay_is_refused(
    client: Client, db: None, data_dir, replay: dict[str, Any]
) -> None:
    replay["scoring"][0]["scores"][0] += 1

    page = send(client, json.dumps(replay).encode())

    assert page.status_code == 422
    assert "This replay is invalid" in page.content.decode()


def test_no_file_and_too_many_files_are_refused(
    client: Client, db: None, data_dir, settings, replay: dict[str, Any]
) -> None:
    assert client.post("/replay/").status_code == 422
    settings.TORRES_RATES = settings.TORRES_RATES | {"replay": 1}
    data = json.dumps(replay).encode()
    codes = [send(client, data).status_code for _ in range(3)]
    assert codes[-1] == 429
