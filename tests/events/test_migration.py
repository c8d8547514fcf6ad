"""The rows of the two former outboxes survive the migration to one, and back."""

from collections.abc import Iterator

import pytest
from django.apps.registry import Apps
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

pytestmark = pytest.mark.django_db(transaction=True)
BEFORE = [("events", "0001_initial"), ("public_log", "0001_initial")]
AFTER = [("events", "0002_facts"), ("public_log", "0002_leaves_in_the_outbox")]


def migrate(targets: list[tuple[str, str]]) -> Apps:
    MigrationExecutor(connection).migrate(targets)
    executor = MigrationExecutor(connection)
    return executor.loader.project_state(targets).apps


@pytest.fixture
def old() -> Iterator[Apps]:
    """Return the models before the migration, and migrate to the end after the test."""
    yield migrate(BEFORE)
    executor = MigrationExecutor(connection)
    executor.migrate(executor.loader.graph.leaf_nodes())


def test_events_and_waiting_leaves_survive(old: Apps) -> None:
    event = old.get_model("events", "Event")
    pending = old.get_model("public_log", "PendingLeaf")
    for number in (7, 8, None):
        event.objects.create(
            number=number,
            kind="bot.status",
            data={"n": number},
            public=True,
            owners=[3],
        )
    old.get_model("public_log", "LogHead").objects.create(pk=1, origin="x", root=b"")
    old.get_model("public_log", "DeckBatch").objects.create(number=1, commitment="ab")
    pending.objects.create(kind="match-planned", subject=5, seal=5, data="{}")
    pending.objects.create(kind="batch-committed", subject=1, data="{}")
    written = pending.objects.get(kind="match-planned").created_at

    new = migrate(AFTER)
    fact = new.get_model("events", "Fact")
    events = fact.objects.exclude(kind="").order_by("pk")
    assert list(events.values_list("number", "data", "owners")) == [
        (n, {"n": n}, [3]) for n in (7, 8, None)
    ]
    columns = ("number", "leaf_kind", "leaf_subject", "leaf_seal", "created_at")
    leaves = fact.objects.exclude(leaf_kind="")
    assert list(leaves.values_list(*columns)) == [
        (None, "match-planned", 5, 5, written)
    ]
    assert new.get_model("public_log", "LogHead").objects.get().last_fact == 8

    leaves.update(number=9)
    again = migrate(BEFORE)
    rows = again.get_model("public_log", "PendingLeaf").objects.order_by("pk")
    assert list(rows.values_list("kind", "subject", "seal")) == [
        ("batch-committed", 1, None),
        ("match-planned", 5, 5),
    ]
    numbers = again.get_model("events", "Event").objects.order_by("pk")
    assert list(numbers.values_list("number", flat=True)) == [7, 8, None, 9]
