"""Facts may have leaves about the decisions of matchmakers."""

from django.db import migrations, models

LEAF_KINDS = [
    "",
    "log-started",
    "log-restored",
    "batch-committed",
    "batch-revealed",
    "submission-accepted",
    "match-planned",
    "pairings-made",
    "decks-fixed",
    "decks-renewed",
    "attempt-ended",
    "game-finished",
    "game-ended",
    "game-voided",
    "rating-changed",
    "bot-named",
    "bot-status",
    "operator-acted",
    "tournament-started",
    "entrant-left",
    "fixture-decided",
    "dataset-published",
    "sealed",
    "unsealed",
]


class Migration(migrations.Migration):
    dependencies = [("events", "0004_leaves_of_the_public_view")]

    operations = [
        migrations.RemoveConstraint("fact", "leaf_kind_is_known"),
        migrations.AddConstraint(
            "fact",
            models.CheckConstraint(
                condition=models.Q(leaf_kind__in=LEAF_KINDS), name="leaf_kind_is_known"
            ),
        ),
    ]
