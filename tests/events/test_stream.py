"""Events are told once, in one order, and only if their change was committed.

tests/ops/test_postgres.py runs this file on PostgreSQL, too.
"""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from random import Random
from threading import Event as Flag

import pytest
from django.conf import settings
from django.db import connection, transaction
from django.db.models.functions import Now
from django.db.transaction import TransactionManagementError
from django.test.utils import CaptureQueriesContext

from ladder.dispatch.retention import apply_slice
from ladder.events import outbox, retention, stream
from ladder.events.kinds import EventKind
from ladder.events.models import Fact
from ladder.events.outbox import NewEvent
from ladder.events.stream import EventRow

pytestmark = pytest.mark.django_db(transaction=True)
TIMEOUT_S = 120.0
WRITERS = 4
PER_WRITER = 15


def publish(text: str) -> None:
    outbox.record(NewEvent(EventKind.BOT_STATUS, {"text": text}))


def commit(text: str) -> None:
    with transaction.atomic():
        publish(text)


def everything(after: int = 0) -> list[str]:
    return [row.data["text"] for row in stream.read(after, 1000)]


def in_thread(action: Callable[[], None]) -> Callable[[], None]:
    """Let a thread close its connection at its end."""

    def run() -> None:
        try:
            action()
        finally:
            connection.close()

    return run


def test_a_change_that_is_rolled_back_tells_nothing() -> None:
    with transaction.atomic():
        publish("never")
        transaction.set_rollback(True)
    commit("told")

    assert everything() == ["told"]


def test_an_event_needs_the_transaction_of_its_change() -> None:
    with pytest.raises(TransactionManagementError, match="in the transaction"):
        publish("alone")


def test_numbers_are_dense_and_follow_the_ids() -> None:
    with transaction.atomic():
        outbox.record_all(
            outbox.fact(NewEvent(EventKind.BOT_STATUS, {"text": str(k)}))
            for k in range(5)
        )

    assert stream.oldest() == 0
    assert stream.number_new() == 5
    assert [row.number for row in stream.read(0, 10)] == [1, 2, 3, 4, 5]
    assert [row.data["text"] for row in stream.read(2, 2)] == ["2", "3"]
    assert (stream.newest(), stream.oldest()) == (5, 1)


def test_an_idle_reader_costs_one_query() -> None:
    commit("one")
    stream.number_new()
    with CaptureQueriesContext(connection) as queries:
        assert stream.number_new() == 0

    # On PostgreSQL the query does not pass through Django's cursor.
    assert len(queries) == (connection.vendor == "sqlite")


@pytest.mark.skipif(
    not os.environ.get("DATABASE_URL", "").startswith("postgres"),
    reason="SQLite has one writer at a time",
)
def test_transactions_that_commit_out_of_order_are_told_once_each() -> None:
    began, go_on = Flag(), Flag()

    def slow() -> None:
        with transaction.atomic():
            publish("first id")
            began.set()
            assert go_on.wait(TIMEOUT_S)

    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(in_thread(slow))
        assert began.wait(TIMEOUT_S)
        commit("second id")
        first = everything()
        go_on.set()
        waiting.result(TIMEOUT_S)
    ids = list(Fact.objects.order_by("id").values_list("data__text", flat=True))

    assert ids == ["first id", "second id"]
    assert first == ["second id"]
    assert everything(after=1) == ["first id"]
    assert everything() == ["second id", "first id"]


def write_some(name: int) -> list[str]:
    """Write events, and roll some of them back; return those that were committed."""
    committed = []
    rng = Random(name)
    for k in range(PER_WRITER):
        with transaction.atomic():
            publish(f"{name}.{k}")
            if rng.random() < 0.3:
                transaction.set_rollback(True)
            else:
                committed.append(f"{name}.{k}")
    connection.close()
    return committed


def read_all(over: Flag) -> list[EventRow]:
    """Follow the events until `over` is set and nothing more comes."""
    rows: list[EventRow] = []
    while True:
        is_last = over.is_set()
        rows += stream.read(rows[-1].number if rows else 0, 7)
        if is_last and (not rows or rows[-1].number == stream.newest()):
            connection.close()
            return rows
        Flag().wait(0.002)


def test_readers_see_each_event_of_many_writers_once_and_in_order() -> None:
    over = Flag()
    with ThreadPoolExecutor(WRITERS + 2) as pool:
        readers = [pool.submit(read_all, over) for _ in range(2)]
        written = [pool.submit(write_some, name) for name in range(WRITERS)]
        committed = [text for job in written for text in job.result(TIMEOUT_S)]
        over.set()
        seen = [reader.result(TIMEOUT_S) for reader in readers]

    expected = [row.data["text"] for row in stream.read(0, 1000)]
    assert sorted(expected) == sorted(committed)
    for rows in seen:
        numbers = [row.number for row in rows]
        assert numbers == list(range(1, len(numbers) + 1))
        assert [row.data["text"] for row in rows] == expected[: len(rows)]
    for name in range(WRITERS):
        own = [text for text in expected if text.startswith(f"{name}.")]
        assert own == [text for text in committed if text.startswith(f"{name}.")]


def test_owners_and_operators_see_private_events() -> None:
    with transaction.atomic():
        outbox.record(NewEvent(EventKind.BOT_STATUS, {}, False, [7, None, 7]))
        outbox.record(NewEvent(EventKind.BOT_STATUS, {}))
    private, public = stream.read(0, 10)

    assert private.owners == {7}
    assert private.is_shown_to(7, is_operator=False)
    assert private.is_shown_to(8, is_operator=True)
    assert not private.is_shown_to(8, is_operator=False)
    assert not private.is_shown_to(None, is_operator=False)
    assert public.is_shown_to(None, is_operator=False)


def test_old_events_are_deleted_but_no_number_is_given_twice() -> None:
    for k in range(4):
        commit(str(k))
    stream.number_new()
    old = timedelta(days=settings.TORRES_KEEP_EVENTS_DAYS + 1)
    Fact.objects.update(created_at=Now() - old)

    rule = retention.rules(lambda: 2)[0]
    assert apply_slice(rule) == 1
    rule = retention.rules(lambda: None)[0]
    assert apply_slice(rule) == 2
    assert apply_slice(rule) == 0
    commit("new")
    assert everything() == ["3", "new"]
    assert (stream.oldest(), stream.newest()) == (4, 5)


def test_events_that_are_not_old_stay() -> None:
    commit("young")
    commit("younger")
    stream.number_new()
    rule = retention.rules(lambda: None)[0]

    assert apply_slice(rule) == 0
    assert everything() == ["young", "younger"]
