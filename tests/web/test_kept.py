"""What anybody reads is made once for many, and only that."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Event, local

import pytest
from django.core.cache import caches
from django.http import HttpResponse
from django.test import Client

from ladder.bots.models import Bot
from ladder.web import middleware
from tests.factories import Show


@pytest.fixture(autouse=True)
def _keep(settings) -> None:
    settings.TORRES_FRESH_SECONDS = 60
    caches["pages"].clear()


@pytest.fixture
def time_flies(monkeypatch):
    """Return what makes kept pages old."""

    def fly() -> None:
        later = middleware.time.monotonic() + 61
        monkeypatch.setattr("ladder.web.middleware.time.monotonic", lambda: later)

    return fly


def rename(show: Show, name: str) -> None:
    Bot.objects.filter(pk=show.anas.bot_id).update(name=name)


def test_a_page_is_made_once_for_many(visit, show: Show, time_flies) -> None:
    first = visit("").get("/bots/")
    rename(show, "Renamed")
    kept = visit("").get("/bots/")
    time_flies()

    assert kept.content == first.content
    assert dict(kept.items()) == dict(first.items())
    assert b"Renamed" in visit("").get("/bots/").content


def test_what_a_program_reads_is_never_older_than_its_question(
    anybody, show: Show
) -> None:
    anybody.get("/api/v1/bots/")
    rename(show, "Renamed")

    assert b"Renamed" in anybody.get("/api/v1/bots/").content


def test_each_address_has_its_own_page(visit, show: Show) -> None:

    assert visit("").get("/bots/").content != visit("").get("/").content


def test_a_crowd_that_asks_together_gets_one_answer(rf, monkeypatch) -> None:
    """The first asks at 0; the others at 1, after its answer was begun."""
    begun, all_asked, clock = Event(), Barrier(5), local()

    def now() -> float:
        clock.now = getattr(clock, "now", -1.0) + 1
        return min(clock.now, 0.0) if clock.first else clock.now + 1

    made = []

    def make(request):
        made.append(1)
        if len(made) == 1:
            begun.set()
            all_asked.wait(10)
        return HttpResponse(str(len(made)), content_type="application/json")

    def ask(k: int) -> bytes:
        clock.first = k == 0
        if k:
            begun.wait(10)
            all_asked.wait(10)
        return share(rf.get("/api/v1/games/")).content

    monkeypatch.setattr("ladder.web.middleware.time.monotonic", now)
    share = middleware.SharedAnswers(make)
    with ThreadPoolExecutor(5) as crowd:
        answers = list(crowd.map(ask, range(5)))

    assert answers == [b"1", b"2", b"2", b"2", b"2"]


def test_who_signs_in_or_brings_a_token_sees_what_is(visit, ana, show: Show) -> None:
    browser = visit("ana")
    visit("").get("/bots/")
    rename(show, "Renamed")

    assert b"Renamed" in browser.get("/bots/").content
    assert b"Renamed" in ana.get("/api/v1/bots/").content
    assert b"Renamed" not in visit("").get("/bots/").content


def test_what_is_for_one_visitor_is_not_kept(db) -> None:
    tokens = {Client().get("/sign-in/").cookies["csrftoken"].value for _ in range(2)}

    assert len(tokens) == 2


def test_a_refusal_is_not_kept(visit, show: Show) -> None:
    assert visit("").get("/bots/renamed/").status_code == 404
    Bot.objects.filter(pk=show.anas.bot_id).update(slug="renamed")

    assert visit("").get("/bots/renamed/").status_code == 200


def test_who_has_the_kept_page_is_told_so(visit, show: Show) -> None:
    tag = visit("").get("/")["ETag"]

    assert visit("").get("/", HTTP_IF_NONE_MATCH=tag).status_code == 304
    assert visit("").get("/", HTTP_IF_NONE_MATCH='"other"').status_code == 200
