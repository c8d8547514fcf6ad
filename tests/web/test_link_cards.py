"""A link to a game, as a chat or a feed shows it: title, description and picture."""

from html.parser import HTMLParser
from io import BytesIO
from typing import Any

import pytest
from django.test import Client
from PIL import Image

from ladder.bots.models import Bot
from ladder.tournaments.models import Tournament
from ladder.web.pages import link_cards
from tests import factories
from tests.tournaments.factories import begun, tournament
from tests.web.test_watching import begin
from torres.drawing.frames import last_phase

pytestmark = pytest.mark.django_db
MAX_FILM_BYTES = 400_000
MAX_DESCRIPTION_CHARS = 200
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


def test_every_kind_of_page_has_what_readers_of_links_need(data_dir: object) -> None:
    """The rules of ogp.me, and the limits of the sites that show a large picture."""
    show = factories.everything()
    cup = begun({"format": "round_robin"}, 4)
    bot = show.anas.bot
    titles = {
        "/": "Torres ladder",
        f"/games/{show.game.pk}/": "Torres: Grendel ",
        f"/bots/{bot.slug}/": bot.name,
        f"/ladders/{show.season.ladder.slug}/": show.season.ladder.name,
        f"/tournaments/{cup.slug}/": cup.name,
        "/puzzles/1/": "Torres puzzle 1",
    }
    browser = Client()

    for address, title in titles.items():
        tags = MetaTags(browser.get(address).content.decode()).tags
        assert tags["og:title"].startswith(title), address
        assert tags["og:type"] == "website"
        assert tags["og:url"] == f"http://testserver{address}"
        assert tags["og:site_name"] == "Torres ladder"
        assert 0 < len(tags["og:description"]) <= MAX_DESCRIPTION_CHARS, address
        assert tags["description"] == tags["og:description"]
        assert tags["twitter:card"] == "summary_large_image"
        assert tags["og:image:alt"] == tags["twitter:image:alt"] != ""
        assert tags["og:image"] == f"http://testserver{_card(address)}"
        picture = browser.get(tags["og:image"])
        assert picture["Content-Type"] == tags["og:image:type"] == "image/png"
        assert picture["Cache-Control"].startswith("public, max-age=")
        size = (int(tags["og:image:width"]), int(tags["og:image:height"]))
        assert Image.open(BytesIO(picture.content)).size == size == (1200, 630)
        assert len(picture.content) <= MAX_BYTES


def _card(address: str) -> str:
    return "/ladders/main/card.png" if address == "/" else f"{address}card.png"


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The title, the text and the rows of each card that is drawn."""
    texts: list[Any] = []

    def draw(title: str, text: str, rows: list[Any]) -> bytes:
        texts.append((title, text, [tuple(row) for row in rows]))
        return b"a picture"

    monkeypatch.setattr(link_cards.cards, "table_card", draw)
    return texts


def test_the_card_of_a_bot_has_its_place_and_its_results(
    data_dir: object, drawn: list[Any]
) -> None:
    show = factories.everything()
    own, other = show.game.seats.order_by("number")
    place = {1: "1st", 2: "2nd"}[own.rank]

    Client().get(f"/bots/{show.anas.bot.slug}/card.png")

    text = "Rank 1 on Main ladder, rating 27.00 after 12 games."
    # The font of the pictures lacks no letter of the hostile name.
    row = (place, f"against {factories.HOSTILE}", f"{own.score} : {other.score}")
    assert drawn == [("Grendel", text, [row])]


def test_the_card_of_a_ladder_is_drawn_anew_only_after_it_has_changed(
    data_dir: object, drawn: list[Any]
) -> None:
    show = factories.everything()
    for _ in range(2):
        Client().get("/ladders/main/card.png")
    Bot.objects.filter(pk=show.anas.bot_id).update(name="グレンデル")
    Client().get("/ladders/main/card.png")

    hostile = ("2.", factories.HOSTILE, "23.00")
    text = "Season 1, open, with 2 bots."
    assert drawn == [
        ("Main ladder", text, [("1.", name, "27.00"), hostile])
        for name in ("Grendel", "grendel")
    ]


def test_bots_that_are_gone_and_drafts_have_no_card(data_dir: object) -> None:
    show = factories.everything()
    bot = show.anas.bot
    cup = tournament({"format": "swiss"})
    Tournament.objects.update(status="draft")
    addresses = [f"/bots/{bot.slug}/card.png", f"/tournaments/{cup.slug}/card.png"]
    addresses += ["/bots/nobody/card.png", "/ladders/none/card.png"]
    assert Client().get(addresses[0]).status_code == 200

    for gone in ({"status": "banned"}, {"status": "withdrawn", "owner": None}):
        Bot.objects.filter(pk=bot.pk).update(**gone)
        assert [Client().get(each).status_code for each in addresses] == [404] * 4
        tags = MetaTags(Client().get(f"/bots/{bot.slug}/").content.decode()).tags
        assert "og:image" not in tags


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

    monkeypatch.setattr(link_cards.cards, "game_card", refuse)

    assert Client().get(address).content == first.content
    known = {"HTTP_IF_NONE_MATCH": first["ETag"]}
    assert Client().get(address, **known).status_code == 304


def test_the_last_phase_is_a_download_turn_by_turn(data_dir: object) -> None:
    show = factories.everything()
    game = show.game
    address = f"/games/{game.pk}/last-phase.gif"
    page = Client().get(f"/games/{game.pk}/").content.decode()
    assert f'<a href="{address}" download="game-{game.pk}.gif">' in page

    answer = Client().get(address)

    assert answer["Content-Type"] == "image/gif"
    assert len(answer.content) <= MAX_FILM_BYTES
    positions = Client().get(f"/games/{game.pk}/frames.json").json()["frames"]
    shown = last_phase(positions, 24)
    assert {frame["phase"] for frame in shown} == {positions[-1]["phase"]}
    assert [f["action"] for f in shown[1:-1]].count("end") == len(shown) - 2
    assert shown[-1] == positions[-1]
    with Image.open(BytesIO(answer.content)) as film:
        assert film.n_frames == len(shown)
    assert Client().get(address, HTTP_IF_NONE_MATCH=answer["ETag"]).status_code == 304


def test_an_address_gets_only_some_animations_in_a_minute(
    data_dir: object, settings: Any
) -> None:
    show = factories.everything()
    settings.TORRES_RATES = {**settings.TORRES_RATES, "replay": 1}
    asked = [Client().get(f"/games/{show.game.pk}/last-phase.gif") for _ in range(2)]

    assert [answer.status_code for answer in asked] == [200, 429]


def test_an_animation_has_a_limit_of_frames() -> None:
    turn = {"phase": 3, "ends_turn": True}
    positions = [{"phase": 2}, {"phase": 3}, *[turn] * 99, {"phase": 3, "over": True}]

    assert len(last_phase(positions, 24)) == 24
    assert last_phase(positions, 24)[-1]["over"]
    assert last_phase([{"phase": 0}], 24) == [{"phase": 0}]


def test_a_game_that_is_not_over_has_no_picture(data_dir: object) -> None:
    show = factories.everything()
    game, _ = begin(show.waiting)

    assert Client().get(f"/games/{game.pk}/card.png").status_code == 404
    assert Client().get(f"/games/{game.pk}/last-phase.gif").status_code == 404
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
