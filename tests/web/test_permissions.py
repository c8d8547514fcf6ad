"""The permissions of the API: every route and method, as every kind of person.

The same with tokens that have one scope each.

The routes and methods come from the router. A new one has no expectation here and fails
the test; then say in `EXPECTED` who may use it.
"""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import transaction
from django.utils import timezone
from pytest_django import DjangoDbBlocker
from rest_framework.response import Response
from rest_framework.test import APIClient

from ladder.accounts import scopes, tokens
from ladder.accounts.scopes import Scope
from ladder.bots.models import Bot
from ladder.events import stream
from ladder.extras.analysis.models import Analysis
from ladder.extras.comparisons.models import VersionComparison
from ladder.extras.webhooks.models import Webhook, WebhookDelivery
from ladder.games.models import Game, Match, Seat, SeatLog
from ladder.ratings import memberships
from ladder.ratings.models import Ladder
from ladder.tournaments import services
from ladder.tournaments.models import FixtureSeat, Tournament
from ladder.urls import api
from tests import factories
from tests.comparisons.factories import undecided
from tests.factories import Show
from tests.games.factories import bot as other_bot
from tests.tournaments.factories import tick, tournament
from tests.tournaments.organisers import organiser
from tests.web.module_rows import module_rows

pytestmark = pytest.mark.django_db

# Oscar organises the tournament `cup`, and no other one.
ROLES = {
    "anonymous": "",
    "owner": "ana",
    "stranger": "cleo",
    "organiser": "oscar",
    "operator": "olga",
}
METHODS = ("get", "post", "put", "patch", "delete")
DENIED = (401, 403)
SAFE = ("get", "head", "options")
PRIVATE = "a-secret-of-ana"
HIDDEN_SCORE = 30011


class Expected(NamedTuple):
    """The status of the answer, by role."""

    anonymous: int
    owner: int
    stranger: int
    organiser: int
    operator: int


PUBLIC = Expected(200, 200, 200, 200, 200)


def signed_in(status: int) -> Expected:
    """Everybody with a token may do it."""
    return Expected(401, status, status, status, status)


def owners(status: int) -> Expected:
    """Only the owner may do it."""
    return Expected(401, status, 403, 403, 403)


def hidden(status: int) -> Expected:
    """Only the owner learns that it exists."""
    return Expected(401, status, 404, 404, 404)


def organisers(status: int, *, owner: int = 403, stranger: int = 403) -> Expected:
    """The organiser of the tournament and operators may do it."""
    return Expected(401, owner, stranger, status, status)


def operators(status: int) -> Expected:
    """Only operators may do it."""
    return Expected(401, 403, 403, 403, status)


