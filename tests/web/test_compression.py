"""Responses are compressed for clients that accept it, shared ones once."""

import gzip
import json

import pytest
from django.conf import settings
from django.test import Client

from tests import factories
from tests.factories import Show

STATIC = [
    settings.BASE_DIR / folder
    for folder in ("ladder/web/static", "torres/viewer/static")
]

GZIP = {"HTTP_ACCEPT_ENCODING": "br, gzip"}


@pytest.mark.parametrize("fresh_s", [0, 5])
@pytest.mark.parametrize("address", ["/", "/api/v1/bots/", "/games/{}/frames.json"])
def test_a_client_gets_what_it_accepts(
    client: Client, show: Show, settings, address: str, fresh_s: int
) -> None:
    settings.TORRES_FRESH_SECONDS = fresh_s
    path = address.format(show.game.pk)

    for _ in range(2):  # the second one may be shared
        packed = client.get(path, **GZIP)
        plain = client.get(path)
        assert packed["Content-Encoding"] == "gzip"
        assert not plain.has_header("Content-Encoding")
        assert gzip.decompress(packed.content) == plain.content
        assert len(packed.content) < len(plain.content)
        assert "Accept-Encoding" in packed["Vary"]


def test_a_packed_response_is_validated_by_its_tag(client: Client, show: Show) -> None:
    path = f"/games/{show.game.pk}/frames.json"
    packed = client.get(path, **GZIP)
    again = client.get(path, HTTP_IF_NONE_MATCH=packed["ETag"], **GZIP)

    assert json.loads(gzip.decompress(packed.content))["over"] is True
    assert (again.status_code, again.content) == (304, b"")


def test_the_viewer_of_a_long_game_needs_at_most_150_kb(client: Client, db) -> None:
    """The page, the positions and the modules of a game with four seats."""
    names = ("one", "two", "three", "four")
    match = factories.make_match(*(factories.make_bot(name) for name in names))
    page = f"/games/{match.games.get().pk}/"

    sent = [client.get(path, **GZIP).content for path in (page, f"{page}frames.json")]
    files = (path for part in STATIC for path in (settings.BASE_DIR / part).rglob("*"))
    modules = [path.read_bytes() for path in files if path.is_file()]

    packed = [gzip.compress(each) for each in modules]
    assert sum(map(len, [*sent, *packed])) <= 150_000
