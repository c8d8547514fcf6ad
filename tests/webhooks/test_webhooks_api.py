"""The routes of webhooks: what they accept, refuse, show, and to whom."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import Settings
from rest_framework.test import APIClient

from ladder.extras.webhooks import signing
from ladder.extras.webhooks.models import Webhook, WebhookDelivery
from ladder.moderation import bots as moderation
from ladder.moderation.audit import Operator
from ladder.tournaments.models import Tournament
from tests.factories import make_bot
from tests.webhooks.factories import (
    MovedClock,
    assert_signed,
    happen,
    receiver,
    sender,
    webhook,
)
from torres.common.errors import TooMany

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("loopback"),
]
HOOKS = "/api/v1/webhooks/"
URL = "http://127.0.0.1:8000/hook"
Person = Callable[[str], APIClient]


def create(client: APIClient, **values: Any) -> dict[str, Any]:
    answer = client.post(HOOKS, {"url": URL, **values})
    assert answer.status_code == 201, answer.content
    return dict(answer.json())


def refusal(answer: Any, status: int = 422) -> str:
    assert answer.status_code == status, answer.content
    assert answer["Content-Type"] == "application/problem+json"
    return f"{answer.json()['code']}: {answer.json()['detail']}"


def test_the_secret_is_shown_once(ana: APIClient) -> None:
    made = create(ana, types=["game.finished"])
    number = made["webhook"]["id"]
    row = Webhook.objects.get(pk=number)

    assert made["secret"] == signing.secret_of(row.salt)
    assert made["secret"].startswith("whsec_")
    for answer in (ana.get(HOOKS), ana.get(f"{HOOKS}{number}/")):
        assert "whsec_" not in answer.content.decode()
    stored = list(Webhook.objects.values().get(pk=number).values())
    assert made["secret"].removeprefix("whsec_") not in str(stored)
    changed = ana.post(f"{HOOKS}{number}/secret/").json()
    assert changed["secret"] != made["secret"]
    row.refresh_from_db()
    assert changed["secret"] == signing.secret_of(row.salt)


def test_no_secret_is_stored_for_a_repeated_request(ana: APIClient) -> None:
    bodies = [
        ana.post(HOOKS, {"url": URL}, headers={"Idempotency-Key": "a-key"})
        for _ in range(2)
    ]

    assert [answer.status_code for answer in bodies] == [201, 409]
    assert bodies[1].json()["code"] == "no-stored-response"
    assert Webhook.objects.count() == 1


def test_a_webhook_is_changed_and_deleted(ana: APIClient) -> None:
    number = create(ana)["webhook"]["id"]
    address = f"{HOOKS}{number}/"
    changed = ana.patch(address, {"active": False, "types": ["bot.status"]}).json()

    assert (changed["active"], changed["types"]) == (False, ["bot.status"])
    assert changed["url"] == URL
    assert [row["id"] for row in ana.get(HOOKS).json()["results"]] == [number]
    assert ana.delete(address).status_code == 204
    assert ana.get(address).status_code == 404
    assert ana.get(HOOKS).json()["results"] == []


def test_what_does_not_exist_is_named(ana: APIClient, data_dir: object) -> None:
    make_bot("one")
    Tournament.objects.create(slug="secret-draft", name="Draft", limits={})
    cases = [
        ({"bots": ["one", "nobody"]}, "There is no bot 'nobody'."),
        ({"ladders": ["nowhere"]}, "There is no ladder 'nowhere'."),
        ({"tournaments": ["secret-draft"]}, "There is no tournament 'secret-draft'."),
        ({"types": ["game.begun"]}, "There is no event type 'game.begun'."),
        ({"url": "http://10.0.0.1/"}, "10.0.0.1 leads to an address that is not"),
    ]
    made = create(ana, bots=["one", "one"])
    assert made["webhook"]["bots"] == ["one"]
    for values, text in cases:
        assert text in refusal(ana.post(HOOKS, {"url": URL, **values}))
        assert text in refusal(ana.patch(f"{HOOKS}{made['webhook']['id']}/", values))
    assert Webhook.objects.count() == 1


@pytest.mark.parametrize(
    "values",
    [
        *({}, {"url": 5}, {"url": ""}, {"url": None}, {"url": "\0"}),
        *({"url": URL, "bots": "one"}, {"url": URL, "types": [5]}),
        *({"url": URL, "active": "perhaps"}, {"url": URL, "bots": ["a b"]}),
        {"url": URL, "bots": ["a"] * 51},
    ],
)
def test_bodies_that_are_not_valid(ana: APIClient, values: dict[str, Any]) -> None:
    assert ana.post(HOOKS, values).status_code in (400, 422)
    assert not Webhook.objects.exists()


def test_the_quota_holds_if_many_are_created_at_once(
    ana: APIClient, settings: Settings
) -> None:
    settings.TORRES_WEBHOOKS_PER_USER = 3

    def make(_: int) -> bool:
        try:
            webhook(URL)
        except TooMany:
            return False
        finally:
            connection.close()
        return True

    with ThreadPoolExecutor(4) as pool:
        made = list(pool.map(make, range(8)))

    assert sum(made) == 3
    assert "You have 3 webhooks" in refusal(ana.post(HOOKS, {"url": URL}), 429)


def test_deliveries_are_listed_and_replayed(ana: APIClient, clock: MovedClock) -> None:
    with receiver() as there, sender(clock) as sending:
        number = create(ana, url=there.url)["webhook"]["id"]
        address = f"{HOOKS}{number}/"
        happen("one", "two")
        sending.drain()
        rows = ana.get(f"{address}deliveries/").json()["results"]
        assert [row["status"] for row in rows] == ["delivered", "delivered"]
        assert {row["response"] for row in rows} == {204}
        again = ana.post(f"{address}deliveries/{rows[0]['id']}/replay/")
        assert (again.status_code, again.json()["status"]) == (202, "waiting")
        clock.now = timezone.now()
        sending.drain()
        assert sorted(there.texts) == ["one", "two", "two"]
        first = rows[1]["event"]
        answer = ana.post(f"{address}replay/", {"after": first - 1})
        assert (answer.status_code, answer.json()) == (202, {"first": first})
        sending.drain()

    assert sorted(there.texts) == ["one", "one", "two", "two", "two"]


def test_a_test_is_sent(ana: APIClient, clock: MovedClock) -> None:
    with receiver() as there, receiver() as other, sender(clock) as sending:
        number = create(ana, url=there.url, types=["game.dead"])["webhook"]["id"]
        create(ana, url=other.url)
        assert ana.post(f"{HOOKS}{number}/test/").status_code == 202
        sending.drain()

    (delivered,) = there.got
    assert delivered.content["type"] == "webhook.test"
    assert_signed(delivered, Webhook.objects.get(pk=number))
    assert other.got == []


def test_tests_and_replays_are_limited(ana: APIClient, settings: Settings) -> None:
    settings.TORRES_RATES = settings.TORRES_RATES | {"webhook": 2}
    number = create(ana)["webhook"]["id"]
    answers = [ana.post(f"{HOOKS}{number}/test/") for _ in range(3)]

    assert [answer.status_code for answer in answers] == [202, 202, 429]
    assert int(answers[2]["Retry-After"]) > 0
    ana.patch(f"{HOOKS}{number}/", {"active": False})
    cleo_is_free = ana.post(f"{HOOKS}{number}/replay/", {"after": 0})
    assert cleo_is_free.status_code == 429


def test_nothing_is_sent_to_a_webhook_that_is_switched_off(
    ana: APIClient, clock: MovedClock
) -> None:
    with receiver() as there, sender(clock) as sending:
        number = create(ana, url=there.url)["webhook"]["id"]
        ana.patch(f"{HOOKS}{number}/", {"active": False})
        happen("missed")
        sending.drain()
        assert "switched off" in refusal(ana.post(f"{HOOKS}{number}/test/"))
        ana.patch(f"{HOOKS}{number}/", {"active": True})
        happen("told")
        sending.drain()

    assert there.texts == ["told"]


def test_private_events_go_to_their_owner_only(
    ana: APIClient, cleo: APIClient, clock: MovedClock, data_dir: object
) -> None:
    with receiver() as there, receiver() as other, sender(clock) as sending:
        create(ana, url=there.url)
        create(cleo, url=other.url)
        make_bot("one")
        sending.drain()

    told = sorted(delivered.content["type"] for delivered in there.got)
    assert told == ["submission.created", "submission.ready"]
    assert [each.content["type"] for each in other.got] == ["submission.ready"]


def test_webhooks_go_with_their_account(ana: APIClient, clock: MovedClock) -> None:
    with receiver() as there, sender(clock) as sending:
        create(ana, url=there.url)
        happen("one")
        sending.drain()
        user = User.objects.get(username="ana")
        moderation.delete_account(Operator(None, "a test"), user)
        happen("two")
        sending.drain()

    assert there.texts == ["one"]
    assert not Webhook.objects.exists()
    assert not WebhookDelivery.objects.exists()


def test_operators_switch_webhooks_off(ana: APIClient) -> None:
    number = create(ana)["webhook"]["id"]
    call_command("operator", "switch_off", str(number), "--why", "it floods a host")

    row = Webhook.objects.get()
    assert (row.active, row.note) == (False, "An operator switched it off.")


def test_lists_ask_as_often_for_many_rows_as_for_few(
    ana: APIClient, settings: Settings, clock: MovedClock
) -> None:
    settings.TORRES_WEBHOOKS_PER_USER = 30
    counts = []
    with receiver() as there, sender(clock) as sending:
        number = create(ana, url=there.url)["webhook"]["id"]
        for rows in (5, 20):
            for k in range(rows):
                happen(str(k))
            create(ana, url=there.url, types=["game.dead"])
            sending.drain()
            with CaptureQueriesContext(connection) as queries:
                assert ana.get(HOOKS).status_code == 200
                listed = ana.get(f"{HOOKS}{number}/deliveries/").json()["results"]
            counts.append((len(listed), len(queries)))

    assert [rows for rows, _ in counts] == [5, 25]
    assert counts[0][1] == counts[1][1]
