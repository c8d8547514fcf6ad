"""Readers who hide results learn none, whatever they ask for.

A crawler asks for the address of every route. Then all games and tournaments end
otherwise, and it asks again: every answer is the same, to the byte.
"""

import html
import json
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from django.core.cache import caches
from django.db import transaction
from django.db.models import F
from django.test import Client
from django.urls import URLResolver, get_resolver
from playwright.sync_api import Page, Route, expect
from pytest_django import Settings

from ladder.accounts import scopes, tokens
from ladder.events.models import Fact
from ladder.extras.analysis.models import Analysis
from ladder.games import replays
from ladder.games.models import Game, GameStatus
from ladder.ratings.models import Rating, SecondOpinionRow
from ladder.tournaments.models import Fixture, FixtureSeat, Tournament
from ladder.tournaments.services import enter, start
from ladder.web.middleware import hidden_results
from ladder.web.pages import tournament_steps
from tests import factories
from tests.factories import Show
from tests.games.factories import bot
from tests.tournaments.factories import tick, tournament
from tests.web import sitemap
from tests.web.test_watching import begin
from torres.common.pause import pause

SIZE = sitemap.SMALL | {"bots": 16, "games": 40}
"""Tournaments have four entrants, so some have a second round."""
MARK = 7331
"""The new score of each winner, and about the new rating of each bot."""
# The token of a form is another one in each answer.
NONCE = re.compile(r'name="csrfmiddlewaretoken" value="\w+"')
TELLING = (
    *(
        "GET /",
        "GET /games/",
        "GET /tv/",
        "GET /ladders/main/",
        "GET /games/?before=20",
    ),
    *("GET /tournaments/cup-1/", "GET /tournaments/cup-2/?round=2", "GET /games/9/"),
    *("GET /api/v1/games/", "GET /ladders/main/", "GET /ladders/main/feed.atom"),
)
"""Some answers that tell results to readers who do not hide them."""

MORE = (
    *("/tournaments/cup-2/", "/tournaments/cup-3/", "/tournaments/cup-2/?round=2"),
    *("/games/?before=20", "/games/?bot=bot-9", "/tv/?stage=1", "/games/9/"),
)
"""Addresses that are not in the site map."""
Answers = dict[str, tuple[int, str]]


class CrawlReader(NamedTuple):
    """A person, who hides results by the "cookie", by the "query", or not at all."""

    name: str
    way: str
    cookies: dict[str, str]
    token: str
    methods: tuple[str, ...]


def reader_of(name: str, way: str, *methods: str) -> CrawlReader:
    cookies = {"results": "hidden"} if way == "cookie" else {}
    if not name:
        return CrawlReader(name, way, cookies, "", methods)
    cookies["sessionid"] = sitemap.session_cookie(name)
    return CrawlReader(
        name, way, cookies, tokens.token_for(name, scopes=scopes.ALL), methods
    )


def ask_all(addresses: Iterable[str], reader: CrawlReader) -> Answers:
    """Return the status and the text of each answer, by method and address."""
    client = Client(raise_request_exception=False)
    headers = {"Authorization": f"Bearer {reader.token}"} if reader.token else {}
    answers = {}
    for address in addresses:
        sent = headers if address.startswith("/api/") else {}
        query = "results=hidden" if reader.way == "query" else ""
        asked = f"{address}{'&' if '?' in address else '?'}{query}"
        for method in reader.methods:
            for each in caches.all():
                each.clear()
            client.cookies.load(reader.cookies)  # the last answer may have changed them
            with transaction.atomic():
                response = getattr(client, method)(asked, {}, headers=sent)
                transaction.set_rollback(True)
            answers[f"{method.upper()} {address}"] = read(response)
    return answers


def read(response: Any) -> tuple[int, str]:
    parts = response.streaming_content if response.streaming else [response.content]
    text = b"".join(parts).decode("latin-1") + response.headers.get("Location", "")
    return response.status_code, NONCE.sub("", text)


