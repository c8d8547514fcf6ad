"""Each act has the same effect at every door, and other people are refused."""

import html
import io
import re
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import connection, transaction
from django.db.models import QuerySet
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from rest_framework.test import APIClient

from ladder.accounts import invitations, roles, scopes, tokens
from ladder.accounts.models import ApiToken, Invitation
from ladder.bots.models import Bot, Submission
from ladder.extras.comparisons.models import VersionComparison
from ladder.extras.practice import services as practice
from ladder.extras.practice.models import PracticeGame
from ladder.extras.practice.services import PracticeTerms
from ladder.extras.webhooks.models import Webhook
from ladder.games.models import Game, GameStatus, Worker
from ladder.moderation.declaration import no_token, table
from ladder.moderation.models import AuditEntry
from ladder.ratings.models import Entry, Ladder, Membership, Season
from ladder.tournaments import services
from ladder.tournaments.models import Entrant, Fixture, Tournament
from tests import factories
from tests.comparisons.factories import undecided
from tests.factories import Show
from tests.tournaments.factories import tournament
from tests.tournaments.organisers import client_of

pytestmark = pytest.mark.django_db
WHY = "It attacks the sandbox."
ACTS = list(table())
BOT, LADDER, BEN, CUP, GAME = "grendel", "main", "ben", "cup", "{game}"
# The target of each act, and its arguments.
CASES: dict[str, tuple[str, dict[str, Any]]] = {
    **dict.fromkeys(("ban", "bench", "withdraw", "reinstate"), (BOT, {})),
    "merge": (BOT, {"into": "rival"}),
    "join": (BOT, {"ladder": "main"}),
    "leave": (BOT, {"ladder": "main"}),
    "validate": ("{upload}", {}),
    "void": (GAME, {}),
    "rerun": (GAME, {}),
    "cancel_game": ("{waiting}", {}),
    "release": ("{waiting}", {}),
    **dict.fromkeys(("freeze", "reopen", "archive", "start"), (LADDER, {})),
    "finals": (LADDER, {"prizes": 1}),
    "create_ladder": ("second", {"document": {"name": "Second"}}),
    "edit_ladder": (LADDER, {"document": {"admission": "open", "name": "First"}}),
    "drain": ("w/", {}),
    "undrain": ("w/", {}),
    **dict.fromkeys(("organiser", "no_organiser", "delete_account"), (BEN, {})),
    **dict.fromkeys(("operator", "deactivate", "activate"), (BEN, {})),
    "no_operator": ("boss", {}),
    "rename": (BEN, {"name": "Benno"}),
    "address": (BEN, {"address": "ben@example.org"}),
    "revoke_token": ("{token}", {}),
    "invite": ("the course", {"uses": 30, "days": 7}),
    "revoke_invitation": ("{invitation}", {}),
    **dict.fromkeys(
        (name for name in ACTS if name.startswith("tournament_")), (CUP, {})
    ),
    "edit_tournament": (CUP, {"document": {"name": "Better"}}),
    "assign": (CUP, {"organiser": "ben"}),
    "enter": (CUP, {"bot": "rival", "seed": 7}),
    "check_in": (CUP, {"bot": "grendel"}),
    "withdraw_entrant": (CUP, {"bot": "grendel"}),
    "give_up": ("{fixture}", {}),
    "switch_off": ("{webhook}", {}),
    "cancel_comparison": ("{comparison}", {}),
    "end_practice": ("{practice}", {}),
}
WITHOUT_OPEN_GAMES = ("archive", "finals", "merge", "start")


@pytest.fixture
def show(data_dir: object) -> Show:
    show = factories.everything()
    Bot.objects.filter(pk=show.bens.bot_id).update(slug="rival")
    roles.add_organiser(User.objects.get(username="ben"))
    return show


@pytest.fixture
def olga(show: Show) -> APIClient:
    User.objects.create_superuser("olga")
    return client_of("olga")


@pytest.fixture
def full(show: Show, olga: APIClient) -> dict[str, int]:
    """Add a row for each kind of target; return the numbers of rows."""
    owner = show.anas.bot.owner
    boss = User.objects.create_superuser("boss")
    invitations.new_invitation(boss)
    cup = tournament({"format": "swiss"})
    services.enter(cup, show.anas.bot)
    worker = {"host": "w", "seen_at": timezone.now(), "gone_at": None}
    Worker.objects.update(name="w:/data#1-a", **worker)
    fixture = Fixture.objects.create(
        tournament=cup, round=1, table=0, match=show.waiting
    )
    webhook = Webhook.objects.create(user=owner, url="http://1.1.1.1/")
    terms = PracticeTerms("yucata", [show.anas.pk], 0)
    return {
        "game": show.game.pk,
        "waiting": show.waiting.games.get().pk,
        "upload": show.rejected.pk,
        "token": ApiToken.objects.get(user=tokens_of(owner)).pk,
        "invitation": Invitation.objects.get().pk,
        "fixture": fixture.pk,
        "webhook": webhook.pk,
        "practice": practice.begin(owner, terms).pk,
        "comparison": undecided(show).pk,
    }


