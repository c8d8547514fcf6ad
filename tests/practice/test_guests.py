"""People play without an account: quotas, cookies, deletion, and what sign-up keeps."""

from datetime import timedelta
from http.cookies import SimpleCookie

import pytest
from django.core.cache import cache, caches
from django.db import connection
from django.db.models.functions import Now
from django.test import Client
from django.test.utils import CaptureQueriesContext
from playwright.sync_api import Browser, expect

from engine.position_text import MAX_CHARS
from ladder.accounts import tokens
from ladder.common.retention import RetentionRule
from ladder.dispatch import retention
from ladder.extras.practice import claims, guests, selectors, services
from ladder.extras.practice.models import (
    PracticeGame,
    PracticeMove,
    PracticeOpponent,
    PracticeStatus,
)
from ladder.games.models import Game, Match
from ladder.ratings.ladders import ensure_default_ladder
from ladder.ratings.models import Entry
from ladder.web.pages import guest_cookie
from tests import browser
from tests.accounts.conftest import PASSWORD
from tests.practice import factories

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _a_house_bot(settings) -> None:
    settings.TORRES_SIGN_UP = "open"
    cache.clear()
    factories.make_house()


def begin(client: Client, address: str = "192.0.2.1") -> PracticeGame:
    answer = client.post("/play/guest/", REMOTE_ADDR=address)
    assert answer.status_code == 302, answer.content.decode()
    game = PracticeGame.objects.latest("pk")
    assert answer.url == f"/play/{game.pk}/"
    return game


def refusal(client: Client, address: str = "192.0.2.1") -> str:
    answer = client.post("/play/guest/", REMOTE_ADDR=address)
    assert answer.status_code == 422, answer.headers
    return answer.content.decode()


def addresses_of(game: PracticeGame) -> list[str]:
    ends = ("", "state.json", "frames.json", "replay.json", "board.svg")
    return [f"/play/{game.pk}/{end}" for end in ends]


def rule() -> RetentionRule:
    return next(one for one in retention.rules() if one.name == "games of guests")


def test_a_guest_plays_a_whole_game_that_is_not_rated() -> None:
    ensure_default_ladder()
    entries = Entry.objects.count()
    client = Client()
    game = begin(client)

    with factories.hosting():
        ended = factories.answer(game)

    assert ended.status == PracticeStatus.FINISHED
    assert ended.owner is None
    assert [client.get(each).status_code for each in addresses_of(game)[:4]] == [
        200
    ] * 4
    players = client.get(f"/play/{game.pk}/replay.json").json()["players"]
    assert {"name": "Guest"} in players
    assert ended.opponents.get().notes == []
    assert "Sign up</a> or" in client.get(f"/play/{game.pk}/").content.decode()
    assert not Match.objects.exists()
    assert not Game.objects.exists()
    assert Entry.objects.count() == entries


def test_only_the_guest_sees_the_game() -> None:
    game = begin(Client())
    other_guest, ana = Client(), Client()
    begin(other_guest)
    ana.post("/sign-in/", {"token": tokens.token_for("ana")})

    for address in addresses_of(game):
        assert other_guest.get(address).status_code == 404
        assert ana.get(address).status_code == 404
        assert Client().get(address).url == f"/sign-in/?next={address}"
    for action in ("answers/", "preview/", "hints/", "give-up/"):
        assert other_guest.post(f"/play/{game.pk}/{action}").status_code == 404
        assert ana.post(f"/play/{game.pk}/{action}").status_code == 404
        assert Client().post(f"/play/{game.pk}/{action}").status_code == 302
    assert factories.fresh(game).is_open


def test_a_forged_or_expired_cookie_is_refused(settings) -> None:
    client = Client()
    game = begin(client)
    cookie = client.cookies[guest_cookie.COOKIE].value
    key, _, signature = cookie.partition(":")
    assert (key, len(key)) == (game.guest, 32)
    for forged in (f"{'0' * 32}:{signature}", key, "", "x:y:z", "\x00"):
        client.cookies = SimpleCookie({guest_cookie.COOKIE: forged})
        answer = client.get(f"/play/{game.pk}/")
        assert answer.status_code == 403
        assert "Begin a new one on the page Play" in answer.content.decode()
        assert "Play without an account" in client.get("/play/").content.decode()

    client.cookies = SimpleCookie({guest_cookie.COOKIE: cookie})
    settings.TORRES_KEEP_GUEST_DAYS = 0.0
    assert client.get(f"/play/{game.pk}/state.json").status_code == 403


