"""Every event arrives, whatever happens to the receiver or to the sender."""

import signal
import subprocess
import sys
import threading
from datetime import timedelta
from http.server import BaseHTTPRequestHandler

import pytest
from django.conf import settings
from django.db import connection
from django.db.models.functions import Now
from django.utils import timezone
from pytest_django import Settings

from ladder.common.jobs import JobProcess
from ladder.dispatch import retention as all_retention
from ladder.dispatch.retention import apply_slice
from ladder.events import stream
from ladder.events.models import Fact
from ladder.extras.webhooks import deliveries, services
from ladder.extras.webhooks.fan_out import MAX_WAITING, fan_out
from ladder.extras.webhooks.jobs import SEND_WEBHOOKS
from ladder.extras.webhooks.models import Webhook, WebhookDelivery
from tests.games.test_kills import environment
from tests.webhooks.factories import (
    TIMEOUT_S,
    MovedClock,
    answer,
    assert_signed,
    happen,
    receiver,
    receiver_that_is_down,
    sender,
    url_of,
    webhook,
)

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("loopback"),
]


def statuses(hook: Webhook) -> list[str]:
    rows = hook.deliveries.order_by("event")
    return list(rows.values_list("status", flat=True))


def test_an_event_arrives_signed_and_once(clock: MovedClock) -> None:
    with receiver() as there, sender(clock) as sending:
        hook = webhook(there.url)
        happen("one", "two")
        sending.drain()
        sending.drain()

    assert sorted(there.texts) == ["one", "two"]
    for delivered in there.got:
        assert_signed(delivered, hook)
        content = delivered.content
        assert delivered.headers["webhook-id"] == f"evt_{content['number']}"
        assert content["type"] == "bot.status"
        assert content["timestamp"].endswith("Z")
    assert statuses(hook) == ["delivered"] * 2
    assert not SEND_WEBHOOKS.is_due()


def test_a_receiver_that_is_down_for_ten_minutes_misses_nothing(
    clock: MovedClock,
) -> None:
    texts = []
    with receiver_that_is_down() as port, sender(clock) as sending:
        hook = webhook(url_of(port))
        for second in range(0, 600, 15):
            texts.append(str(second))
            happen(texts[-1])
            sending.drain()
            clock.move(seconds=15)
        hook.refresh_from_db()
        tried = hook.failures
        with receiver(port) as there:
            for _ in range(40):
                sending.drain()
                clock.move(seconds=15)
            got = there.texts

    assert set(got) == set(texts)
    assert set(statuses(hook)) == {"delivered"}
    # Far fewer tries than events and pauses, because a receiver that is down is spared.
    assert 5 < tried < 20
    hook.refresh_from_db()
    assert (hook.failures, hook.failing_since, hook.retry_at) == (0, None, None)


def test_after_a_day_without_success_a_delivery_has_failed(clock: MovedClock) -> None:
    with receiver() as there, sender(clock) as sending:
        there.answer = answer(500)
        hook = webhook(there.url)
        happen("lost")
        for _ in range(3 * 24):
            sending.drain()
            clock.move(minutes=30)

        (delivery,) = hook.deliveries.all()
        assert (delivery.status, delivery.response) == ("failed", 500)
        assert delivery.error == "The receiver answered 500."
        tries = len(there.got)
        there.answer = answer(200)
        services.replay_delivery(delivery)
        clock.move(minutes=30)
        sending.drain()
        assert len(there.got) == tries + 1
        assert statuses(hook) == ["delivered"]


def test_a_webhook_that_fails_for_days_is_switched_off(clock: MovedClock) -> None:
    with receiver() as there, sender(clock) as sending:
        there.answer = answer(500)
        hook = webhook(there.url)
        for day in range(5):
            happen(str(day))
            for _ in range(4):
                sending.drain()
                clock.move(hours=6)

    hook.refresh_from_db()
    assert not hook.active
    assert hook.note.startswith("No delivery succeeded for 3 days.")


def test_a_receiver_that_is_gone_is_switched_off(clock: MovedClock) -> None:
    with receiver() as there, sender(clock) as sending:
        there.answer = answer(410)
        hook = webhook(there.url)
        happen("one")
        sending.drain()
        happen("two")
        sending.drain()

    hook.refresh_from_db()
    assert not hook.active
    assert there.texts == ["one"]


