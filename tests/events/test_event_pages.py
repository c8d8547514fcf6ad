"""Pages of events with filters: the database leaves out what is not wanted.

tests/ops/test_postgres.py runs this folder on PostgreSQL, too.
"""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.conf import LazySettings
from django.test import Client

from ladder.bots.models import Bot
from ladder.events.kinds import EventKind
from ladder.events.models import Fact
from ladder.web.server import event_views
from ladder.web.server.streams import news

pytestmark = pytest.mark.django_db
EVENTS = 60
Pages = Callable[[str], Iterator[dict[str, Any]]]


@pytest.fixture
def pages(monkeypatch: pytest.MonkeyPatch) -> Pages:
    """Return a function that reads all pages of a filter, a few events at a time."""
    monkeypatch.setattr(news, "READ_AT_ONCE", 4)
    monkeypatch.setattr(event_views, "MAX_EXAMINED", 25)
    for slug in ("ana", "ana-2", "ben"):
        Bot.objects.create(slug=slug, name=slug)
    bots = (["ana"], ["ana-2", "ben"], ["ben"])
    Fact.objects.bulk_create(
        Fact(
            number=k,
            kind=EventKind.GAME_DEAD if k % 7 == 0 else EventKind.GAME_FINISHED,
            data={"game": k, "bots": bots[k % 3], "ladder": "main"},
            public=k % 10 != 0,
            owners=[],
        )
        for k in range(1, EVENTS + 1)
    )

    def read(query: str) -> Iterator[dict[str, Any]]:
        after = 0
        while after < EVENTS:
            address = f"/api/v1/events/?{query}&limit=3&after={after}"
            page = Client().get(address).json()
            assert after < page["last"] <= page["newest"] == EVENTS
            after = page["last"]
            yield page

    return read


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("bot=ana", lambda k: k % 3 == 0),  # and not "ana-2", whose name contains it
        ("bot=ana,ben", lambda _: True),
        ("type=game.dead", lambda k: k % 7 == 0),
        ("game=5,50,51", lambda k: k in (5, 51)),  # 50 is not public
        ("type=game.dead&bot=ben", lambda k: k % 7 == 0 and k % 3 != 0),
        ("game=999", lambda _: False),
    ],
)
def test_a_filter_gets_its_events_once_and_in_order(
    pages: Pages, settings: LazySettings, query: str, wanted: Callable[[int], bool]
) -> None:
    settings.TORRES_RATE_ANONYMOUS = 10_000
    found = [event["number"] for page in pages(query) for event in page["results"]]

    expected = [k for k in range(1, EVENTS + 1) if k % 10 and wanted(k)]
    assert found == expected
