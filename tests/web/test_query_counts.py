"""No page and no list asks the database more often because there are more rows.

The addresses come from the router, so a new page is tested without being named here.
The test reads each of them with a small database and with a larger one.
"""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.core.management import call_command
from django.db import connection
from django.db.models.functions import Now
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import URLPattern, URLResolver, get_resolver

from ladder.accounts import invitations, tokens
from ladder.bots.models import Bot, Submission
from ladder.games.models import Game, Match
from ladder.moderation.models import AuditEntry, StoppedUnit
from ladder.ops.fill import cups
from ladder.practice.models import PracticeGame, PracticeMove, PracticeOpponent
from ladder.ratings.models import Rating

pytestmark = pytest.mark.django_db(transaction=True)

SMALL = {"bots": 8, "games": 40, "busiest": 20, "tournaments": 3}
LARGE = {"bots": 40, "games": 240, "busiest": 120, "tournaments": 9}
LISTS = [
    *("/", "/games/", "/bots/", "/tournaments/", "/me/", "/ladders/main/"),
    *("/me/password/", "/me/email/", "/me/delete/", "/password-reset/"),
    *("/play/",),
    *("/api/v1/games/", "/api/v1/matches/", "/api/v1/bots/", "/api/v1/ladders/"),
    *("/api/v1/ladders/main/leaderboard/", "/api/v1/ladders/main/bands/"),
    *("/api/v1/tournaments/", "/api/v1/tournaments/cup-1/entrants/"),
    *("/admin/games/game/", "/admin/ratings/entry/", "/admin/bots/bot/"),
]
"""Some of the addresses that must be among the tested ones."""
QUERIES = ("", "?q=bot-1", "?q=1")


def routes(resolver: URLResolver, prefix: str = "") -> Iterator[str]:
    """Yield the route of each URL pattern."""
    for pattern in resolver.url_patterns:
        route = prefix + str(pattern.pattern).removeprefix("^").removesuffix("$")
        if isinstance(pattern, URLResolver):
            yield from routes(pattern, route)
        elif isinstance(pattern, URLPattern):
            yield route.replace("\\Z", "")


def addresses() -> dict[str, str]:
    """Return an address for each route that can be read, by route and query.

    A route with a part that is unknown here fails the test. Then add a value for it.
    """
    found = {route: "/" + _fill_in(route) for route in routes(get_resolver())}
    lists = {route: each for route, each in found.items() if _is_admin_list(each)}
    return found | {
        route + query: address + query
        for route, address in lists.items()
        for query in QUERIES
    }


def _is_admin_list(address: str) -> bool:
    return address.startswith("/admin/") and address.count("/") == 4


def _fill_in(route: str) -> str:
    for part, value in _values(route).items():
        route = route.replace(part, value)
    assert "<" not in route, f"give the parts of this route a value: {route}"
    return route


def _values(route: str) -> dict[str, str]:
    """Return the text for each variable part of a route."""
    busiest = Rating.objects.order_by("-games").select_related("bot")
    bot, other = busiest[0].bot, busiest[1].bot
    slug = bot.slug
    if "ladders/<slug:slug>" in route:
        slug = "main"
    elif "tournaments/<slug:slug>" in route:
        slug = "cup-1"
    kinds: list[Any] = [("matches/", Match), ("submissions/", Submission)]
    kinds.append(("play/", PracticeGame))
    model = next((model for name, model in kinds if name in route), Game)
    own = {"seats__submission__bot__owner__username": "olga"}  # its page shows more
    finished = Game.objects.filter(status="finished", **own).earliest("pk")
    key = finished.pk if model is Game else model.objects.earliest("pk").pk
    row = _admin_row(route)
    return {
        "<slug:slug>": slug,
        "<slug:bot>": bot.slug,
        "<slug:ladder>": "main",
        "<slug:other>": other.slug,
        "<slug:first>": _entrant(0),
        "<slug:second>": _entrant(1),
        "<slug:name>": "replay",
        "<path:name>": "rules",
        "<int:pk>": str(key),
        "<path:object_id>": row,
        "<id>": row,
        "<path:content_type_id>": "1",
        "<uidb64>": "MQ",
        "<token>": "set-password",
        _app_part(route): "auth",
        "(?P<url>.*)": "nowhere",
    }


def _app_part(route: str) -> str:
    """Return the part of the admin's routes that names one of all apps."""
    found = re.search(r"\(\?P<app_label>[^)]*\)", route)
    return found[0] if found else "<app>"


def _entrant(number: int) -> str:
    entrants = cups.Tournament.objects.get(slug="cup-1").entrants.order_by("pk")
    return str(entrants[number].bot.slug)


def _admin_row(route: str) -> str:
    from django.contrib import admin  # noqa: PLC0415

    for model in admin.site._registry:
        meta = model._meta
        if f"admin/{meta.app_label}/{meta.model_name}/" in route:
            row = model._default_manager.order_by("pk").first()
            return str(row.pk) if row else "0"
    return "0"


def fill(size: dict[str, int], monkeypatch: pytest.MonkeyPatch) -> None:
    """Fill the database anew. More bots also means more bots of one owner."""
    monkeypatch.setattr(cups, "ENTRANTS", size["bots"] // 4)
    call_command("flush", verbosity=0, interactive=False)
    call_command("fill", **size)
    own = Bot.objects.filter(house=False).order_by("pk")[: size["bots"] // 4]
    owner = User.objects.create_superuser("olga")
    Bot.objects.filter(pk__in=[bot.pk for bot in own]).update(owner=owner)
    for number in range(size["bots"]):
        AuditEntry.objects.create(kind="bench", target=f"bot {number}", why="test")
        StoppedUnit.objects.create(kind="tournament", name=f"cup-{number}", error="x")
        invitations.new_invitation(owner, note=f"note {number}")
        tokens.new_token(owner)
    practise(owner, size["bots"])


def practise(owner: User, games: int) -> None:
    """Let somebody have played games by hand, and the first one still run."""
    ready = Submission.objects.filter(status="ready").order_by("pk")
    Bot.objects.update(open_to_practice=True)
    for number in range(games):
        ended = {"status": "abandoned", "ended_at": Now()} if number else {"ply": 1}
        seats = {"seats": 2, "person_seat": 1, "bank_s": 600.0, "seed": "5eed"}
        game = PracticeGame.objects.create(
            **({"status": "running", "deadline": Now()} | ended | seats),
            owner=owner,
            ruleset="yucata",
            switches={},
            limits={},
        )
        submission = ready[number % ready.count()]
        PracticeOpponent.objects.create(game=game, number=0, submission=submission)
    first = PracticeGame.objects.earliest("pk")
    PracticeMove.objects.create(game=first, index=0, seat=0, actions=["enter a4"], ms=1)


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
            statements = len(queries)
        assert response.status_code < 500, address
        if response.status_code == 200:
            asked[route] = (address, statements)
    return asked


def test_no_address_asks_more_often_if_there_are_more_rows(
    data_dir: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(SMALL, monkeypatch)
    few = counts()
    fill(LARGE, monkeypatch)
    many = counts()

    assert set(LISTS) <= {address for address, _ in few.values()}
    assert few.keys() == many.keys()
    grown = {
        route: (few[route], many[route])
        for route in few
        if many[route][1] > few[route][1]
    }
    assert grown == {}
