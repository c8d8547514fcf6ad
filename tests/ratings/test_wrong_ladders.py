"""Wrong ladders are refused at each entrance, and as rows they stop only themselves."""

import re
from io import StringIO
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client
from rest_framework.test import APIClient

from ladder.dispatch import dispatcher as module
from ladder.dispatch.dispatcher import Dispatcher
from ladder.games.capabilities import WorkerGroup, WorkerPool
from ladder.games.models import Game
from ladder.moderation.models import AuditEntry, StoppedUnit
from ladder.ratings.ladders import ensure_default_ladder
from ladder.ratings.models import Ladder
from ladder.ratings.seasons import start_season
from tests.games.factories import LIMITS, bots
from tests.tournaments.organisers import client_of

pytestmark = pytest.mark.django_db
NEW: dict[str, Any] = {"name": "Four seats", "slug": "four"}
GOOD: dict[str, Any] = {"ruleset": "yucata", "tables": {"2": 1}, "limits": LIMITS}
PLAYED = ("ruleset", "switches", "tables", "limits")
"""The fields that decide whether a ladder can be played."""
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
    ({"shared_deals": "no"}, "shared_deals: 'no'; it must be true or false"),
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
    ({"name": "x" * 81}, "name: 'x+'; it must be a text of 1 to 80"),
    ({"name": "a\u202eb"}, "name: .*; it must be a text of 1 to 80"),
    ({"slug": "Four_Seats"}, "slug: 'Four_Seats'; it must have .* small letters"),
    ({"slug": "x" * 41}, "slug: 'x+'; it must have 1 to 40 characters"),
    ({"ruleset": ""}, "ruleset: unknown ruleset"),
    ({"switches": {"start_player": "nobody"}}, "switches: .*start_player"),
    ({"tables": [2]}, r"tables: \[2\]; it must be an object such as"),
    ({"tables": {"two": 1}}, "tables: 'two' seats; the keys are 2, 3, 4"),
    ({"tables": {"2": True}}, "tables: 2: True; it must be a number"),
    ({"tables": {"2": 10**7}}, "tables: 2: 10000000; it must be a number"),
    ({"limits": {"move_ms": "fast"}}, "limits: move_ms: 'fast'; it must be"),
    ({"limits": {"memory_mb": -5}}, "limits: memory_mb: -5; it must be"),
    ({"limits": {"pids": 1.5}}, r"limits: pids: 1\.5; it must be"),
    ({"limits": {"bank_ms": 10**12}}, "limits: bank_ms: .*; it must be"),
    ({"sigma": 10**7}, "sigma: 10000000; it must be a number from 1e-06"),
    ({"beta": None}, "beta: None; it must be a number"),
]


@pytest.fixture
def olga() -> APIClient:
    ensure_default_ladder()
    User.objects.create_superuser("olga")
    return client_of("olga")


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


def test_at_least_forty_ladders_are_wrong() -> None:
    assert len(WRONG) >= 40


def planted() -> dict[str, str]:
    """Plant each ladder with an open season; return the patterns of the errors."""
    expected = {}
    for number, (fields, why) in enumerate(WRONG):
        if not set(fields) <= set(PLAYED) or fields.get("ruleset") == 7:
            continue
        slug = f"bad-{number}"
        ladder = Ladder.objects.create(slug=slug, name="Bad", **GOOD)
        start_season(ladder)
        columns = {
            name: {**LIMITS, **value}
            if name == "limits" and isinstance(value, dict)
            else value
            for name, value in fields.items()
        }
        Ladder.objects.filter(pk=ladder.pk).update(**columns)
        expected[slug] = why
    return expected


def test_planted_ladders_stop_only_themselves(
    monkeypatch: pytest.MonkeyPatch, scripted_players: None
) -> None:
    """The default ladder plays on; `status` names each one, and so does its start."""
    pool = WorkerPool((WorkerGroup(offered=None, slots=4),))
    monkeypatch.setattr(module.games, "worker_pool", lambda: pool)
    monkeypatch.setattr(module, "send_hint", lambda *_: None)
    monkeypatch.setattr(module, "UPKEEP_INTERVAL_S", 0.0)
    ensure_default_ladder()
    expected = planted()
    bots(4)
    dispatcher = Dispatcher()
    for _ in range(2):
        dispatcher.tick()
    dispatcher._report()

    assert set(Game.objects.values_list("match__ladder", flat=True)) == {"main"}
    errors = dict(StoppedUnit.objects.values_list("name", "error"))
    assert errors.keys() == expected.keys()
    assert len(errors) >= 15
    with pytest.raises(CommandError) as status:
        call_command("status", stdout=StringIO())
    for slug, why in expected.items():
        assert re.search(why, errors[slug])
        assert f"matchmaking {slug}: {errors[slug]}" in str(status.value)
        assert Client().get(f"/ladders/{slug}/").status_code == 200
        assert Client().get(f"/api/v1/ladders/{slug}/").status_code == 200
        with pytest.raises(CommandError, match=why):
            call_command("operator", "start", slug, "--why", "test")
