"""A link to a game, as a chat or a feed shows it: title, description and picture."""

from html.parser import HTMLParser
from io import BytesIO
from typing import Any

import pytest
from django.test import Client
from PIL import Image

from ladder.bots.models import Bot
from ladder.web.pages import watching
from tests import factories
from tests.web.test_watching import begin

pytestmark = pytest.mark.django_db
MAX_BYTES = 100_000
"""Readers of links refuse large pictures; some stop at 300 KB."""


class MetaTags(HTMLParser):
    """Collects the `meta` tags of a page by their property or name, and its oEmbed."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: dict[str, str] = {}
        self.oembed = ""
        self.frame: dict[str, str | None] = {}
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        name = found.get("property") or found.get("name")
        if tag == "meta" and name:
            assert name not in self.tags
            self.tags[name] = found["content"] or ""
        if found.get("type") == "application/json+oembed":
            self.oembed = found["href"] or ""
        if tag == "iframe":
            self.frame = found


def test_a_link_to_a_game_has_a_picture(data_dir: object) -> None:
    show = factories.everything()
    browser = Client()

    tags = MetaTags(browser.get(f"/games/{show.game.pk}/").content.decode()).tags

    seat = show.game.seats.select_related("submission__bot").all()[0]
    assert f"{seat.submission.bot.name} {seat.score}" in tags["og:title"]
    assert tags["og:url"] == f"http://testserver/games/{show.game.pk}/"
    assert tags["og:description"]
    assert tags["twitter:card"] == "summary_large_image"
    picture = browser.get(tags["og:image"])
    assert picture["Content-Type"] == tags["og:image:type"] == "image/png"
    size = (int(tags["og:image:width"]), int(tags["og:image:height"]))
    assert Image.open(BytesIO(picture.content)).size == size == (1200, 630)
    assert len(picture.content) <= MAX_BYTES


def test_names_are_texts_in_tags_and_pictures(data_dir: object) -> None:
    show = factories.everything()
    seat = show.game.seats.all()[0]
    name = '"><script>alert(1)</script> 日本'
    Bot.objects.filter(pk=seat.submission.bot_id).update(name=name)
    browser = Client()

    page = browser.get(f"/games/{show.game.pk}/").content.decode()

    assert name in MetaTags(page).tags["og:title"]
    assert "<script>alert" not in page
    assert browser.get(f"/games/{show.game.pk}/card.png").status_code == 200


def test_the_picture_is_drawn_once(
    data_dir: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    show = factories.everything()
    address = f"/games/{show.game.pk}/card.png"
    first = Client().get(address)

    def refuse(*_: Any) -> bytes:
        raise AssertionError("it is drawn again")

    monkeypatch.setattr(watching.raster, "card", refuse)

    assert Client().get(address).content == first.content
    known = {"HTTP_IF_NONE_MATCH": first["ETag"]}
    assert Client().get(address, **known).status_code == 304


def test_a_game_that_is_not_over_has_no_picture(data_dir: object) -> None:
    show = factories.everything()
    game, _ = begin(show.waiting)

    assert Client().get(f"/games/{game.pk}/card.png").status_code == 404
    page = Client().get(f"/games/{game.pk}/").content.decode()
    tags = MetaTags(page).tags
    assert "og:image" not in tags
    assert tags["og:site_name"] == "Torres ladder"


def test_a_site_learns_how_to_show_a_game(data_dir: object) -> None:
    show = factories.everything()
    browser = Client()
    text = browser.get(f"/games/{show.game.pk}/").content.decode()
    assert "width=&quot;900&quot; height=&quot;640&quot;" in text
    page = MetaTags(text)

    answer = browser.get(f"{page.oembed}&maxwidth=400").json()
    whole = browser.get(page.oembed).json()

    assert (answer["version"], answer["type"]) == ("1.0", "rich")
    assert (answer["width"], whole["width"]) == (400, 900)
    frame = MetaTags(whole["html"]).frame
    assert (frame["width"], frame["height"]) == ("900", "640")
    embedded = browser.get(frame["src"])
    assert embedded.status_code == 200
    assert "X-Frame-Options" not in embedded


@pytest.mark.parametrize(
    ("url", "status"),
    [
        ("http://elsewhere.test/games/GAME/", 404),
        ("http://testserver/bots/", 404),
        ("http://testserver/no-such-page/", 404),
        ("http://testserver/games/999999/", 404),
        ("javascript://testserver/games/GAME/", 404),
        ("http://[::1/games/GAME/", 404),
        ("", 404),
        ("http://testserver/games/GAME/embed/", 200),
        ("https://testserver/games/GAME/", 200),
    ],
)
def test_only_games_of_this_site_are_embedded(
    data_dir: object, url: str, status: int
) -> None:
    show = factories.everything()
    asked = {"url": url.replace("GAME", str(show.game.pk))}

    assert Client().get("/oembed/", asked).status_code == status
    assert Client().get("/oembed/", {**asked, "format": "xml"}).status_code == 501