def test_a_guest_has_one_open_game() -> None:
    client = Client()
    game = begin(client)

    assert "You play a game already" in refusal(client)
    assert f'href="/play/{game.pk}/"' in client.get("/play/").content.decode()
    client.post(f"/play/{game.pk}/give-up/")
    assert begin(client).guest == game.guest


def test_an_address_may_begin_a_few_games_in_an_hour(settings) -> None:
    settings.TORRES_GUEST_GAMES_PER_HOUR = 2
    settings.TORRES_GUEST_GAMES = 100
    for _ in range(2):
        begin(Client())

    assert "Guests may begin 2 games in an hour from one address" in refusal(Client())
    begin(Client(), "192.0.2.2")
    for network in range(10):
        begin(Client(), f"2001:db8:1:{network}::1")
    assert "Try again in" in refusal(Client(), "2001:db8:1:ff::1")
    assert PracticeGame.objects.count() == 13


def test_all_guests_together_have_a_quota(settings) -> None:
    settings.TORRES_GUEST_GAMES = 2
    first = begin(Client(), "192.0.2.1")
    begin(Client(), "192.0.2.2")
    client = Client()

    full = client.post("/play/guest/", {"start": "a=b&c"}, REMOTE_ADDR="192.0.2.3")
    assert full.url == "/play/?refused=guests-full&start=a%3Db%26c"
    said = client.get(full.url).content.decode()
    assert guests.FULL in said
    assert '<input type="hidden" name="start" value="a=b&amp;c">' in said
    for start in ("", "a" * (MAX_CHARS + 1)):
        refused = client.post("/play/guest/", {"start": start})
        assert refused.url == "/play/?refused=guests-full"
    factories.begin(factories.make_house())  # by a user, who has a quota of her own
    guests.close(first.pk, PracticeStatus.ABANDONED)
    caches["pages"].clear()
    begin(Client(), "192.0.2.3")


def test_those_who_come_soon_after_are_refused_without_a_query(settings) -> None:
    settings.TORRES_GUEST_GAMES, settings.TORRES_FRESH_SECONDS = 1, 60.0
    begin(Client(), "192.0.2.1")
    for queries in (1, 0):
        with CaptureQueriesContext(connection) as captured:
            answer = Client().post("/play/guest/", REMOTE_ADDR="192.0.2.3")
        assert answer.url == "/play/?refused=guests-full"
        assert len(captured) == queries


def test_visitors_share_the_page_and_the_one_that_says_no(settings) -> None:
    settings.TORRES_FRESH_SECONDS = 60.0
    for address in ("/play/", "/play/?refused=guests-full"):
        shown = Client().get(address)
        assert not shown.cookies
        assert Client().get(address).content == shown.content
        with CaptureQueriesContext(connection) as queries:
            Client().get(address)
        assert not queries.captured_queries
    player = Client()
    game = begin(player)
    assert f'href="/play/{game.pk}/"' in player.get("/play/").content.decode()


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 302),
        ({"Sec-Fetch-Site": "same-origin", "Origin": "http://testserver"}, 302),
        ({"Sec-Fetch-Site": "none"}, 302),
        ({"Origin": "http://testserver"}, 302),
        ({"Origin": "https://testserver"}, 302),
        ({"Sec-Fetch-Site": "cross-site", "Origin": "http://testserver"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "https://testserver.example.org"}, 403),
        ({"Origin": ""}, 403),
    ],
)
def test_no_other_site_begins_a_game(headers: dict[str, str], status: int) -> None:
    """The form has no token, and a new cookie would take the games of a guest away."""
    answer = Client(enforce_csrf_checks=True).post("/play/guest/", headers=headers)

    assert answer.status_code == status
    assert PracticeGame.objects.exists() == (status == 302)
    assert (guest_cookie.COOKIE in answer.cookies) == (status == 302)
    if status == 403:
        assert "Another site sent this form" in answer.content.decode()
        german = Client(headers=headers | {"Accept-Language": "de"})
        said = german.post("/play/guest/").content.decode()
        assert "Dieses Formular kam von einer anderen Website" in said


def test_a_person_with_an_account_begins_no_game_as_a_guest() -> None:
    client = Client()
    client.post("/sign-in/", {"token": tokens.token_for("ana")})

    assert client.post("/play/guest/").url == "/play/"
    assert Client().post("/play/").url == "/sign-in/?next=/play/"
    assert not PracticeGame.objects.exists()


def test_guests_leave_a_slot_to_users() -> None:
    games = [begin(Client(), f"192.0.2.{number}") for number in range(3)]
    with factories.hosting(slots=2):
        factories.until(lambda: factories.asked(games[0]))
        mine = factories.begin(factories.make_house())
        factories.until(lambda: factories.asked(mine))
        assert {factories.fresh(game).status for game in games[1:]} == {
            PracticeStatus.WAITING
        }
        assert services.give_up(mine)
        assert services.give_up(games[0])
        factories.until(lambda: factories.asked(games[1]))
        assert factories.fresh(games[2]).status == PracticeStatus.WAITING