LADDER = "ladders/<slug:slug>/"
PLACE = f"{LADDER}bots/<slug:bot>/"
CUP = "tournaments/<slug:slug>/"
BOT = "bots/<slug:slug>/"
HOOK = "webhooks/<int:pk>/"
EXPECTED = {
    ("get", "me/"): signed_in(200),
    ("get", "bots/"): PUBLIC,
    ("post", "bots/"): signed_in(201),
    ("get", BOT): PUBLIC,
    ("post", f"{BOT}withdraw/"): owners(200),
    ("post", f"{BOT}bring-back/"): owners(200),
    ("get", f"{BOT}submissions/"): PUBLIC,
    ("post", f"{BOT}submissions/"): owners(202),
    ("get", f"{BOT}ladders/"): PUBLIC,
    ("get", f"{BOT}comparisons/"): hidden(200),
    ("post", f"{BOT}comparisons/"): hidden(201),
    ("get", "submissions/<int:pk>/"): PUBLIC,
    ("post", "submissions/<int:pk>/activate/"): owners(200),
    ("get", "submissions/<int:pk>/log/"): owners(200),
    ("get", "submissions/<int:pk>/archive/"): owners(200),
    ("get", "languages/"): PUBLIC,
    ("get", "workers/"): PUBLIC,
    ("get", "status/"): PUBLIC,
    ("get", "matches/"): PUBLIC,
    ("get", "matches/<int:pk>/"): PUBLIC,
    ("get", "games/"): PUBLIC,
    ("get", "games/<int:pk>/"): PUBLIC,
    ("get", "games/<int:pk>/replay/"): PUBLIC,
    ("get", "games/<int:pk>/moves/"): PUBLIC,
    ("get", "games/<int:pk>/logs/"): owners(200),
    ("get", "games/<int:pk>/receipt/"): PUBLIC,
    ("get", "submissions/<int:pk>/receipt/"): PUBLIC,
    ("get", "games/<int:pk>/analyses/"): PUBLIC,
    ("post", "games/<int:pk>/analyses/"): signed_in(202),
    ("get", "analyses/<int:pk>/"): PUBLIC,
    ("get", "events/"): PUBLIC,
    ("get", "datasets/"): PUBLIC,
    ("get", "datasets/<slug:day>/manifest.json"): PUBLIC,
    ("get", "datasets/<slug:day>/<path:name>"): PUBLIC,
    ("get", "exports/games/"): PUBLIC,
    ("get", "exports/replays/"): PUBLIC,
    ("get", "ladders/"): PUBLIC,
    ("post", "ladders/"): operators(201),
    ("patch", LADDER): operators(200),
    ("get", LADDER): PUBLIC,
    ("get", f"{LADDER}leaderboard/"): PUBLIC,
    ("get", f"{LADDER}bands/"): PUBLIC,
    ("get", "strengths/"): PUBLIC,
    ("get", f"{LADDER}second-opinion/"): PUBLIC,
    # One of the bots must belong to the person who asks.
    ("post", f"{LADDER}challenges/"): Expected(401, 201, 422, 422, 422),
    ("get", PLACE): PUBLIC,
    ("post", f"{PLACE}join/"): owners(200),
    ("post", f"{PLACE}leave/"): owners(200),
    ("get", f"{PLACE}history/"): PUBLIC,
    ("get", f"{PLACE}record/"): PUBLIC,
    ("get", f"{PLACE}against/"): PUBLIC,
    ("get", f"{PLACE}second-opinion/"): PUBLIC,
    ("get", f"{PLACE}against/<slug:other>/"): PUBLIC,
    ("get", f"{PLACE}against/<slug:other>/deals/"): PUBLIC,
    ("get", "comparisons/<int:pk>/"): hidden(200),
    ("post", "comparisons/<int:pk>/cancel/"): hidden(200),
    ("get", "webhooks/"): signed_in(200),
    ("post", "webhooks/"): signed_in(201),
    ("get", HOOK): hidden(200),
    ("patch", HOOK): hidden(200),
    ("delete", HOOK): hidden(204),
    ("post", f"{HOOK}secret/"): hidden(200),
    ("post", f"{HOOK}test/"): hidden(202),
    ("post", f"{HOOK}replay/"): hidden(202),
    ("get", f"{HOOK}deliveries/"): hidden(200),
    ("post", f"{HOOK}deliveries/<int:delivery>/replay/"): hidden(202),
    ("get", "tournaments/"): PUBLIC,
    ("get", CUP): PUBLIC,
    ("get", f"{CUP}entrants/"): PUBLIC,
    ("post", "tournaments/"): organisers(201),
    ("post", "tournaments/preview/"): organisers(200),
    ("patch", CUP): organisers(200),
    # An owner enters and withdraws own bots, an organiser all.
    ("post", f"{CUP}entrants/"): organisers(201, owner=201, stranger=404),
    ("delete", f"{CUP}entrants/<slug:bot>/"): organisers(204, owner=204, stranger=404),
    ("post", f"{CUP}entrants/<slug:bot>/replace/"): organisers(200),
    ("post", f"{CUP}seeds/"): organisers(200),
    ("get", f"{CUP}preview/"): organisers(200),
    ("post", f"{CUP}open/"): organisers(409),
    ("post", f"{CUP}close-entry/"): organisers(200),
    ("post", f"{CUP}start/"): organisers(200),
    ("post", f"{CUP}pause/"): organisers(409),
    ("post", f"{CUP}resume/"): organisers(409),
    ("post", f"{CUP}reveal/"): organisers(409),
    ("post", f"{CUP}cancel/"): organisers(200),
    ("post", f"{CUP}archive/"): organisers(409),
    ("post", f"{CUP}entrants/<slug:bot>/check-in/"): hidden(200),
    ("get", f"{CUP}rounds/"): PUBLIC,
    ("get", f"{CUP}bracket/"): PUBLIC,
    ("get", f"{CUP}standings/"): PUBLIC,
    ("get", f"{CUP}standings/<slug:first>/<slug:second>/"): PUBLIC,
    ("get", f"{CUP}games/"): PUBLIC,
    ("get", "audit/"): operators(200),
    ("get", "operate/workers/"): operators(200),
    **{
        ("post", f"operate/{route}/"): operators(200)
        for route in (
            *(
                f"bots/<slug:slug>/{word}"
                for word in ("ban", "bench", "withdraw", "reinstate", "merge")
            ),
            "bots/<slug:slug>/join",
            "bots/<slug:slug>/leave",
            "games/<int:pk>/void",
            "games/<int:pk>/rerun",
            "ladders/<slug:slug>/freeze",
            "ladders/<slug:slug>/archive",
            "accounts/<str:name>/delete",
            "accounts/<str:name>/organiser",
            "accounts/<str:name>/no-organiser",
            "workers/drain",
            "submissions/<int:pk>/validate",
            "tournaments/<slug:slug>/assign",
            "tournaments/<slug:slug>/check-in",
            "webhooks/<int:pk>/switch-off",
            "comparisons/<int:pk>/cancel",
        )
    },
    # Nothing of this fits the state of the rows.
    ("post", "operate/ladders/<slug:slug>/start/"): operators(409),
    ("post", "operate/ladders/<slug:slug>/reopen/"): operators(409),
    ("post", "operate/ladders/<slug:slug>/finals/"): operators(200),
    ("post", "operate/workers/undrain/"): operators(404),
    ("post", "operate/games/<int:pk>/cancel/"): operators(409),
    ("post", "operate/games/<int:pk>/release/"): operators(409),
    ("post", "operate/tokens/<int:pk>/revoke/"): operators(404),
    ("post", "operate/invitations/<int:pk>/revoke/"): operators(404),
    ("post", "operate/fixtures/<int:pk>/give-up/"): operators(404),
    ("post", "operate/practice/<int:pk>/end/"): operators(404),
}
"""The status that each role gets. The rows of routes with a bot are the owner's."""

