"""The search for bots, and the fields in which a visitor names a bot."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from ladder.bots.models import Bot
from ladder.games.models import Match
from ladder.ratings.models import Membership
from ladder.web.api import bot_search
from tests.factories import HOSTILE, Show, make_bot, rate
from tests.web.test_ladder_pages import CHALLENGE, text

Visit = Callable[[str], Client]


def found(client: Client, query: str) -> list[dict[str, Any]]:
    answer = client.get(f"/bots/search.json?{query}")
    assert answer.status_code == 200
    results: list[dict[str, Any]] = answer.json()["results"]
    return results


def names(client: Client, query: str) -> list[str]:
    return [each["name"] for each in found(client, query)]


def test_a_search_finds_parts_of_names_and_slugs(visit: Visit, show: Show) -> None:
    make_bot("Old Grendel", "cleo")
    browser = visit("")

    assert found(browser, "q=GREND") == [
        {"slug": "grendel", "name": "Grendel", "owner": "ana"},
        {"slug": "old-grendel", "name": "Old Grendel", "owner": "cleo"},
    ]
    assert names(browser, "q=scriptalert") == [HOSTILE]
    assert names(browser, "q=nobody") == []


@pytest.mark.parametrize("query", ["", "q=", "q=+", "q=%00", "q=a&ladder=%00"])
def test_an_empty_or_odd_search_finds_nothing(
    visit: Visit, show: Show, query: str
) -> None:
    assert names(visit(""), query) == []


def test_a_search_is_bounded(
    visit: Visit, show: Show, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bot_search, "MAX_FOUND", 1)
    make_bot("Old Grendel", "cleo")

    assert names(visit(""), "q=grendel") == ["Grendel"]
    assert names(visit(""), f"q={'x' * 9000}") == []


def test_a_search_can_be_limited_to_a_ladder(visit: Visit, show: Show) -> None:
    make_bot("Grendel without a ladder", "cleo")

    assert names(visit(""), "q=grendel&ladder=main") == ["Grendel"]
    assert names(visit(""), "q=grendel&ladder=none") == []
    Membership.objects.all().delete()
    assert names(visit(""), "q=grendel&ladder=main") == []


@pytest.mark.parametrize("wanted", ["grendel", "Grendel", " gRENDEL ", "GRENDEL"])
def test_a_bot_is_found_by_name_and_slug(show: Show, wanted: str) -> None:
    assert bot_search.find(wanted) == show.anas.bot


def test_a_name_that_is_no_slug_is_found(show: Show) -> None:
    assert bot_search.find(HOSTILE) == show.bens.bot
    assert bot_search.find("") is None
    assert bot_search.find("\0") is None


@pytest.mark.parametrize(
    ("wanted", "answer"),
    [
        ("grendle", "There is no bot “grendle”. Did you mean Grendel?"),
        ("Gren", "There is no bot “Gren”. Did you mean Grendel?"),
        ("q", "There is no bot “q”. Choose one from the list of bots."),
    ],
)
def test_an_unknown_name_has_near_matches(show: Show, wanted: str, answer: str) -> None:
    assert bot_search.no_such_bot(wanted) == answer


def test_two_bots_are_compared_by_their_names(visit: Visit, show: Show) -> None:
    rate(show.season, make_bot("Third one", "cleo"), 20.0, 1.0)
    address = "/ladders/main/compare/"

    page = text(visit(""), f"{address}?bot=Grendel&other=third+ONE")
    assert "that Grendel is the better bot" in page
    page = text(visit(""), f"{address}?bot=Grendle&other=third+on", 404)
    assert "Did you mean Grendel?" in page
    assert "Did you mean Third one?" in page
    assert 'value="Grendle"' in page


def test_a_bot_is_challenged_by_its_name(visit: Visit, show: Show) -> None:
    bot = show.bens.bot
    Bot.objects.filter(pk=bot.pk).update(name="Ben's", name_key="ben's")

    browser = visit("ana")
    wrong = browser.post(CHALLENGE, {"bot": "grendel", "one": "Bens", "seat": "0"})
    assert wrong.status_code == 422
    assert "Did you mean Ben&#x27;s?" in wrong.content.decode()
    assert 'value="Bens"' in wrong.content.decode()
    browser.post(CHALLENGE, {"bot": "grendel", "one": "Ben's", "seat": "0"})
    seats = Match.objects.get(kind="challenge").games.get().seats.order_by("number")
    assert [seat.submission for seat in seats] == [show.anas, show.bens]
