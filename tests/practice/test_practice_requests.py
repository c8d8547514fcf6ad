"""Hostile and frequent requests to games by hand."""

import json

import pytest
from pytest_django import Settings

from ladder.extras.practice.models import PracticeGame
from tests import factories as rows
from tests.practice.test_practice_pages import JSON, Visit, begin, send

pytestmark = pytest.mark.django_db(transaction=True)

HOSTILE: list[str | bytes] = [
    " ",
    "null",
    "[]",
    "{" * 5000,
    '{"ply": "1", "actions": ["end"]}',
    '{"ply": true, "actions": ["end"]}',
    '{"ply": -1, "actions": ["end"]}',
    '{"ply": 1e400, "actions": ["end"]}',
    f'{{"ply": {"9" * 5000}, "actions": ["end"]}}',
    '{"ply": 0, "actions": "end"}',
    '{"ply": 0, "actions": [1]}',
    '{"ply": 0, "actions": ["\\u0000"]}',
    '{"ply": 0, "actions": ["\\ud800"]}',
    json.dumps({"ply": 0, "actions": ["end"] * 65}),
    json.dumps({"ply": 0, "actions": ["e" * 81]}),
    b"\xff\xfe",
]


def test_hostile_bodies_are_refused_in_words(visit: Visit) -> None:
    ana = visit("ana")
    address = begin(ana, rows.make_bot("mason", "ana"))
    # The game waits for Ana's answer, because no host is needed to refuse a body.
    PracticeGame.objects.update(status="running", ply=0)

    for body in HOSTILE:
        for name in ("preview", "hints", "answers"):
            answer = ana.post(f"{address}{name}/", body, content_type=JSON)
            assert answer.status_code in (409, 422), body
            assert answer.json()["detail"]
    assert PracticeGame.objects.get().answer is None


def test_actions_and_previews_are_limited(visit: Visit, settings: Settings) -> None:
    settings.TORRES_RATES = settings.TORRES_RATES | {"practice": 2}
    ana = visit("ana")
    address = begin(ana, rows.make_bot("mason", "ana"))
    answers = [send(ana, f"{address}preview/", 0, ["end"]) for _ in range(3)]

    assert [answer.status_code for answer in answers] == [409, 409, 429]
    assert ana.get(f"{address}state.json").status_code == 200


def test_a_hint_counts_as_ten_actions(visit: Visit, settings: Settings) -> None:
    settings.TORRES_RATES = settings.TORRES_RATES | {"practice": 20}
    ana = visit("ana")
    address = begin(ana, rows.make_bot("mason", "ana"))
    answers = [send(ana, f"{address}hints/", 0, []) for _ in range(3)]

    assert [answer.status_code for answer in answers] == [409, 409, 429]
