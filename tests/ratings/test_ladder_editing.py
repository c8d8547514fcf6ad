"""Operators create and edit ladders over REST, with the checks of the admin."""

import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from rest_framework.test import APIClient

from ladder.moderation.models import AuditEntry
from ladder.ratings.ladders import ensure_default_ladder
from ladder.ratings.models import Ladder
from tests.tournaments.organisers import client_of

pytestmark = pytest.mark.django_db
NEW = {"name": "Four seats", "slug": "four"}
WRONG: list[tuple[dict[str, Any], str]] = [
    ({"name": ""}, "name: ''; it must be a text of 1 to 80"),
    ({"name": 7}, "name: 7; it must be a text"),
    ({"slug": "Four"}, "slug: 'Four'; it must have .* small letters"),
    ({"slug": "main"}, "slug: 'main' is taken"),
    ({"slug": None}, "slug: None; it must have"),
    ({"rules": "x"}, "rules: 'rules' is not a key of a ladder; the keys are name"),
    ({"ruleset": "chess"}, "ruleset: unknown ruleset"),
    ({"ruleset": 7}, "ruleset: 7; it must be a text"),
    ({"switches": {"wings": 1}}, "switches: unknown switch"),
    ({"switches": 7}, "switches: 7; it must be an object"),
    ({"tables": {}}, "tables: {}; it must be an object such as"),
    ({"tables": {"5": 1}}, "tables: '5' seats; the keys are 2, 3, 4"),
    ({"tables": {"2": -1}}, "tables: 2: -1; it must be a number from 0"),
    ({"tables": {"2": "1"}}, "tables: 2: '1'; it must be a number"),
    ({"tables": {"2": 10**400}}, "tables: 2: a huge number; it must be a number"),
    ({"tables": {"2": 0}}, "tables: at least one share must be above 0"),
    ({"limits": {"move_ms": 0}}, "limits: move_ms: 0; it must be a whole number"),
    ({"limits": {"wings": 1}}, "limits: unknown key: 'wings'"),
    ({"limits": []}, r"limits: \[\]; it must be an object"),
    ({"duplicate": 1}, "duplicate: 1; it must be true or false"),
    ({"default": True}, "default: True; main is the default ladder"),
    ({"admission": "nobody"}, "admission: 'nobody'; it must be one of open, operators"),
    ({"opens_at": "soon"}, "opens_at: 'soon'; use a date"),
    (
        {"opens_at": "2030-01-02", "closes_at": "2030-01-01"},
        "closes_at: it must be later than opens_at",
    ),
    ({"sigma": 0}, "sigma: 0; it must be a number from 1e-06"),
    ({"beta": "4"}, "beta: '4'; it must be a number"),
    ({"tau": -1}, "tau: -1; it must be a number from 0"),
    ({"mu": True}, "mu: True; it must be a number"),
    ({"mu": 10**400}, "mu: a huge number; it must be a number"),
]


@pytest.fixture
def olga() -> APIClient:
    ensure_default_ladder()
    User.objects.create_superuser("olga")
    return client_of("olga")


def test_an_operator_creates_a_ladder_and_starts_it(olga: APIClient) -> None:
    document = NEW | {"tables": {"4": 1}, "limits": {"move_ms": 200}, "mu": 30}
    answer = olga.post("/api/v1/ladders/", document, format="json")
    assert answer.status_code == 201, answer.json()
    assert answer["Location"] == "/api/v1/ladders/four/"
    start = olga.post("/api/v1/operate/ladders/four/start/", {"why": "It begins."})
    assert start.status_code == 200
    row = Ladder.objects.get(slug="four")
    assert (row.tables, row.limits["move_ms"], row.mu) == ({"4": 1}, 200, 30.0)
    assert row.limits["bank_ms"] == 10000
    assert row.seasons.get().status == "open"


def test_an_operator_edits_a_ladder(olga: APIClient) -> None:
    changes = {"limits": {"move_ms": 300}, "switches": {"start_player": "seat0"}}
    answer = olga.patch("/api/v1/ladders/main/", changes, format="json")
    assert answer.status_code == 200, answer.json()
    row = Ladder.objects.get(slug="main")
    assert (row.limits["move_ms"], row.limits["bank_ms"]) == (300, 10000)
    assert row.switches == {"start_player": "seat0"}
    entry = AuditEntry.objects.get(kind="parameters")
    assert entry.target == "ladder main"
    assert entry.details == {"step": "edit", "fields": ["limits", "switches"]}


@pytest.mark.parametrize(("fields", "why"), WRONG, ids=range(len(WRONG)))
def test_a_wrong_ladder_is_refused(
    olga: APIClient, fields: dict[str, Any], why: str
) -> None:
    answer = olga.post("/api/v1/ladders/", NEW | fields, format="json")
    assert answer.status_code == 422
    assert answer.json()["code"] == "bad-ladder"
    assert re.search(why, answer.json()["detail"]), answer.json()["detail"]
    assert Ladder.objects.count() == 1
    assert not AuditEntry.objects.exists()
    if "slug" in fields or "default" in fields:
        return
    before = Ladder.objects.values().get()
    answer = olga.patch("/api/v1/ladders/main/", fields, format="json")
    assert answer.status_code == 422
    assert Ladder.objects.values().get() == before


def test_the_slug_and_the_admission_of_the_default_ladder_stay(
    olga: APIClient,
) -> None:
    for fields, why in (
        ({"slug": "other"}, "it is 'main' and cannot change"),
        ({"admission": "operators"}, "Every bot joins the default ladder"),
    ):
        answer = olga.patch("/api/v1/ladders/main/", fields, format="json")
        assert answer.status_code == 422
        assert why in answer.json()["detail"]