def tokens_of(owner: User | None) -> User:
    assert owner is not None
    tokens.token_for(owner.username)
    return owner


def prepare(act: str) -> None:
    """Bring the rows into the state that an act needs."""
    scheduled = Game.objects.filter(status=GameStatus.SCHEDULED)
    if act in WITHOUT_OPEN_GAMES:
        scheduled.update(status=GameStatus.CANCELLED)
    now = timezone.now()
    runs = {"status": "running", "started_at": now}
    cups: dict[str, dict[str, Any]] = {
        "tournament_open": {"status": "draft"},
        "tournament_pause": runs,
        "tournament_resume": runs | {"paused_at": now},
        "tournament_reveal": runs | {"held_back": True},
        "tournament_archive": runs | {"status": "finished", "finished_at": now},
    }
    Tournament.objects.filter(slug=CUP).update(**cups.get(act, {}))
    if act == "tournament_start":
        cup = Tournament.objects.get(slug=CUP)
        services.enter(cup, Bot.objects.get(slug="rival"))
        cup.fixtures.all().delete()
    owner = Worker.objects.first()
    changes: dict[str, tuple[QuerySet[Any], dict[str, Any]]] = {
        "tournament_reveal": (
            Fixture.objects.all(),
            {"how": "played", "decided_at": now},
        ),
        "release": (
            scheduled,
            {"status": "running", "owner": owner, "lease_until": now},
        ),
        "give_up": (scheduled, {"status": GameStatus.DEAD}),
        "undrain": (Worker.objects.all(), {"drained": True}),
        "reopen": (Season.objects.all(), {"status": "frozen"}),
        "start": (Season.objects.all(), {"status": "archived"}),
    }
    if act in changes:
        rows, fields = changes[act]
        rows.update(**fields)


def effects() -> list[Any]:
    """Return what acts change, without keys and times that differ anyway."""
    users = User.objects.order_by("pk").values_list(
        *("username", "email", "is_active", "is_superuser", "groups__name")
    )
    entries = AuditEntry.objects.order_by("pk")
    cup_fields = ("name", "status", "organiser", "note", "revealed")
    return [
        list(users),
        list(ApiToken.objects.values_list("pk")),
        list(Invitation.objects.values_list("note", "max_uses")),
        list(Bot.objects.order_by("pk").values_list("slug", "status", "owner")),
        list(Submission.objects.order_by("pk").values_list("status", "log")),
        list(Game.objects.order_by("pk").values_list("status", "note", "index")),
        list(Season.objects.order_by("pk").values_list("status", "prizes", "head")),
        list(Ladder.objects.order_by("pk").values_list("slug", "name", "admission")),
        list(Membership.objects.order_by("pk").values_list("bot", "status")),
        list(Entry.objects.order_by("pk").values_list("kind", "bot")),
        list(Worker.objects.values_list("drained", "drained_why")),
        list(Tournament.objects.values_list(*cup_fields)),
        list(Entrant.objects.order_by("pk").values_list("bot", "seed", "note")),
        list(Webhook.objects.values_list("active", "note")),
        list(PracticeGame.objects.values_list("status", "note")),
        list(VersionComparison.objects.values_list("status", "note")),
        list(entries.values_list("kind", "target", "why", "by__username")),
        [sorted(entry.details) for entry in entries],
    ]


def undone(act: Callable[[], object]) -> list[Any]:
    """Return the effects of an act, and undo it."""
    with transaction.atomic():
        act()
        after = effects()
        transaction.set_rollback(True)
    return after


def route(act: str, target: str, fields: dict[str, Any]) -> str:
    """Return the address of an act in the REST API; `drain` names its row in fields."""
    declared = table()[act]
    prefix = re.sub("<[^>]*>", target, declared.target.route)
    if declared.target.is_in_body:
        fields[declared.target.word] = target
    return f"/api/v1/{prefix}{declared.address_word}/"


def by_rest(client: APIClient, act: str, target: str, fields: dict[str, Any]) -> Any:
    body = {"why": WHY, **fields}
    address = route(act, target, body)
    return client.post(address, body, format="json")


