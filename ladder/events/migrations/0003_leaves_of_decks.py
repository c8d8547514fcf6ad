"""Facts may have leaves that commit to the decks of matches."""

from django.db import migrations, models

LEAF_KINDS = [
    "",
    "log-started",
    "log-restored",
    "batch-committed",
    "batch-revealed",
    "submission-accepted",
    "match-planned",
    "decks-fixed",
    "decks-renewed",
    "attempt-ended",
    "game-finished",
    "game-ended",
    "game-voided",
    "rating-changed",
    "sealed",
    "unsealed",
]


class Migration(migrations.Migration):
    dependencies = [("events", "0002_facts")]

    operations = [
        migrations.RemoveConstraint("fact", "leaf_kind_is_known"),
        migrations.AddConstraint(
            "fact",
            models.CheckConstraint(
                condition=models.Q(leaf_kind__in=LEAF_KINDS), name="leaf_kind_is_known"
            ),
        ),
    ]
