"""The table of events becomes the outbox of all facts."""

from django.db import migrations, models

EVENT_KINDS = [
    "",
    "submission.created",
    "submission.ready",
    "submission.rejected",
    "submission.activated",
    "bot.status",
    "game.finished",
    "game.dead",
    "game.voided",
    "rating.changed",
    "rating.corrected",
    "season.started",
    "season.frozen",
    "season.reopened",
    "season.finals",
    "season.archived",
    "tournament.opened",
    "tournament.entry-closed",
    "tournament.started",
    "tournament.round-started",
    "tournament.round-finished",
    "tournament.paused",
    "tournament.resumed",
    "tournament.revealed",
    "tournament.finished",
    "tournament.cancelled",
    "tournament.archived",
    "webhook.test",
]
LEAF_KINDS = [
    "",
    "log-started",
    "log-restored",
    "batch-committed",
    "batch-revealed",
    "submission-accepted",
    "match-planned",
    "attempt-ended",
    "game-finished",
    "game-ended",
    "game-voided",
    "rating-changed",
    "sealed",
    "unsealed",
]


class Migration(migrations.Migration):
    dependencies = [("events", "0001_initial")]

    operations = [
        migrations.RemoveConstraint("event", "event_kind_is_known"),
        migrations.RenameModel("Event", "Fact"),
        migrations.RenameIndex(
            "fact", old_name="event_without_number", new_name="fact_without_number"
        ),
        migrations.AlterField(
            "fact", "kind", models.CharField(blank=True, max_length=40)
        ),
        migrations.AlterField("fact", "data", models.JSONField(default=dict)),
        migrations.AlterField("fact", "public", models.BooleanField(default=False)),
        migrations.AlterField("fact", "owners", models.JSONField(default=list)),
        migrations.AddField(
            "fact", "leaf_kind", models.CharField(blank=True, max_length=20)
        ),
        migrations.AddField(
            "fact", "leaf_subject", models.PositiveBigIntegerField(null=True)
        ),
        migrations.AddField(
            "fact", "leaf_seal", models.PositiveBigIntegerField(null=True)
        ),
        migrations.AddField("fact", "leaf_data", models.TextField(blank=True)),
        migrations.AddConstraint(
            "fact",
            models.CheckConstraint(
                condition=models.Q(kind__in=EVENT_KINDS), name="event_kind_is_known"
            ),
        ),
        migrations.AddConstraint(
            "fact",
            models.CheckConstraint(
                condition=models.Q(leaf_kind__in=LEAF_KINDS), name="leaf_kind_is_known"
            ),
        ),
        migrations.AddIndex(
            "fact",
            models.Index(
                fields=["leaf_seal"],
                condition=models.Q(leaf_seal__isnull=False),
                name="fact_with_sealed_leaf",
            ),
        ),
    ]
