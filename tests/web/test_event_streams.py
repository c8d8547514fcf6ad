"""Events over REST: streams from a real web server, and pages."""

import threading
from itertools import pairwise
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import transaction

from ladder.accounts import tokens
from ladder.events import outbox, stream as numbered
from ladder.events.kinds import EventKind
from ladder.events.models import Fact
from ladder.events.outbox import NewEvent
from tests import factories
from tests.web.streaming import Message, stream

pytestmark = pytest.mark.django_db(transaction=True)
ADDRESS = "/api/v1/events/"
SSE = {"Accept": "text/event-stream"}


def tell(*bots: str, kind: EventKind = EventKind.GAME_DEAD, **options: Any) -> None:
    with transaction.atomic():
        outbox.record(NewEvent(kind, {"bots": list(bots)}, **options))


def bots(messages: list[Message]) -> list[list[str]]:
    return [message.data["data"]["bots"] for message in messages]


def take(messages, count: int) -> list[Message]:
    return [next(messages) for _ in range(count)]


def test_each_event_arrives_once_and_in_order_after_a_reconnect(served: str) -> None:
    for number in range(1200):  # more than one page of the reader
        tell(str(number))
    with stream(f"{served}{ADDRESS}?after=0", **SSE) as messages:
        old = take(messages, 1200)
        tell("new")
        new = next(messages)
    tell("meanwhile")
    with stream(f"{served}{ADDRESS}", **SSE, **{"Last-Event-ID": "1199"}) as messages:
        again = take(messages, 3)

    assert bots(old) == [[str(number)] for number in range(1200)]
    assert [message.number for message in old] == list(range(1, 1201))
    assert bots([new]) == [["new"]]
    assert bots(again) == [["1199"], ["new"], ["meanwhile"]]
    assert set(new.data) == {"number", "type", "timestamp", "data"}


def test_a_stream_begins_with_what_happens_from_now_on(served: str) -> None:
    tell("before")
    with stream(f"{served}{ADDRESS}", **SSE) as messages:
        # The stream has begun at some moment after the response.
        stop = threading.Event()
        writer = threading.Thread(target=write_until, args=[stop])
        writer.start()
        first = next(messages)
        stop.set()
        writer.join()

    assert bots([first]) == [["after"]]


def write_until(stop: threading.Event) -> None:
    while not stop.wait(0.05):
        tell("after")


def test_a_stream_that_begins_between_two_polls_gets_no_event_twice(
    served: str,
) -> None:
    tell("0")
    with stream(f"{served}{ADDRESS}?after=0", **SSE) as messages:
        next(messages)  # from now on the process polls
        for newest in range(2, 40, 2):
            tell("early")
            numbered.number_new()  # before the process does it
            with stream(f"{served}{ADDRESS}?after=0", **SSE) as late:
                seen = take(late, newest)
                tell("late")
                seen.append(next(late))
            assert [each.number for each in seen] == list(range(1, newest + 2))


def test_filters_choose_events(served: str) -> None:
    show = factories.everything()
    one, other = show.anas.bot.slug, show.bens.bot.slug
    tell(one)
    tell(other)
    tell(one, kind=EventKind.BOT_STATUS)
    tell(other, one)
    address = f"{served}{ADDRESS}?after=0&bot={one}&type=game.dead,game.voided"
    with stream(address, **SSE) as messages:
        chosen = take(messages, 2)

    assert bots(chosen) == [[one], [other, one]]


def test_private_events_are_for_their_owner_only(served: str, api) -> None:
    token = tokens.token_for("ana")
    ana = User.objects.get(username="ana")
    ben = tokens.token_for("ben")
    tell("secret", public=False, owners=[ana.pk])
    tell("known")
    seen = {}
    for name, secret in (("ana", token), ("ben", ben), ("", "")):
        head = SSE | ({"Authorization": f"Bearer {secret}"} if secret else {})
        with stream(f"{served}{ADDRESS}?after=0", **head) as messages:
            seen[name] = bots([next(messages)])
        page = api(name).get(ADDRESS, {"after": 0}).json()
        assert page["results"][0]["data"]["bots"] == seen[name][0]
        assert page["last"] == 2

    assert seen == {"ana": [["secret"]], "ben": [["known"]], "": [["known"]]}


@pytest.mark.parametrize("after", [3, 5000])
def test_a_stream_says_that_events_are_missing(served: str, after: int) -> None:
    for number in range(10):
        tell(str(number))
    numbered.number_new()
    Fact.objects.filter(number__lte=6).delete()
    with stream(f"{served}{ADDRESS}?after={after}", **SSE) as messages:
        gap = next(messages)
        if after > 10:
            tell("new")
        following = next(messages)

    assert (gap.event, gap.data) == ("gap", {"after": after, "oldest": 7})
    assert bots([following]) == [["new"] if after > 10 else ["6"]]


def test_pages_of_events_follow_each_other(api) -> None:
    for number in range(7):
        tell(str(number))
    pages, after = [], 0
    while True:
        page = api("").get(ADDRESS, {"after": after, "limit": 3}).json()
        if not page["results"]:
            break
        pages.append([event["number"] for event in page["results"]])
        after = page["last"]

    assert pages == [[1, 2, 3], [4, 5, 6], [7]]
    assert page["newest"] == after == 7
    latest = api("").get(ADDRESS, {"limit": 2}).json()
    assert [event["number"] for event in latest["results"]] == [6, 7]
    numbers = [number for page in pages for number in page]
    assert all(one < two for one, two in pairwise(numbers))


@pytest.mark.parametrize(
    ("query", "field", "detail"),
    [
        ("type=game.over", "type", "'game.over' is not known. Use some of: "),
        ("bot=nobody", "bot", "There is no bot 'nobody'."),
        ("ladder=x", "ladder", "There is no ladder 'x'."),
        ("tournament=x", "tournament", "There is no tournament 'x'."),
        ("game=1,one", "game", "'one' is not a number."),
        ("after=-1", "after", "'-1' is not a number of an event."),
        ("after=" + "9" * 40, "after", "is not a number of an event."),
        ("bots=x", "bots", "Unknown parameter. Known: type, bot, "),
        ("limit=0", "limit", "Use a number from 1 to 200."),
        ("match=" + "1," * 3000, "match", "Name at most 100 values."),
    ],
)
def test_wrong_values_are_named(api, query: str, field: str, detail: str) -> None:
    answer = api("").get(f"{ADDRESS}?{query}")

    assert answer.status_code == 400
    (error,) = answer.json()["errors"]
    assert error["field"] == field
    assert detail in error["detail"]
