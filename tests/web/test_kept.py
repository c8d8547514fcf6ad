"""What anybody reads is kept for a moment, and only that."""

import pytest
from django.core.cache import caches
from django.test import Client

from ladder.bots.models import Bot
from ladder.web import middleware
from tests.showcase import Show


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


def test_the_api_keeps_each_address_apart(anybody, show: Show) -> None:
    one = anybody.get("/api/v1/bots/").json()["results"]
    rename(show, "Renamed")

    assert anybody.get("/api/v1/bots/").json()["results"] == one
    assert len(anybody.get("/api/v1/bots/?limit=1").json()["results"]) == 1


def test_while_a_page_is_made_anew_others_get_the_old(
    visit, show: Show, time_flies, monkeypatch
) -> None:
    old = visit("").get("/bots/").content
    rename(show, "Renamed")
    time_flies()
    seen = []
    make = middleware.Kept._make

    def slowly(*args):
        if not seen:
            seen.append(visit("").get("/bots/").content)
        return make(*args)

    monkeypatch.setattr(middleware.Kept, "_make", slowly)

    assert b"Renamed" in visit("").get("/bots/").content
    assert seen == [old]


def test_who_signs_in_or_brings_a_token_sees_what_is(
    visit, ana, anybody, show: Show
) -> None:
    browser = visit("ana")
    visit("").get("/bots/")
    anybody.get("/api/v1/bots/")
    rename(show, "Renamed")

    assert b"Renamed" in browser.get("/bots/").content
    assert b"Renamed" in ana.get("/api/v1/bots/").content
    assert b"Renamed" not in visit("").get("/bots/").content


def test_what_is_for_one_visitor_is_not_kept(db) -> None:
    del db
    tokens = {Client().get("/sign-in/").cookies["csrftoken"].value for _ in range(2)}

    assert len(tokens) == 2


def test_a_refusal_is_not_kept(visit, show: Show) -> None:
    assert visit("").get("/bots/renamed/").status_code == 404
    Bot.objects.filter(pk=show.anas.bot_id).update(slug="renamed")

    assert visit("").get("/bots/renamed/").status_code == 200


def test_who_has_the_kept_page_is_told_so(visit, show: Show) -> None:
    del show
    tag = visit("").get("/")["ETag"]

    assert visit("").get("/", HTTP_IF_NONE_MATCH=tag).status_code == 304
    assert visit("").get("/", HTTP_IF_NONE_MATCH='"other"').status_code == 200