def by_the_page(client: Client, act: str, target: str, fields: dict[str, Any]) -> Any:
    texts = {
        name: str(value).replace("'", '"') if isinstance(value, dict) else value
        for name, value in fields.items()
    }
    form = {"target": target, "why": WHY, **texts}
    return client.post(f"/operate/{act}/", form, follow=True)


def signed_in(name: str) -> Client:
    client = Client()
    client.force_login(User.objects.get(username=name))
    return client


def test_each_act_has_a_case() -> None:
    assert set(CASES) == set(ACTS)


@pytest.mark.parametrize("act", ACTS)
def test_an_act_does_the_same_at_each_door_and_is_recorded(
    full: dict[str, int], olga: APIClient, act: str
) -> None:
    target, fields = CASES[act]
    target = target.format(**full)
    prepare(act)
    entries = AuditEntry.objects.count()
    before = effects()

    def over_rest() -> None:
        answer = by_rest(olga, act, target, fields)
        assert answer.status_code == 200, answer.json()
        assert (answer.json()["by"], answer.json()["why"]) == ("olga", WHY)

    def on_the_page() -> None:
        answer = by_the_page(signed_in("olga"), act, target, fields)
        assert answer.redirect_chain, html.unescape(answer.content.decode())

    def at_the_console() -> None:
        options = {**fields, "why": WHY, "by": "olga"}
        call_command("operator", act, target, stdout=io.StringIO(), **options)

    after = undone(on_the_page)
    assert after == undone(at_the_console)
    if table()[act].has_route:
        assert after == undone(over_rest)
    assert after != before
    at_the_console()
    assert AuditEntry.objects.count() > entries


@pytest.mark.parametrize("act", ACTS)
def test_an_act_is_refused_for_others(full: dict[str, int], act: str) -> None:
    target, fields = CASES[act]
    target = target.format(**full)
    User.objects.create_user("sam", is_staff=True)
    prepare(act)
    before = effects()
    for name in ("ana", "sam"):
        assert by_the_page(signed_in(name), act, target, fields).status_code == 403
        options = {**fields, "why": WHY, "by": name}
        with pytest.raises(CommandError, match="You may not do this"):
            call_command("operator", act, target, **options)
        if table()[act].has_route:
            answer = by_rest(client_of(name), act, target, fields)
            assert answer.status_code == 403
    answer = by_the_page(Client(), act, target, fields)
    assert answer.redirect_chain[0][0].startswith("/sign-in/")
    assert [row[:1] for row in effects()] == [row[:1] for row in before]


@pytest.mark.parametrize(
    "act", [act for act in ACTS if table()[act].token_refusal is no_token]
)
def test_a_session_by_token_changes_nothing_that_outlives_it(
    full: dict[str, int], act: str
) -> None:
    target, fields = CASES[act]
    found = Client()
    token = tokens.new_token(User.objects.get(username="olga"), scopes=scopes.ALL)
    found.post("/sign-in/", {"token": token})

    answer = by_the_page(found, act, target.format(**full), fields)

    assert answer.status_code == 422
    assert "Sign in with a password" in answer.content.decode()
    assert not AuditEntry.objects.exists()


def test_a_season_starts_freezes_and_reopens(show: Show, olga: APIClient) -> None:
    Game.objects.filter(status=GameStatus.SCHEDULED).update(status=GameStatus.CANCELLED)
    for action, status in (("freeze", "frozen"), ("reopen", "open")):
        act(olga, f"ladders/main/{action}")
        assert Season.objects.get().status == status
    answer = olga.post("/api/v1/operate/ladders/main/start/", {"why": WHY})
    assert (answer.status_code, answer.json()["code"]) == (409, "wrong-state")
    act(olga, "ladders/main/archive")
    act(olga, "ladders/main/start")
    assert Season.objects.count() == 2


def act(client: APIClient, path: str, **fields: object) -> Any:
    answer = client.post(
        f"/api/v1/operate/{path}/", {"why": WHY, **fields}, format="json"
    )
    assert answer.status_code == 200, answer.json()
    return answer.json()


def test_workers_are_drained_and_undrained(show: Show, olga: APIClient) -> None:
    name = "w:/data#1-a"
    Worker.objects.update(name=name, host="w", seen_at=timezone.now(), gone_at=None)
    assert act(olga, "workers/drain", worker="w/")["details"] == {"workers": [name]}
    rows = olga.get("/api/v1/operate/workers/").json()
    assert [(row["drained"], row["drained_why"]) for row in rows] == [(True, WHY)]
    act(olga, "workers/undrain", worker=name)
    assert not Worker.objects.get().drained
    kinds = AuditEntry.objects.order_by("pk").values_list("kind", flat=True)
    assert list(kinds)[-2:] == ["drain", "undrain"]