BODIES: dict[tuple[str, str], dict[str, Any]] = {
    ("post", "bots/"): {"name": "One more"},
    ("post", f"{BOT}comparisons/"): {"ladder": "main"},
    ("post", f"{LADDER}challenges/"): {"bots": ["grendel", "rival"]},
    ("post", f"{CUP}entrants/"): {"bot": "second"},
    ("post", "tournaments/"): {"name": "New"},
    ("post", "tournaments/preview/"): {"name": "New"},
    ("patch", CUP): {"name": "New"},
    ("post", "ladders/"): {"name": "New", "slug": "second"},
    ("patch", LADDER): {"name": "New"},
    ("post", f"{CUP}entrants/<slug:bot>/replace/"): {"by": "second"},
    ("post", f"{CUP}seeds/"): {"seeds": {"grendel": 1}},
    ("post", f"{CUP}cancel/"): {"why": "a test"},
    ("post", "operate/bots/<slug:slug>/merge/"): {"why": "a test", "into": "rival"},
    ("post", "operate/bots/<slug:slug>/join/"): {"why": "a test", "ladder": "main"},
    ("post", "operate/bots/<slug:slug>/leave/"): {"why": "a test", "ladder": "main"},
    ("post", "operate/workers/drain/"): {"why": "a test", "worker": "w:1:1"},
    ("post", "operate/workers/undrain/"): {"why": "a test", "worker": "nobody"},
    ("post", "operate/tournaments/<slug:slug>/assign/"): {
        "why": "a test",
        "organiser": "oscar",
    },
    ("post", "operate/tournaments/<slug:slug>/check-in/"): {
        "why": "a test",
        "bot": "grendel",
    },
    ("post", "webhooks/"): {"url": "http://1.1.1.1/hook"},
    ("post", f"{HOOK}replay/"): {"after": 0},
}


def body_of(method: str, route: str) -> dict[str, Any] | None:
    """Return the body of a request. Each action of an operator needs a reason."""
    known = BODIES.get((method, route))
    if known is None and route.startswith("operate/"):
        return {"why": "a test"}
    return known


def views() -> dict[str, type]:
    """Return the view of each route of the API."""
    return {str(each.pattern): each.callback.view_class for each in api}


def implemented(view: type) -> list[str]:
    return [method for method in METHODS if hasattr(view, method)]


OPERATIONS = [
    (method, route) for route, view in views().items() for method in implemented(view)
]
OTHERS = [
    (method, route)
    for route, view in views().items()
    for method in METHODS
    if not hasattr(view, method)
]


