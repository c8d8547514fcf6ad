"""No page and no list asks the database more often because there are more rows.

The test reads the address of every route with a small database and with a larger one.
"""

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from tests.web.sitemap import LARGE, SMALL, addresses, fill

pytestmark = pytest.mark.django_db(transaction=True)

LISTS = [
    *("/", "/tv/", "/games/", "/bots/", "/tournaments/", "/me/", "/ladders/main/"),
    *("/me/password/", "/me/email/", "/me/delete/", "/password-reset/"),
    *("/play/", "/organise/", "/organise/cup-1/", "/anomalies/", "/operate/"),
    *("/api/v1/games/", "/api/v1/matches/", "/api/v1/bots/", "/api/v1/ladders/"),
    *("/api/v1/ladders/main/leaderboard/", "/api/v1/ladders/main/bands/"),
    *("/admin/webhooks/webhook/",),
    *("/api/v1/tournaments/", "/api/v1/tournaments/cup-1/entrants/"),
    *("/admin/games/game/", "/admin/ratings/entry/", "/admin/bots/bot/"),
]
"""Some of the addresses that must be among the tested ones."""


def counts() -> dict[str, tuple[str, int]]:
    """Return the address and the number of statements of each route that can be read.

    The key is the route, because the addresses name other bots in another database.
    """
    client = Client()
    client.force_login(User.objects.get(username="olga"))
    asked = {}
    for route, address in addresses().items():
        cache.clear()
        with CaptureQueriesContext(connection) as queries:
            response = client.get(address)
            if response.streaming:
                b"".join(response.streaming_content)
            statements = len(queries)
        assert response.status_code < 500, address
        if response.status_code == 200:
            asked[route] = (address, statements)
    return asked


@pytest.mark.deep
@pytest.mark.slow
def test_no_address_asks_more_often_if_there_are_more_rows(data_dir: object) -> None:
    fill(SMALL)
    few = counts()
    fill(LARGE)
    many = counts()

    assert set(LISTS) <= {address for address, _ in few.values()}
    assert few.keys() == many.keys()
    grown = {
        route: (few[route], many[route])
        for route in few
        if many[route][1] > few[route][1]
    }
    assert grown == {}