def test_an_event_that_is_refused_alone_delays_no_other(clock: MovedClock) -> None:
    def refuse_poison(handler: BaseHTTPRequestHandler) -> None:
        answer(400 if there.texts[-1] == "poison" else 200)(handler)

    with receiver() as there, sender(clock) as sending:
        there.answer = refuse_poison
        hook = webhook(there.url)
        for text in ("poison", "a", "b", "c", "d"):
            happen(text)
            sending.drain()

    assert statuses(hook) == ["waiting", *["delivered"] * 4]
    assert there.texts == ["poison", "a", "b", "c", "d"]


def test_a_slow_receiver_delays_no_other(clock: MovedClock) -> None:
    go_on = threading.Event()

    def hang(handler: BaseHTTPRequestHandler) -> None:
        go_on.wait(TIMEOUT_S)
        answer(200)(handler)

    with receiver() as slow, receiver() as fast, sender(clock) as sending:
        slow.answer = hang
        held_up = webhook(slow.url)
        quick = webhook(fast.url, "ben")
        happen(*(str(k) for k in range(20)))
        stream.number_new()
        fan_out(clock.now)
        due = deliveries.due(clock.now, 100, {quick.pk: 1})
        assert sorted(row.webhook_id for row in due) == sorted(
            [held_up.pk, held_up.pk, quick.pk]
        )
        deadline = threading.Event()
        for _ in range(1000):
            sending.step()
            if set(statuses(quick)) == {"delivered"} and len(statuses(quick)) == 20:
                break
            deadline.wait(0.01)
        try:
            assert sorted(fast.texts, key=int) == [str(k) for k in range(20)]
            assert set(statuses(held_up)) <= {"waiting"}
        finally:
            go_on.set()


@pytest.mark.parametrize("what", ["headers", "body"])
def test_answers_without_end_are_cut_off(clock: MovedClock, what: str) -> None:
    def flood(handler: BaseHTTPRequestHandler) -> None:
        handler.wfile.write(b"HTTP/1.1 200 OK\r\n")
        if what == "body":
            handler.wfile.write(b"\r\n")
        try:
            for k in range(100_000):
                handler.wfile.write(b"X-%d: %s\r\n" % (k, b"x" * 1000))
        except OSError:
            ended.set()

    ended = threading.Event()
    with receiver() as there, sender(clock) as sending:
        there.answer = flood
        hook = webhook(there.url)
        happen("one")
        sending.drain()
        assert ended.wait(TIMEOUT_S)

    assert statuses(hook) == ["delivered" if what == "body" else "waiting"]


def test_only_the_backlog_that_is_needed_is_in_rows(clock: MovedClock) -> None:
    count = MAX_WAITING + 30
    with receiver_that_is_down() as port, sender(clock) as sending:
        hook = webhook(url_of(port))
        happen(*(str(k) for k in range(count)))
        sending.drain()
        assert hook.deliveries.count() == MAX_WAITING
        with receiver(port) as there:
            for _ in range(3):
                clock.move(minutes=10)
                sending.drain()
            assert {int(text) for text in there.texts} == set(range(count))


def test_events_of_a_backlog_are_not_deleted(
    clock: MovedClock, settings: Settings
) -> None:
    settings.TORRES_KEEP_EVENTS_DAYS = 0.0
    happen("before")
    with receiver_that_is_down() as port, sender(clock) as sending:
        webhook(url_of(port))
        happen("one", "two")
        sending.drain()
        apply_retention()
        texts = Fact.objects.order_by("number").values_list("data__text", flat=True)
        assert list(texts) == ["one", "two"]
        with receiver(port) as there:
            clock.move(minutes=10)
            sending.drain()
    apply_retention()

    assert sorted(there.texts) == ["one", "two"]
    # The newest event stays, because the next number follows from it.
    assert Fact.objects.count() == 1


def apply_retention() -> None:
    Fact.objects.update(created_at=Now() - timedelta(days=1))
    for rule in all_retention.rules():
        if rule.setting == "TORRES_KEEP_EVENTS_DAYS":
            while apply_slice(rule):
                pass


