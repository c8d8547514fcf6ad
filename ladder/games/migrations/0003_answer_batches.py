"""Answers of running games in rows of many, instead of one row each.

The answers of games that run at this moment, and of failed attempts, are dropped: they
serve people who watch, and a game goes on without them.
"""

import django.db.models.deletion
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps


def leave_out_of_the_log(_: StateApps, editor: BaseDatabaseSchemaEditor) -> None:
    """Let PostgreSQL write no log of these rows. After a crash the table is empty."""
    if editor.connection.vendor == "postgresql":
        editor.execute("ALTER TABLE games_answerbatch SET UNLOGGED")


class Migration(migrations.Migration):
    dependencies = [
        ("games", "0002_attempt_evidence"),
    ]

    operations = [
        migrations.DeleteModel(name="StoredAnswer"),
        migrations.CreateModel(
            name="AnswerBatch",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True,
                        primary_key=True,
                        serialize=False,
                        verbose_name="ID",
                    ),
                ),
                (
                    "first",
                    models.PositiveIntegerField(
                        help_text="The index of the first answer, as in the moves of the"
                        " replay."
                    ),
                ),
                (
                    "end",
                    models.PositiveIntegerField(
                        help_text="The index after the last answer."
                    ),
                ),
                (
                    "answers",
                    models.JSONField(
                        help_text="Lists: seat, actions, charged milliseconds, and true"
                        " if the referee answered for a forfeited seat."
                    ),
                ),
                (
                    "attempt",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="answers",
                        to="games.attempt",
                    ),
                ),
            ],
            options={
                "ordering": ["attempt", "first"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("attempt", "first"),
                        name="one_batch_of_answers_per_index",
                    )
                ],
            },
        ),
        migrations.RunPython(leave_out_of_the_log, migrations.RunPython.noop),
    ]