@pytest.mark.parametrize(
    ("path", "body", "status", "why"),
    [
        ("bots/grendel/ban", {}, 400, "why: This field is required"),
        ("bots/grendel/ban", {"why": ""}, 400, "why: This field may not be blank"),
        ("bots/grendel/ban", {"why": 7}, 400, "why: Not a valid string"),
        ("bots/grendel/ban", {"why": "x" * 301}, 400, "why: .*no more than 300"),
        ("bots/grendel/ban", {"why": "a\0b"}, 400, "why: Null characters"),
        ("bots/nobody/ban", {"why": WHY}, 404, "There is no bot with slug 'nobody'"),
        ("bots/grendel/merge", {"why": WHY}, 400, "into: This field is required"),
        ("bots/grendel/merge", {"why": WHY, "into": "x"}, 404, "no bot with slug 'x'"),
        ("bots/grendel/merge", {"why": WHY, "into": "grendel"}, 409, "into itself"),
        ("bots/grendel/join", {"why": WHY, "ladder": "x"}, 404, "no ladder with slug"),
        ("games/999999/void", {"why": WHY}, 404, "There is no game 999999"),
        ("games/{waiting}/void", {"why": WHY}, 409, "is not finished"),
        ("ladders/nobody/freeze", {"why": WHY}, 404, "There is no ladder 'nobody'"),
        ("ladders/main/reopen", {"why": WHY}, 409, "open"),
        ("ladders/main/finals", {"why": WHY, "prizes": 0}, 400, "prizes: .*greater"),
        ("ladders/main/finals", {"why": WHY, "prizes": "x"}, 400, "prizes: "),
        ("accounts/nobody/delete", {"why": WHY}, 404, "no user with username"),
        ("accounts/olga/delete", {"why": WHY}, 422, "olga is an operator"),
        ("games/{waiting}/release", {"why": WHY}, 409, "only a running one"),
        ("workers/drain", {"why": WHY}, 400, "worker: This field is required"),
        ("workers/drain", {"why": WHY, "worker": "x"}, 404, "no running worker 'x'"),
    ],
)
def test_a_wrong_action_is_refused(
    show: Show, olga: APIClient, path: str, body: dict[str, Any], status: int, why: str
) -> None:
    entries = AuditEntry.objects.count()
    waiting = show.waiting.games.get().pk
    address = f"/api/v1/operate/{path.format(waiting=waiting)}/"

    answer = olga.post(address, body, format="json")

    assert answer.status_code == status
    assert answer["Content-Type"] == "application/problem+json"

    assert re.search(why, answer.json()["detail"])
    assert AuditEntry.objects.count() == entries


def test_the_audit_log_is_filtered(show: Show, olga: APIClient) -> None:
    act(olga, "bots/grendel/bench")
    act(olga, "bots/grendel/reinstate")

    def kinds(query: str) -> list[str]:
        answer = olga.get(f"/api/v1/audit/?{query}")
        assert answer.status_code == 200, answer.json()
        return [row["kind"] for row in answer.json()["results"]]

    assert kinds("") == ["reinstate", "bench"]
    assert kinds("kind=bench") == ["bench"]
    assert kinds("target=bot grendel&by=olga") == ["reinstate", "bench"]
    assert kinds("target=bot other") == []
    for query, why in (
        ("kind=wink", "'wink' is not known. Use one of"),
        ("by=nobody", "There is no user 'nobody'"),
        ("x=1", "Unknown parameter"),
    ):
        answer = olga.get(f"/api/v1/audit/?{query}")
        assert answer.status_code == 400
        assert why in answer.json()["detail"]


def test_the_audit_log_asks_no_more_often_for_more_rows(
    show: Show, olga: APIClient
) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as asked:
            assert olga.get("/api/v1/audit/?limit=50").status_code == 200
        return len(asked)

    act(olga, "bots/grendel/bench")
    olga.get("/api/v1/audit/")  # records the use of the token
    few = queries()
    for _ in range(20):
        act(olga, "bots/grendel/bench")
    assert queries() == few


def test_staff_without_all_rights_is_no_operator(show: Show) -> None:
    User.objects.create_user("sam", is_staff=True)
    sam = client_of("sam")
    ladders = Ladder.objects.count()
    for path in ("bots/grendel/ban", "ladders/main/freeze", "workers/drain"):
        answer = sam.post(f"/api/v1/operate/{path}/", {"why": WHY}, format="json")
        assert answer.status_code == 403
    assert sam.get("/api/v1/audit/").status_code == 403
    assert not AuditEntry.objects.exists()
    assert Ladder.objects.count() == ladders
