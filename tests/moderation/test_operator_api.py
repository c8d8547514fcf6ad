"""Operators act over REST: with the same effects as the console, and with a reason."""

import io
import re
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from rest_framework.test import APIClient

from ladder.accounts import roles
from ladder.bots.models import Bot, Submission
from ladder.games.models import Game, GameStatus, Worker
from ladder.moderation.models import AuditEntry
from ladder.ratings.models import Entry, Ladder, Membership, Season
from tests import factories
from tests.factories import Show
from tests.tournaments.organisers import client_of

pytestmark = pytest.mark.django_db
WHY = "It attacks the sandbox."
GRENDEL = ("bots/grendel", "grendel")
LADDER = ("ladders/main", "main")
BEN = ("accounts/ben", "ben")
# The address, the arguments of the console, and the fields of the body.
ACTIONS: dict[str, tuple[tuple[str, str], dict[str, Any]]] = {
    "ban": (GRENDEL, {}),
    "bench": (GRENDEL, {}),
    "withdraw": (GRENDEL, {}),
    "reinstate": (GRENDEL, {}),
    "merge": (GRENDEL, {"into": "rival"}),
    "join": (GRENDEL, {"ladder": "main"}),
    "leave": (GRENDEL, {"ladder": "main"}),
    "void": (("games/{game}", "{game}"), {}),
    "rerun": (("games/{game}", "{game}"), {}),
    "freeze": (LADDER, {}),
    "archive": (LADDER, {}),
    "finals": (LADDER, {"prizes": 1}),
    "organiser": (BEN, {}),
    "no-organiser": (BEN, {}),
    "delete": (BEN, {}),
}
KIND = {"delete": "delete_account", "no-organiser": "no_organiser"}


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


def effects() -> list[Any]:
    """Return what actions change, without keys and times that differ anyway."""
    groups = User.objects.order_by("pk").values_list("username", "groups__name")
    entries = AuditEntry.objects.order_by("pk")
    return [
        list(Bot.objects.order_by("pk").values_list("slug", "status", "owner")),
        list(Submission.objects.order_by("pk").values_list("status", "log")),
        list(Game.objects.order_by("pk").values_list("status", "note", "index")),
        list(Season.objects.order_by("pk").values_list("status", "prizes", "head")),
        list(Membership.objects.order_by("pk").values_list("bot", "status")),
        list(Entry.objects.order_by("pk").values_list("kind", "bot")),
        list(groups),
        list(entries.values_list("kind", "target", "why")),
        [sorted(entry.details) for entry in entries],
    ]


def undone(act: Callable[[], object]) -> list[Any]:
    """Return the effects of an act, and undo it."""
    with transaction.atomic():
        act()
        after = effects()
        transaction.set_rollback(True)
    return after


@pytest.mark.parametrize("action", ACTIONS)
def test_an_action_does_the_same_over_rest_and_at_the_console(
    show: Show, olga: APIClient, action: str
) -> None:
    (address, target), fields = ACTIONS[action]
    game = show.game.pk
    if action in ("archive", "finals", "merge"):  # they wait for open games
        Game.objects.filter(status=GameStatus.SCHEDULED).update(
            status=GameStatus.CANCELLED
        )
    before = effects()

    def by_rest() -> None:
        answer = olga.post(
            f"/api/v1/operate/{address.format(game=game)}/{action}/",
            {"why": WHY, **fields},
            format="json",
        )
        assert answer.status_code == 200, answer.json()
        assert (answer.json()["by"], answer.json()["why"]) == ("olga", WHY)

    def at_the_console() -> None:
        options = {**fields, "why": WHY, "by": "olga"}
        call_command(
            "operator",
            KIND.get(action, action),
            target.format(game=game),
            stdout=io.StringIO(),
            **options,
        )

    after = undone(by_rest)
    assert after == undone(at_the_console)
    assert after != before


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
