"""Anonymous requests share responses; no other request does."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Event, local

import pytest
from django.core.cache import caches
from django.http import HttpResponse
from django.test import Client

from ladder.bots.models import Bot
from ladder.web.middleware import responses as middleware
from ladder.web.pages import replay_views, watching
from tests.factories import Show
from tests.web.test_watching import begin


@pytest.fixture(autouse=True)
def _share(settings) -> None:
    settings.TORRES_FRESH_SECONDS = 60
    caches["pages"].clear()


@pytest.fixture
def expire(monkeypatch):
    """Return a function that lets all shared responses expire."""

    def jump() -> None:
        later = middleware.time.monotonic() + 61
        monkeypatch.setattr(
            "ladder.web.middleware.responses.time.monotonic", lambda: later
        )

    return jump


def rename(show: Show, name: str) -> None:
    Bot.objects.filter(pk=show.anas.bot_id).update(name=name)


def test_a_page_is_rendered_once_for_many_visitors(visit, show: Show, expire) -> None:
    first = visit("").get("/bots/")
    rename(show, "Renamed")
    shared = visit("").get("/bots/")
    expire()

    assert shared.content == first.content
    own = {"X-Request-ID"}  # names one request, also if it shares the page
    assert shared["X-Request-ID"] != first["X-Request-ID"]
    assert {k: v for k, v in shared.items() if k not in own} == {
        k: v for k, v in first.items() if k not in own
    }
    assert b"Renamed" in visit("").get("/bots/").content


def test_json_is_never_older_than_its_request(anybody, show: Show) -> None:
    anybody.get("/api/v1/bots/")
    rename(show, "Renamed")

    assert b"Renamed" in anybody.get("/api/v1/bots/").content


def test_each_address_has_its_own_response(visit, show: Show) -> None:

    assert visit("").get("/bots/").content != visit("").get("/").content


def test_simultaneous_requests_share_one_response(rf, monkeypatch) -> None:
    """The first request comes at time 0, the others at 1, while it is answered."""
    begun = Event()
    all_asked = Barrier(5)
    clock = local()

    def now() -> float:
        clock.now = getattr(clock, "now", -1.0) + 1
        return min(clock.now, 0.0) if clock.first else clock.now + 1

    calls = []

    def make(request):
        calls.append(1)
        if len(calls) == 1:
            begun.set()
            all_asked.wait(60)
        return HttpResponse(str(len(calls)), content_type="application/json")

    def ask(k: int) -> bytes:
        clock.first = k == 0
        if k:
            begun.wait(60)
            all_asked.wait(60)
        return share(rf.get("/api/v1/games/")).content

    monkeypatch.setattr("ladder.web.middleware.responses.time.monotonic", now)
    share = middleware.SharedAnswers(make)
    with ThreadPoolExecutor(5) as threads:
        answers = list(threads.map(ask, range(5)))

    assert answers == [b"1", b"2", b"2", b"2", b"2"]


def test_requests_with_a_session_or_a_token_get_fresh_responses(
    visit, ana, show: Show
) -> None:
    browser = visit("ana")
    visit("").get("/bots/")
    rename(show, "Renamed")

    assert b"Renamed" in browser.get("/bots/").content
    assert b"Renamed" in ana.get("/api/v1/bots/").content
    assert b"Renamed" not in visit("").get("/bots/").content


def test_a_response_that_sets_a_cookie_is_not_shared(db) -> None:
    tokens = {Client().get("/sign-in/").cookies["csrftoken"].value for _ in range(2)}

    assert len(tokens) == 2


def test_an_error_is_not_shared(visit, show: Show) -> None:
    assert visit("").get("/bots/renamed/").status_code == 404
    Bot.objects.filter(pk=show.anas.bot_id).update(slug="renamed")

    assert visit("").get("/bots/renamed/").status_code == 200


def test_a_shared_response_answers_conditional_requests(visit, show: Show) -> None:
    tag = visit("").get("/")["ETag"]

    assert visit("").get("/", HTTP_IF_NONE_MATCH=tag).status_code == 304
    assert visit("").get("/", HTTP_IF_NONE_MATCH='"other"').status_code == 200


@pytest.mark.parametrize(
    ("control", "calls_at_once", "calls_later"),
    [
        ("public, max-age=0, s-maxage=1", 1, 2),
        ("public, max-age=3600", 1, 2),
        ("private, max-age=60", 3, 4),
        ("no-cache", 3, 4),
    ],
)
def test_a_public_response_is_shared_as_long_as_it_says(
    rf, expire, control: str, calls_at_once: int, calls_later: int
) -> None:
    """The first client knows the response, so the view must not answer with 304."""
    calls = []

    def view(request):
        calls.append(request.META.get("HTTP_IF_NONE_MATCH"))
        headers = {"ETag": '"1"', "Cache-Control": control}
        return HttpResponse("{}", content_type="application/json", headers=headers)

    share = middleware.SharedAnswers(view)
    known = [
        share(rf.get("/frames.json", HTTP_IF_NONE_MATCH='"1"')).status_code
        for _ in range(2)
    ]
    new = share(rf.get("/frames.json"))
    assert len(calls) == calls_at_once
    expire()
    share(rf.get("/frames.json"))

    assert known == [304, 304]
    assert (new.status_code, new.content) == (200, b"{}")
    assert set(calls) == {None}
    assert len(calls) == calls_later


def test_frames_of_a_running_game_are_made_once_for_all_who_watch(
    visit, show: Show, monkeypatch
) -> None:
    game, _ = begin(show.waiting)
    made = []
    real = watching.frames_json
    monkeypatch.setattr(
        watching, "frames_json", lambda game: made.append(game) or real(game)
    )
    # On a busy machine six requests take longer than the second of the service.
    monkeypatch.setattr(replay_views, "LIVE", "public, max-age=0, s-maxage=60")
    monkeypatch.setattr(middleware, "MAX_SHARED_S", 60.0)
    address = f"/games/{game.pk}/frames.json"

    tag = visit("").get(address)["ETag"]
    again = [visit("").get(address, HTTP_IF_NONE_MATCH=tag) for _ in range(5)]

    assert [answer.status_code for answer in again] == [304] * 5
    assert len(made) == 1
