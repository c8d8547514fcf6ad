"""Operators create and edit ladders over REST, with the checks of the admin."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from rest_framework.test import APIClient

from ladder.moderation.models import AuditEntry
from ladder.ratings.ladders import ensure_default_ladder
from ladder.ratings.models import Ladder
from tests.tournaments.organisers import client_of

pytestmark = pytest.mark.django_db
NEW: dict[str, Any] = {"name": "Four seats", "slug": "four"}


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