@dataclass
class PermissionRows:
    """The rows that the requests are about. Everything secret has a mark."""

    show: Show
    comparison: int
    analysis: int
    delivery: WebhookDelivery
    secret_game: Game
    clients: dict[str, APIClient]

    def address(self, route: str, *, secret: bool = False) -> str:
        """Return the address of a route: of public rows, or of those that are not."""
        values = {
            "<slug:slug>": self._slug(route, secret=secret),
            "<slug:bot>": "grendel",
            "<slug:other>": "rival",
            "<slug:day>": "2026-11-22",
            "<path:name>": "games/one.parquet",
            "<slug:first>": "secret-0" if secret else "grendel",
            "<slug:second>": "secret-1" if secret else "rival",
            "<int:pk>": str(self._key(route, secret=secret)),
            "<str:name>": "ben",
            "<int:delivery>": str(self.delivery.pk),
        }
        for part, value in values.items():
            route = route.replace(part, value)
        assert "<" not in route, f"give the parts of this route a value: {route}"
        return f"/api/v1/{route}"

    def _slug(self, route: str, *, secret: bool) -> str:
        route = route.removeprefix("operate/")
        if route.startswith("ladders/"):
            return "main"
        if route.startswith("tournaments/"):
            return "secret" if secret else "cup"
        return "secret-0" if secret else "grendel"

    def _key(self, route: str, *, secret: bool) -> int:
        game = self.secret_game if secret else self.show.game
        keys = {
            "games": game.pk,
            "matches": game.match_id,
            "submissions": self.show.anas.pk,
            "comparisons": self.comparison,
            "analyses": self.analysis,
            "webhooks": self.delivery.webhook_id,
        }
        route = route.removeprefix("operate/")
        return keys.get(route.split("/", maxsplit=1)[0], 0)

    def ask(self, role: str, method: str, address: str, body: object = None) -> Any:
        """Send a request whose changes are undone."""
        with transaction.atomic():
            send = getattr(self.clients[role], method)
            if address.endswith("/submissions/") and method == "post":
                body = {"archive": SimpleUploadedFile("bot.py", b"new")}
                answer = send(address, body, format="multipart")
            elif method in SAFE:
                answer = send(address)
            else:
                answer = send(address, body or {}, format="json")
            text = read(answer)
            transaction.set_rollback(True)
        answer.seen = text
        return answer


def read(answer: Response) -> str:
    body = b"".join(answer.streaming_content) if answer.streaming else answer.content
    return body.decode(errors="replace")