def test_a_damaged_webhook_stops_no_other(clock: MovedClock) -> None:
    with receiver() as there, sender(clock) as sending:
        damaged = webhook(there.url, "ben")
        Webhook.objects.filter(pk=damaged.pk).update(types=5)
        webhook(there.url)
        happen("one")
        sending.drain()

    assert there.texts == ["one"]
    damaged.refresh_from_db()
    assert (damaged.active, damaged.note) == (
        False,
        "Its settings are damaged. Ask an operator.",
    )


def test_an_address_that_a_row_must_not_have_stops_no_other(clock: MovedClock) -> None:
    with receiver() as there, sender(clock) as sending:
        for k, url in enumerate(
            ["", "gopher://x", "http://[::1", "http://\0/", "x" * 9]
        ):
            bad = webhook(there.url, f"user-{k}")
            Webhook.objects.filter(pk=bad.pk).update(url=url.replace("\0", "%00"))
        webhook(there.url)
        happen("one")
        sending.drain()

    assert there.texts == ["one"]
    assert (
        WebhookDelivery.objects.filter(status="waiting").exclude(error="").count() == 5
    )


def test_all_events_after_a_number_are_sent_again(clock: MovedClock) -> None:
    with receiver() as there, sender(clock) as sending:
        hook = webhook(there.url)
        happen("one", "two", "three")
        sending.drain()
        first = stream.newest() - 1
        hook.refresh_from_db()
        assert services.replay(hook, after=first - 1) == first
        sending.drain()

    assert sorted(there.texts) == ["one", "three", "three", "two", "two"]
    ids = [delivered.headers["webhook-id"] for delivered in there.got]
    assert len(set(ids)) == 3


def test_filters_and_private_events(clock: MovedClock) -> None:
    with receiver() as there, receiver() as other, sender(clock) as sending:
        hook = webhook(there.url)
        Webhook.objects.filter(pk=hook.pk).update(bots=["one"], types=["bot.status"])
        webhook(other.url, "ben")
        happen("no")
        happen("yes", bots=["two", "one"])
        services.send_test(hook)
        sending.drain()

    # They are sent at the same time, so either may be the first.
    assert sorted(there.texts) == ["This is a test.", "yes"]
    assert sorted(other.texts) == ["no", "yes"]


def test_a_sender_that_is_killed_loses_nothing(
    clock: MovedClock,
) -> None:
    """The real process, killed while the receiver holds its requests."""
    reached, go_on = threading.Event(), threading.Event()

    def hold(handler: BaseHTTPRequestHandler) -> None:
        reached.set()
        go_on.wait(TIMEOUT_S)
        handler.close_connection = True

    with receiver() as there:
        there.answer = hold
        hook = webhook(there.url)
        happen("one", "two", "three")
        process = start_process()
        assert reached.wait(TIMEOUT_S)
        process.send_signal(signal.SIGKILL)
        process.wait(TIMEOUT_S)
        there.answer = answer(200)
        go_on.set()
        with sender(clock) as sending:
            clock.now = timezone.now()
            hook.deliveries.update(lease_until=Now())
            for _ in range(3):
                clock.move(minutes=5)
                sending.drain()

    assert set(there.texts) == {"one", "two", "three"}
    assert set(statuses(hook)) == {"delivered"}


def start_process() -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [sys.executable, settings.BASE_DIR / "manage.py", "run_job", "send_webhooks"],
        env=process_environment(),
    )


def process_environment() -> dict[str, str]:
    return environment() | {
        "TORRES_WEBHOOK_NETWORKS": "127.0.0.0/8",
        "SECRET_KEY": settings.SECRET_KEY,
    }


def test_the_dispatcher_starts_a_sender_if_there_is_work(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in process_environment().items():
        monkeypatch.setenv(name, value)
    process = JobProcess(SEND_WEBHOOKS)
    process.ensure()
    assert process.child is None
    with receiver() as there:
        hook = webhook(there.url)
        happen("one")
        connection.close()
        process.ensure()
        child = process.child
        assert child is not None
        try:
            pause = threading.Event()
            for _ in range(int(TIMEOUT_S / 0.1)):
                if statuses(hook) == ["delivered"]:
                    break
                pause.wait(0.1)
        finally:
            process.close()
    assert there.texts == ["one"]
    assert_signed(there.got[0], hook)
    assert child.returncode is not None
