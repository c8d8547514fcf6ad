"""The address of every page and list, taken from the router, and rows to show there.

A new route is found without being named here. Tests visit all of them.
"""

import json
import re
from collections.abc import Iterable, Iterator
from http import HTTPStatus
from typing import Any

from django.contrib import admin
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import transaction
from django.db.models.functions import Now
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver
from django.utils import timezone

from engine import seat_reviews, turning_points
from ladder.accounts import invitations, tokens
from ladder.bots.models import Bot, Submission
from ladder.events import outbox, stream
from ladder.events.kinds import EventKind
from ladder.events.models import Fact
from ladder.events.outbox import NewEvent
from ladder.extras.analysis.models import Analysis, SeatReview
from ladder.extras.anomalies.findings import AnomalyFinding, FindingKind
from ladder.extras.anomalies.models import AnomalyReport
from ladder.extras.editor.models import TrialGame
from ladder.extras.follows.models import Follow
from ladder.extras.practice.models import PracticeGame, PracticeMove, PracticeOpponent
from ladder.extras.webhooks.models import Webhook, WebhookDelivery
from ladder.games import replays, visibility
from ladder.games.models import Game, Match
from ladder.moderation.models import AuditEntry, StoppedUnit
from ladder.ratings.models import Rating, Season
from tests import factories
from tests.fill import cups
from tests.fill.command import Command