@pytest.fixture(scope="module")
def world(
    django_db_setup: None,
    django_db_blocker: DjangoDbBlocker,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[PermissionRows]:
    """Let Ana own the bots `grendel` and `second`, and take part in every contest."""
    with module_rows(django_db_blocker, tmp_path_factory.mktemp("data")):
        show = factories.everything()
        Bot.objects.filter(pk=show.bens.bot_id).update(slug="rival")
        factories.make_bot("Second")
        factories.upload(show.anas.bot, b"the second version")
        comparison = undecided(show)
        VersionComparison.objects.update(note=PRIVATE)
        Seat.objects.filter(bot=show.anas.bot).update(fault_detail=PRIVATE)
        SeatLog.objects.update(stderr="stderr of somebody")
        mine = SeatLog.objects.filter(number=0, attempt__game=show.game)
        mine.update(stderr=PRIVATE, notes=[{"move": 1, "note": PRIVATE}])
        type(show.anas).objects.filter(bot=show.anas.bot).update(log=PRIVATE)
        show.season.ladder.memberships.filter(bot=show.anas.bot).update(why=PRIVATE)
        cup = tournament({"format": "swiss", "rounds": 3})
        for bot in (show.anas.bot, show.bens.bot):
            services.enter(cup, Bot.objects.get(pk=bot.pk))
        Tournament.objects.create(
            slug="draft", name=PRIVATE, limits=factories.LIMITS, config=cup.config
        )
        User.objects.create_superuser("olga")
        Tournament.objects.filter(slug="cup").update(organiser=organiser("oscar"))
        yield PermissionRows(
            show,
            comparison.pk,
            Analysis.objects.create(game=show.game, key="what if", ply=3).pk,
            deliver(show.anas.bot.owner),
            play_secretly(),
            clients(),
        )


def deliver(owner: User) -> WebhookDelivery:
    """Return a delivery to a webhook of a user."""
    webhook = Webhook.objects.create(
        user=owner, url="http://1.1.1.1/hook", note=PRIVATE, salt=PRIVATE
    )
    stream.number_new()
    now = timezone.now()
    return WebhookDelivery.objects.create(
        webhook=webhook, event_id=stream.newest(), created_at=now, next_at=now
    )


def clients() -> dict[str, APIClient]:
    """Return a client for each role, and one for each role with a single scope."""
    found = {}
    for role, name in ROLES.items():
        client = APIClient(raise_request_exception=False)
        if name:
            sign_in(client, name, scopes.ALL)
            for scope in Scope:
                limited = APIClient(raise_request_exception=False)
                sign_in(limited, name, scope)
                found[f"{role}, {scope.name.lower()}"] = limited
        found[role] = client
    return found


def sign_in(client: APIClient, name: str, permitted: Scope) -> None:
    token = tokens.token_for(name, scopes=permitted)
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {token}")


def play_secretly() -> Game:
    """Play the first round of a tournament whose results are held back.

    Ana takes part, too. Return the game of her bot.
    """
    row = tournament({"format": "round_robin"}, slug="secret", held_back=True)
    for number, owner in enumerate(("ana", "ben", "dan", "eve")):
        services.enter(row, other_bot(f"secret-{number}", owner))
    services.start(row)
    tick(slots=8)
    games = Game.objects.filter(match__embargo=True)
    for game in games:
        factories.play(game)
    tick(slots=8)
    assert row.fixtures.exclude(how="").exists()
    Seat.objects.filter(game__match__embargo=True).update(score=HIDDEN_SCORE)
    FixtureSeat.objects.filter(score__isnull=False).update(score=HIDDEN_SCORE)
    return games.filter(seats__bot__slug="secret-0").earliest("pk")


def leave_first(world: PermissionRows) -> None:
    memberships.leave(world.show.anas.bot, Ladder.objects.get(slug="main"))


def end_the_comparison(world: PermissionRows) -> None:
    VersionComparison.objects.update(status="cancelled", ended_at=timezone.now())


PREPARATIONS: dict[tuple[str, str], Callable[[PermissionRows], None]] = {
    ("post", f"{PLACE}join/"): leave_first,
    ("post", f"{BOT}comparisons/"): end_the_comparison,
}


def test_every_route_and_method_has_an_expectation() -> None:
    assert set(OPERATIONS) == set(EXPECTED)


@pytest.mark.parametrize(("method", "route"), OPERATIONS)
def test_an_operation_is_open_to_the_right_people(
    world: PermissionRows, method: str, route: str
) -> None:
    PREPARATIONS.get((method, route), lambda _: None)(world)
    address = world.address(route)

    statuses = {
        role: world.ask(role, method, address, body_of(method, route)).status_code
        for role in ROLES
    }

    assert statuses == EXPECTED[method, route]._asdict()


@pytest.mark.parametrize(("method", "route"), OPERATIONS)
def test_a_token_needs_the_scope_of_an_operation(
    world: PermissionRows, method: str, route: str
) -> None:
    PREPARATIONS.get((method, route), lambda _: None)(world)
    expected = EXPECTED[method, route]._asdict()
    role = next((role for role in ROLES if expected[role] not in DENIED), "operator")
    role = "owner" if role == "anonymous" else role
    address, body = world.address(route), body_of(method, route)

    for scope in scopes.names(scopes.ALL):
        answer = world.ask(f"{role}, {scope}", method, address, body)
        if scope == scope_of(method, route):
            assert answer.status_code == expected[role]
        else:
            problem = json.loads(answer.seen)
            assert (answer.status_code, problem["code"]) == (403, "missing-scope")
            assert problem["scope"] == scope_of(method, route)
            assert f'scope="{problem["scope"]}"' in answer["WWW-Authenticate"]


def scope_of(method: str, route: str) -> str:
    """Return the scope that follows from the people who may do something.

    So a token for the bots of an operator does nothing that only operators may do.
    """
    expected = EXPECTED[method, route]._asdict()
    if expected["owner"] not in DENIED:
        return "read" if method == "get" else "submit"
    if expected.get("organiser", 403) not in DENIED:
        return "read" if method == "get" else "organise"
    return "operate"


@pytest.mark.parametrize(("method", "route"), OTHERS)
def test_other_methods_do_nothing(
    world: PermissionRows, method: str, route: str
) -> None:
    address = world.address(route)
    statuses = {role: world.ask(role, method, address).status_code for role in ROLES}

    # Some routes ask for a token before they look at the method.
    assert statuses.pop("anonymous") in ((401, 405) if method in SAFE else (401,))
    assert set(statuses.values()) == {405}


@pytest.mark.parametrize("route", views())
def test_head_and_options_say_no_more_than_get(
    world: PermissionRows, route: str
) -> None:
    address = world.address(route)
    for role in ROLES:
        head = world.ask(role, "head", address)
        options = world.ask(role, "options", address)
        assert head.status_code == world.ask(role, "get", address).status_code
        assert options.status_code in (200, 401, 403, 404)
        assert PRIVATE not in options.seen


@pytest.mark.parametrize(
    "route", [route for method, route in EXPECTED if method == "get"]
)
def test_only_owners_read_what_is_private(world: PermissionRows, route: str) -> None:
    for role in ROLES:
        if role != "owner":
            assert PRIVATE not in world.ask(role, "get", world.address(route)).seen


def test_owners_read_what_is_private(world: PermissionRows) -> None:
    """The mark is where the test above looks for it."""
    reading = [
        route
        for method, route in EXPECTED
        if method == "get"
        and PRIVATE in world.ask("owner", "get", world.address(route)).seen
    ]

    assert set(reading) >= {
        "submissions/<int:pk>/",
        "submissions/<int:pk>/log/",
        "games/<int:pk>/logs/",
        "comparisons/<int:pk>/",
        PLACE,
    }


@pytest.mark.parametrize(("method", "route"), OPERATIONS)
def test_nobody_reads_what_is_held_back(
    world: PermissionRows, method: str, route: str
) -> None:
    """Its games do not exist for anybody, and no answer has a part of them."""
    about_a_game = route.startswith(("games/<", "matches/<"))
    address = world.address(route, secret=True)
    for role in ROLES:
        answer = world.ask(role, method, address, body_of(method, route))
        if about_a_game:
            assert answer.status_code in (401, 404), role
        assert not marks_of_secrets(answer.seen), role


@pytest.mark.parametrize(
    "query", ["?bot=secret-0", "?match={match}", "?status=finished&limit=200"]
)
@pytest.mark.parametrize("route", ["games/", "matches/", "tournaments/secret/games/"])
def test_no_filter_finds_what_is_held_back(
    world: PermissionRows, route: str, query: str
) -> None:
    match = world.secret_game.match_id
    address = f"/api/v1/{route}{query.format(match=match)}"
    for role in ROLES:
        text = world.ask(role, "get", address).seen
        assert not marks_of_secrets(text), role
        if "secret-0" in query and route == "games/":
            assert json.loads(text)["results"] == []


def marks_of_secrets(text: str) -> list[str]:
    """Return what a text has of the games that are held back."""
    marks = [rf"\b{HIDDEN_SCORE}\b"]
    for match in Match.objects.filter(embargo=True):
        marks += [match.seed, rf'"match":\s*{match.pk}\b']
    return [mark for mark in marks if re.search(mark, text)]


def test_held_back_results_have_marks(world: PermissionRows) -> None:
    """The mark is where the tests above would find it after all is revealed."""
    Match.objects.update(embargo=False)
    Tournament.objects.update(held_back=False)
    client = world.clients["anonymous"]
    pages = [
        client.get(f"/api/v1/{address}").content.decode()
        for address in (
            "games/",
            f"matches/{world.secret_game.match_id}/",
            "tournaments/secret/rounds/",
        )
    ]
    Match.objects.filter(pk=world.secret_game.match_id).update(embargo=True)

    assert all(marks_of_secrets(page) for page in pages)


@pytest.mark.parametrize(
    ("method", "route"), [(m, r) for m, r in OPERATIONS if r.startswith(CUP)]
)
def test_a_draft_of_a_tournament_does_not_exist(
    world: PermissionRows, method: str, route: str
) -> None:
    address = world.address(route).replace("/cup/", "/draft/")
    """Operators see the drafts of all organisers."""
    for role in ("anonymous", "owner", "stranger", "organiser"):
        answer = world.ask(role, method, address, body_of(method, route))
        assert answer.status_code in (401, 404), role
        assert PRIVATE not in answer.seen