def change_results() -> None:
    """Let every game go on otherwise after its first half, and have other winners.

    So have the tournaments, of which only the first rounds stay.
    """
    for game in Game.objects.filter(status=GameStatus.FINISHED):
        replay = other_end(bytes(game.replay or b""))
        Game.objects.filter(pk=game.pk).update(
            reason="last_standing", note="A note about the end.", replay=replay
        )
        last = game.seats.count() + 1
        game.seats.update(
            rank=last - F("rank"), score=F("score") + F("rank"), tied=False
        )
        game.seats.filter(rank=1).update(score=MARK, fault="timeout")
    Rating.objects.update(mu=MARK - F("mu"), games=99, forfeits=9)
    SecondOpinionRow.objects.update(value=0, best=1, worst=9, top=0.5)
    FixtureSeat.objects.update(points="7/3", score=MARK + F("number"))
    FixtureSeat.objects.filter(fixture__round__gt=1).delete()
    Fixture.objects.filter(round__gt=1).delete()
    Fact.objects.update(data={"other": MARK})
    Analysis.objects.all().delete()


@cache
def other_end(stored: bytes) -> bytes:
    """Return a stored replay without the second half of its moves."""
    replay = json.loads(replays.unpack(stored))
    replay["moves"] = replay["moves"][: len(replay["moves"]) // 2]
    replay["result"]["ranks"].reverse()
    return replays.pack(replay)


@pytest.fixture
def _no_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let pages say the same of a time whenever they are asked."""
    monkeypatch.setattr(tournament_steps, "in_words", lambda at: "soon")


@pytest.mark.slow
@pytest.mark.django_db
@pytest.mark.usefixtures("_no_clock")
def test_no_answer_follows_from_a_result(data_dir: Path) -> None:
    sitemap.fill(SIZE)
    Tournament.objects.filter(slug="cup-2").update(status="running")
    addresses = [*sitemap.addresses().values(), *MORE]
    readers = {
        "a visitor": reader_of("", "query", "get"),
        "an operator": reader_of("olga", "cookie", "get", "post"),
        "openly": reader_of("olga", "", "get"),
    }
    before = {name: ask_all(addresses, each) for name, each in readers.items()}
    change_results()
    after = {name: ask_all(addresses, each) for name, each in readers.items()}
    changed = {
        name: {key for key, answer in answers.items() if answer != before[name][key]}
        for name, answers in after.items()
    }

    assert changed["openly"] >= set(TELLING)
    assert changed | {"openly": set()} == {name: set() for name in readers}


@pytest.fixture
def reader(show: Show) -> Client:
    """A browser that hides results."""
    client = Client()
    client.cookies["results"] = "hidden"
    return client


def test_the_footer_remembers_the_choice_and_leads_back(show: Show) -> None:
    client = Client(enforce_csrf_checks=True)  # pages that visitors share have no token
    page = {"Referer": "http://testserver/games/?before=90&results=shown"}

    hide = client.post("/results/", {"results": "hidden"}, headers=page)
    assert hide["Location"] == "/games/?before=90"
    assert hide.cookies["results"]["max-age"] > 300 * 24 * 3600
    assert "You hide results." in client.get("/sign-in/").content.decode()
    client.post("/results/", {"results": "shown"}, headers=page)
    assert "You hide results." not in client.get("/sign-in/").content.decode()


def test_the_choice_leads_to_no_other_site(show: Show) -> None:
    for address in ("https://example.org/", "http://testserver//example.org/", ""):
        headers = {"Referer": address}
        answer = Client().post("/results/", {"results": "hidden"}, headers=headers)
        assert answer["Location"] in ("/", "/example.org/")


def test_a_closed_page_can_be_shown_alone(reader: Client) -> None:
    closed = reader.get("/ladders/main/?q=gren").content.decode()
    link = re.search(r'href="(/ladders/main/[^"]*)"', closed)
    assert link is not None
    opened = reader.get(html.unescape(link[1])).content.decode()

    assert "<h1>This page shows results</h1>" in closed
    assert "Grendel" not in closed
    assert "Grendel" in opened
    assert reader.get("/ladders/main/").status_code == 403


@pytest.mark.parametrize(
    "address",
    [
        *("/api/v1/games/", "/api/v1/events/?limit=9", "/ladders/main/feed.atom"),
        *("/api/v1/ladders/main/leaderboard/", "/games/1/card.png"),
        *("/live/stream/", "/oembed/?url=http://testserver/games/1/"),
    ],
)
def test_a_program_gets_a_problem(reader: Client, address: str) -> None:
    other = "&" if "?" in address else "?"
    for answer in (
        reader.get(address),
        Client().get(f"{address}{other}results=hidden"),
    ):
        assert answer.status_code == 403
        assert answer["Content-Type"] == "application/problem+json"
        assert answer.json()["code"] == "results-hidden"
        assert "Cookie" in answer["Vary"]
    shown = reader.get(f"{address}{other}results=shown").status_code
    assert shown == (404 if "stream" in address else 200)  # this server has no streams


def test_a_form_is_received_although_its_page_is_closed(ana_hides: Client) -> None:
    form = {"name": "Second"}

    assert ana_hides.post("/me/bots/", form)["Location"] == "/bots/second/"
    refused = ana_hides.post("/ladders/main/challenge/", {})
    assert refused.status_code == 403
    assert "Grendel" not in refused.content.decode()


@pytest.fixture
def ana_hides(visit: Callable[[str], Client], show: Show) -> Client:
    client = visit("ana")
    client.cookies["results"] = "hidden"
    return client


def test_shared_pages_keep_readers_apart(show: Show, settings: Settings) -> None:
    settings.TORRES_FRESH_SECONDS = 60
    caches["pages"].clear()
    hiding, another = Client(), Client()
    for client in (hiding, another):
        client.cookies["results"] = "hidden"
    openly = Client().get("/")
    hidden = hiding.get("/", headers={"If-None-Match": openly["ETag"]})
    show.anas.bot.name = "Renamed"
    show.anas.bot.save()

    assert "The best bots" in openly.content.decode()
    assert "The best bots" not in hidden.content.decode()
    assert another.get("/").content == hidden.content
    assert Client().get("/").content == openly.content
    assert "Cookie" in openly["Vary"]


def test_caches_keep_answers_about_games_apart(show: Show) -> None:
    for name in ("frames.json", "board.svg", "card.png"):
        answer = Client().get(f"/games/{show.game.pk}/{name}")
        assert "Cookie" in answer["Vary"], name


def test_the_frames_come_in_parts_and_the_last_one_alone(
    reader: Client, show: Show
) -> None:
    address = f"/games/{show.game.pk}/frames.json"
    everything = Client().get(address).json()["frames"]
    parts = []
    while not parts or not parts[-1]["over"]:
        after = sum(len(part["frames"]) for part in parts)
        parts.append(reader.get(f"{address}?after={after}").json())

    assert [frame for part in parts for frame in part["frames"]] == everything
    assert len(parts) > 2
    assert len(parts[-1]["frames"]) == 1


def test_a_running_game_begins_at_its_beginning_too(reader: Client, show: Show) -> None:
    game, _ = begin(show.waiting, moves=9)
    page = reader.get(f"/games/{game.pk}/").content.decode()
    part = reader.get(f"/games/{game.pk}/frames.json").json()

    assert "data-stream" not in page
    assert 'class="turn' not in page
    assert (part["over"], len(part["frames"])) == (False, 10)
    assert reader.get(f"/games/{game.pk}/frames.json?after=10").json()["frames"] == []


def test_a_page_shows_turns_up_to_its_position(reader: Client, show: Show) -> None:
    address = f"/games/{show.game.pk}/"
    lists = [
        re.findall(r'class="did" href="([^"]*)"', reader.get(each).content.decode())
        for each in (address, f"{address}?ply=1", f"{address}?ply=2")
    ]

    assert [len(turns) for turns in lists] == [0, 1, 2]
    assert lists[1] == ["?results=hidden&amp;ply=1"]
    assert (
        "of"
        not in re.search(r"Position after [^<]*", reader.get(address).content.decode())[
            0
        ].split()
    )


def test_a_game_without_turns_shows_nothing(reader: Client, show: Show) -> None:
    replay = json.loads(replays.unpack(bytes(show.game.replay or b"")))
    replay["moves"] = []
    Game.objects.filter(pk=show.game.pk).update(replay=replays.pack(replay))

    page = reader.get(f"/games/{show.game.pk}/").content.decode()

    assert "This game has no turns to show." in page
    assert reader.get(f"/games/{show.game.pk}/frames.json").json()["frames"] == []


def test_a_tournament_shows_its_first_round(data_dir: Path, db: None) -> None:
    row = tournament({"format": "single_elimination"}, slug="cup")
    for number in range(4):
        enter(row, bot(f"entrant-{number}", f"owner-{number}"))
    start(row)
    for _ in range(4):
        tick(slots=8)
        for game in Game.objects.filter(status=GameStatus.SCHEDULED):
            factories.play(game)
    assert row.fixtures.filter(round=2).exists()

    openly = Client().get("/tournaments/cup/").content.decode()
    hidden = Client().get("/tournaments/cup/?results=hidden").content.decode()

    assert "<h2>Round 2" in openly
    assert "<h2>Round 2" not in hidden
    assert "<h2>Round 1" in hidden
    first = Game.objects.filter(match__fixture__round=1).earliest("pk")
    assert f'href="/games/{first.pk}/"' in hidden


def route_names(resolver: URLResolver, space: str = "") -> Iterator[str]:
    for pattern in resolver.url_patterns:
        if isinstance(pattern, URLResolver):
            inner = f"{pattern.namespace}:" if pattern.namespace else ""
            yield from route_names(pattern, space + inner)
        else:
            yield f"{space}{pattern.name}"


def test_the_table_names_routes() -> None:
    """A route that was renamed would be closed for no reason."""
    names = set(route_names(get_resolver()))

    assert names >= hidden_results.FREE | hidden_results.HIDING


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_the_viewer_goes_on_to_the_result(page: Page) -> None:
    show = factories.everything()
    replay = json.loads(replays.unpack(bytes(show.game.replay or b"")))
    last = sum(len(move["actions"]) for move in replay["moves"])
    page.goto("/games/")
    page.get_by_role("button", name="Hide results").click()
    page.goto(f"/games/{show.game.pk}/")

    expect(page.locator("#description")).to_have_text("The game begins.")
    expect(page.locator("#turns li.turn")).to_have_count(0)
    page.get_by_role("button", name="Next turn").click()
    expect(page.locator("#turns li.turn")).to_have_count(1)
    page.locator("#on").click()
    expect(page.locator("#turns li.turn")).to_have_count(2)
    expect(page.locator("#count")).not_to_contain_text("of")
    page.goto(f"/games/{show.game.pk}/#ply={last - 1}")
    page.reload()
    expect(page.locator("#at")).to_have_value(str(last - 1))
    expect(page.locator("#moment")).not_to_contain_text("wins")
    page.locator("#on").click()
    expect(page.locator("#moment")).to_contain_text(re.compile("wins|share"))
    expect(page.locator("#count")).to_have_text(f"{last} of {last}")


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_the_viewer_keeps_an_address_that_somebody_asked_for(page: Page) -> None:
    """Its positions come late; meanwhile the viewer wrote an earlier ply over it."""

    def answer_late(route: Route) -> None:
        pause(1.0)
        route.continue_()

    show = factories.everything()
    page.goto("/games/")
    page.get_by_role("button", name="Hide results").click()
    page.goto(f"/games/{show.game.pk}/")
    page.locator("#on").click()
    expect(page.locator("#at")).to_have_value("1")
    page.route(re.compile("after="), answer_late)
    page.evaluate(
        """async () => {
          for (let step = 0; step < 3; step += 1) {
            document.getElementById("on").click();
            await new Promise((done) => setTimeout(done, 10));
          }
          location.hash = "#ply=100";
          window.seen = new Set();
          setInterval(() => window.seen.add(location.hash), 5);
        }"""
    )

    expect(page.locator("#at")).to_have_value("100")
    assert page.evaluate("[...window.seen]") == ["#ply=100"]
