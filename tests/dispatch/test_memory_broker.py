"""The in-memory broker wakes its consumer, and lets it sleep otherwise."""

import time
from collections.abc import Iterator
from threading import Thread
from typing import Any

import pytest
from kombu import Connection, Consumer, Producer, Queue

from ladder.celery import app
from ladder.common import memory_broker


@pytest.fixture
def connection(monkeypatch: pytest.MonkeyPatch) -> Iterator[Connection]:
    # Without news nobody would wake up in the time of these tests.
    monkeypatch.setattr(memory_broker, "LONGEST_SLEEP_S", 60.0)
    with Connection("memory://") as opened:
        yield opened


def test_the_service_uses_it() -> None:
    with app.connection_for_write() as session:
        assert isinstance(session.transport, memory_broker.MemoryTransport)


def send(connection: Connection, queue: str, *bodies: str) -> None:
    for body in bodies:
        Producer(connection.channel()).publish(
            {"body": body}, routing_key=queue, declare=[Queue(queue)]
        )


def test_a_waiting_consumer_gets_a_message_at_once(connection: Connection) -> None:
    got: list[Any] = []
    queue = Queue("wake")
    with Consumer(connection, [queue], callbacks=[lambda body, _: got.append(body)]):
        sender = Thread(target=_send_later, args=(connection, "wake"))
        sender.start()
        began = time.monotonic()
        connection.drain_events(timeout=50)
        sender.join()

    assert got == [{"body": "late"}]
    assert time.monotonic() - began < 30  # it did not sleep to the end


def _send_later(connection: Connection, queue: str) -> None:
    with Connection("memory://") as other:
        send(other, queue, "late")


def test_a_consumer_with_a_full_hand_continues_after_an_acknowledgement(
    connection: Connection,
) -> None:
    got: list[Any] = []
    queue = Queue("full")
    send(connection, "full", "one", "two")
    consumer = Consumer(connection, [queue], callbacks=[lambda _, m: got.append(m)])
    consumer.qos(prefetch_count=1)
    with consumer:
        connection.drain_events(timeout=50)
        with pytest.raises(TimeoutError):
            connection.drain_events(timeout=0.05)
        finisher = Thread(target=got[0].ack)
        finisher.start()
        connection.drain_events(timeout=50)
        finisher.join()

    assert [message.payload["body"] for message in got] == ["one", "two"]


def test_an_idle_consumer_looks_only_once(
    connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = []
    look = memory_broker.MemoryTransport._deliver_one

    def counted(self: Any, timeout: float | None) -> bool:
        looks.append(1)
        return look(self, timeout)

    monkeypatch.setattr(memory_broker.MemoryTransport, "_deliver_one", counted)
    with Consumer(connection, [Queue("idle")]), pytest.raises(TimeoutError):
        connection.drain_events(timeout=0.3)

    assert len(looks) <= 3