SMALL = {"bots": 8, "games": 60, "busiest": 20, "tournaments": 3}
LARGE = {"bots": 40, "games": 240, "busiest": 120, "tournaments": 9}
QUERIES = ("", "?q=bot-1", "?q=1")
EXPORTS = ("api/v1/exports/games/", "api/v1/exports/replays/")
FOREIGN = ("/admin/", "/api/")
FINDING_NUMBERS = (
    "games gain_first gain_second error duels ahead share shared of files before after"
    " games_after forfeits forfeits_after turn tries estimate shrunk"
)
TESTED_NUMBERS = (
    "games games_played submissions pairs strength_tests uploads owners copies rate"
)


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

    A route with a part that is unknown here is an error. Then add a value for it.
    """
    found = _addresses(routes(get_resolver()))
    for route in EXPORTS:  # they ask once more for each chunk of games
        found[route] += "?limit=20"
    lists = {route: each for route, each in found.items() if _is_admin_list(each)}
    return found | {
        route + query: address + query
        for route, address in lists.items()
        for query in QUERIES
    }


def _addresses(wanted: Iterable[str]) -> dict[str, str]:
    return {route: "/" + _fill_in(route) for route in wanted}


def _is_admin_list(address: str) -> bool:
    return address.startswith("/admin/") and address.count("/") == 4


def _fill_in(route: str) -> str:
    for part, value in _values(route).items():
        route = route.replace(part, value)
    assert "<" not in route, f"give the parts of this route a value: {route}"
    return f"{route}?ladder=main" if route == "follow/" else route


def _values(route: str) -> dict[str, str]:
    """Return the text for each variable part of a route."""
    busiest = Rating.objects.order_by("-games").select_related("bot")
    bot, other = busiest[0].bot, busiest[1].bot
    slug = bot.slug
    if "ladders/<slug:slug>" in route:
        slug = "main"
    elif "tournaments/<slug:slug>" in route or "organise/<slug:slug>" in route:
        slug = "cup-1"
    kinds: list[Any] = [("matches/", Match), ("submissions/", Submission)]
    kinds += [("play/", PracticeGame), ("webhooks/", Webhook), ("write/", TrialGame)]
    kinds += [("api/v1/analyses/", Analysis)]
    model = next((model for name, model in kinds if name in route), Game)
    own = {"seats__submission__bot__owner__username": "olga"}  # its page shows more
    finished = Game.objects.filter(status="finished", **own).earliest("pk")
    key = finished.pk if model is Game else model.objects.earliest("pk").pk
    row = _admin_row(route)
    return {
        "<slug:slug>": slug,
        "<slug:day>": "2026-11-22",
        "<slug:bot>": bot.slug,
        "<slug:ladder>": "main",
        "<slug:other>": other.slug,
        "<slug:first>": _entrant(0),
        "<slug:second>": _entrant(1),
        "<slug:name>": "replay",
        "<slug:act>": "create_ladder",
        "<slug:language>": "de",
        "<str:name>": "olga",
        "<path:path>": "entries/000.p/1",
        "<path:name>": "games/one.parquet" if "<slug:day>" in route else "rules",
        "<int:pk>": str(key),
        "<int:number>": "1",
        "<int:delivery>": str(WebhookDelivery.objects.earliest("pk").pk),
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
    for model in admin.site._registry:
        meta = model._meta
        if f"admin/{meta.app_label}/{meta.model_name}/" in route:
            row = model._default_manager.order_by("pk").first()
            return str(row.pk) if row else "0"
    return "0"


def fill(size: dict[str, int]) -> None:
    """Fill the database anew. The superuser olga owns a quarter of the bots."""
    call_command("flush", verbosity=0, interactive=False)
    entrants, cups.ENTRANTS = cups.ENTRANTS, size["bots"] // 4
    try:
        call_command(Command(), **size)
    finally:
        cups.ENTRANTS = entrants
    own = Bot.objects.filter(house=False).order_by("pk")[: size["bots"] // 4]
    owner = User.objects.create_superuser("olga")
    Bot.objects.filter(pk__in=[bot.pk for bot in own]).update(owner=owner)
    for number in range(size["bots"]):
        AuditEntry.objects.create(kind="bench", target=f"bot {number}", why="test")
        StoppedUnit.objects.create(kind="tournament", name=f"cup-{number}", error="x")
        invitations.new_invitation(owner, note=f"note {number}")
        tokens.new_token(owner)
    practise(owner, size["bots"])
    try_code(owner)
    analyse(size["bots"])
    deliver(owner, size["bots"])
    Follow.objects.bulk_create(Follow(user=owner, bot=bot) for bot in own)
    factories.log_all()
    store_report(size["bots"])


def try_code(owner: User) -> None:
    """Let somebody have run code in the editor, which has a mistake."""
    record = factories.random_game("yucata", 2, "5eed")
    document = record.replay(seed="5eed", players=[{"name": "a"}, {"name": "b"}])
    finding = {"severity": "fault", "cause": "It fails.", "cure": "Look at line 7."}
    for number in range(2):
        TrialGame.objects.create(
            owner=owner,
            language="python",
            source="import json\n" * 40,
            opponent=Bot.objects.earliest("pk"),
            ruleset="yucata",
            seat=number,
            status="finished",
            ended_at=Now(),
            result=document["result"],
            replay=replays.pack(document),
            findings=[finding | {"evidence": "in move 7"}][number:],
            log='File "bot.py", line 7',
        )


def analyse(count: int) -> None:
    """Let a game have analyses: of the whole game, and of positions."""
    own = {"seats__submission__bot__owner__username": "olga"}
    game = Game.objects.filter(status="finished", **own).earliest("pk")
    replay = json.loads(visibility.replay(game))
    document = turning_points.analyse(replay, games=2)
    ended = {"status": "finished", "document": document, "ended_at": Now()}
    row = Analysis.objects.create(game=game, key="", **ended)
    turns = seat_reviews.review_seats(replay, document)
    for seat in game.seats.all():
        SeatReview.objects.create(
            analysis=row, seat=seat.number, bot=seat.bot, turns=turns[seat.number]
        )
    for ply in range(1, count):
        Analysis.objects.create(game=game, key=str(ply), ply=ply)


def store_report(findings: int) -> None:
    """Let there be a report of anomalies with findings of all kinds."""
    bots = Bot.objects.filter(house=False).order_by("pk")[:2]
    keys = [bot.pk for bot in bots]
    numbers: dict[str, float] = dict.fromkeys(FINDING_NUMBERS.split(), 0.5)
    found = [
        AnomalyFinding(
            kind,
            "together",
            bots=keys,
            submissions=[
                Submission.objects.filter(bot=key).latest("pk").pk for key in keys
            ],
            owners=[bot.owner_id or 0 for bot in bots],
            games=list(Game.objects.values_list("pk", flat=True)[:3]),
            chance=1e-6,
            numbers=numbers,
            group=keys,
            paths=["bot.py"],
        ).dump()
        for kind in FindingKind
        for _ in range(findings)
    ]
    tested = dict.fromkeys(TESTED_NUMBERS.split(), 1)
    AnomalyReport.objects.create(
        season=Season.objects.earliest("pk"),
        seq=1,
        report={"tested": tested, "findings": found},
    )


def deliver(owner: User, count: int) -> None:
    """Let a user have webhooks, and the first one deliveries."""
    with transaction.atomic():
        for number in range(count):
            outbox.record(NewEvent(EventKind.BOT_STATUS, {"text": f"event {number}"}))
    stream.number_new()
    hooks = [
        Webhook(user=owner, url=f"http://1.1.1.1/{number}") for number in range(count)
    ]
    first = Webhook.objects.bulk_create(hooks)[0]
    numbers = Fact.objects.values_list("number", flat=True)
    WebhookDelivery.objects.bulk_create(
        WebhookDelivery(
            webhook=first,
            event_id=number,
            status="delivered",
            created_at=timezone.now(),
            next_at=timezone.now(),
        )
        for number in numbers
    )


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


def pages(name: str = "") -> list[str]:
    """Return the address of each web page that the person can open; "" is anonymous.

    The admin's pages and the page of the API are left out, because their markup is not
    of this project.
    """
    client = Client()
    if name:
        client.cookies["sessionid"] = session_cookie(name)
    found = routes(get_resolver())
    ours = _addresses(route for route in found if not f"/{route}".startswith(FOREIGN))
    return [address for address in ours.values() if _is_page(client, address)]


def session_cookie(name: str) -> str:
    """Return the cookie of a new session of the person."""
    client = Client()
    client.force_login(User.objects.get(username=name))
    return client.cookies["sessionid"].value


def _is_page(client: Client, address: str) -> bool:
    response = client.get(address)
    is_whole = not response.streaming and response.content.startswith(
        b"<!doctype html>"
    )
    return response.status_code == HTTPStatus.OK and is_whole
