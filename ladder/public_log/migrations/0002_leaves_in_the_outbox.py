"""Leaves that wait for a number move into the outbox of facts.

The last numbered event is the last fact whose leaf is in the tree, because events had
no leaves. A commitment that waits is not moved: the sequencer logs each batch without
a leaf.

Going back moves the leaves that wait to their own table. Facts without an event would
break the older version, so they are deleted; if the last number is theirs, they are
kept as events that only operators see, so that no number is given twice.
"""

from django.db import migrations, models
from django.db.models import F, Max

COMMITMENT = "batch-committed"
COLUMNS = ("kind", "subject", "seal", "data")
BATCH = 500


def to_facts(apps, schema_editor):
    fact = apps.get_model("events", "Fact")
    waiting = apps.get_model("public_log", "PendingLeaf").objects.order_by("pk")
    last = fact.objects.aggregate(last=Max("number"))["last"] or 0
    apps.get_model("public_log", "LogHead").objects.update(last_fact=last)
    rows = [
        fact(
            created_at=leaf.created_at,
            **{f"leaf_{name}": getattr(leaf, name) for name in COLUMNS},
        )
        for leaf in waiting.exclude(kind=COMMITMENT)
    ]
    fact.objects.bulk_create(rows, batch_size=BATCH)


def to_pending_leaves(apps, schema_editor):
    fact = apps.get_model("events", "Fact")
    pending = apps.get_model("public_log", "PendingLeaf")
    head = apps.get_model("public_log", "LogHead").objects.first()
    batches = apps.get_model("public_log", "DeckBatch").objects.filter(leaf=None)
    rows = [
        pending(
            kind=COMMITMENT,
            subject=batch.number,
            data=f'{{"batch":{batch.number},"commitment":"{batch.commitment}"}}',
            created_at=batch.created_at,
        )
        for batch in batches.order_by("number")
    ]
    leaves = fact.objects.exclude(leaf_kind="").exclude(
        number__lte=head.last_fact if head else 0
    )
    rows += [
        pending(
            created_at=row.created_at,
            **{name: getattr(row, f"leaf_{name}") for name in COLUMNS},
        )
        for row in leaves.order_by(F("number").asc(nulls_last=True), "pk")
    ]
    pending.objects.bulk_create(rows, batch_size=BATCH)
    last = fact.objects.aggregate(last=Max("number"))["last"]
    without_event = fact.objects.filter(kind="")
    without_event.filter(number=last).update(
        kind="webhook.test", data={}, public=False, owners=[]
    )
    without_event.delete()


class Migration(migrations.Migration):
    dependencies = [("public_log", "0001_initial"), ("events", "0002_facts")]

    operations = [
        migrations.AddField(
            "loghead",
            "last_fact",
            models.PositiveBigIntegerField(
                default=0,
                help_text="The number of the last fact whose leaf is in the tree.",
            ),
        ),
        migrations.RunPython(to_facts, to_pending_leaves),
        migrations.DeleteModel("PendingLeaf"),
    ]