def test_users_come_before_guests() -> None:
    guest = begin(Client())
    other = begin(Client(), "192.0.2.2")
    mine = factories.begin(factories.make_house())

    places = [selectors.place_in_queue(game.pk) for game in (mine, guest, other)]
    assert places == [1, 2, 3]
    claims_in_order = [claims.claim("host") for _ in places]
    assert [claim and claim.pk for claim in claims_in_order] == [
        *(mine.pk, guest.pk, other.pk)
    ]


def test_a_service_may_have_no_guests(settings) -> None:
    settings.TORRES_GUEST_GAMES = 0

    assert "no games without an account" in refusal(Client())
    for page in ("/", "/play/"):
        assert "Play without an account" not in Client().get(page).content.decode()


def test_after_a_day_no_row_of_a_guest_is_left() -> None:
    old, client = begin(Client()), Client()
    with factories.hosting():
        factories.answer(old, answers=1)
    assert PracticeMove.objects.exists()
    kept = begin(client)
    mine = factories.begin(factories.make_house())
    PracticeGame.objects.exclude(pk=kept.pk).update(
        created_at=Now() - timedelta(days=2)
    )

    assert rule().due(100) == 1
    assert rule().delete(100) > 1

    assert set(PracticeGame.objects.all()) == {kept, mine}
    assert not PracticeMove.objects.exists()
    assert set(PracticeOpponent.objects.values_list("game", flat=True)) == {
        kept.pk,
        mine.pk,
    }
    assert rule().due(100) == 0


@pytest.mark.parametrize("way", ["sign-up", "sign-in"])
def test_the_games_belong_to_the_account_after_signing_in(way: str) -> None:
    client, other = Client(), begin(Client())
    ended = begin(client)
    client.post(f"/play/{ended.pk}/give-up/")
    game = begin(client)
    form = {"username": "ana", "password": PASSWORD, "again": PASSWORD}
    if way == "sign-in":
        form = {"token": tokens.token_for("ana")}

    assert client.post(f"/{way}/?next=/play/{game.pk}/", form).url == (
        f"/play/{game.pk}/"
    )

    mine = PracticeGame.objects.filter(owner__username="ana", guest="")
    assert set(mine) == {ended, game}
    assert client.get(f"/play/{game.pk}/").status_code == 200
    assert factories.fresh(other).guest
    client.post("/sign-out/")
    assert client.get(f"/play/{game.pk}/").status_code == 404
    PracticeGame.objects.update(created_at=Now() - timedelta(days=2))
    assert rule().due(100) == 1


def test_an_open_game_of_the_account_goes_before_the_one_of_the_guest() -> None:
    client = Client()
    mine = factories.begin(factories.make_house())
    game = begin(client)

    client.post("/sign-in/", {"token": tokens.token_for("ana")})

    assert selectors.open_game(factories.person()) == mine
    ended = factories.fresh(game)
    assert (ended.owner, ended.status) == (factories.person(), "abandoned")
    assert ended.note == guests.SIGNED_IN_ELSEWHERE


@pytest.mark.slow
@pytest.mark.browser
def test_a_newcomer_plays_and_signs_up_to_keep_the_game(
    chromium: Browser, live_server, data_dir
) -> None:
    with browser.opened(chromium, live_server.url) as page, factories.hosting():
        page.goto("/")
        page.get_by_role("link", name="Play against a bot").click()
        page.get_by_role("button", name="Play without an account").click()
        page.wait_for_url("**/play/*/")
        game = PracticeGame.objects.get()
        expect(page.locator("#turn")).to_be_visible()
        page.locator("#board .target").first.click(force=True)
        expect(page.locator("#send")).to_be_enabled()
        page.click("#send")
        factories.until(
            lambda: game.moves.filter(seat=factories.fresh(game).person_seat).exists()
        )

        page.get_by_role("main").get_by_role("link", name="Sign up").click()
        page.get_by_label("User name").fill("newcomer")
        page.get_by_label("Password", exact=True).fill(PASSWORD)
        page.get_by_label("The same password again").fill(PASSWORD)
        page.get_by_role("button", name="Create the account").click()
        page.wait_for_url(f"**/play/{game.pk}/")
        expect(page.locator("#board")).to_be_visible()
        expect(page.get_by_text("You play as a guest")).to_have_count(0)
    assert str(factories.fresh(game).owner) == "newcomer"
