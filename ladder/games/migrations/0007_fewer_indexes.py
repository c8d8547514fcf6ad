"""Write less for each game.

Constraints already lead to the rows of these keys, and few games have an owner. A fact
is written twice: when something happens, and when it gets its number. A match is, too:
when it is planned, and when it gets its decks. With free space on the page, PostgreSQL
logs only what changed the second time (decision 198).
"""

import django.db.models.deletion
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps


def leave_space(_: StateApps, editor: BaseDatabaseSchemaEditor) -> None:
    if editor.connection.vendor == "postgresql":
        editor.execute("ALTER TABLE events_fact SET (fillfactor = 70)")
        editor.execute("ALTER TABLE games_match SET (fillfactor = 80)")


class Migration(migrations.Migration):
    dependencies = [
        ("bots", "0001_initial"),
        ("events", "0002_facts"),
        ("games", "0006_slot_shares"),
    ]

    operations = [
        migrations.AlterField(
            model_name="attempt",
            name="game",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="attempts",
                to="games.game",
            ),
        ),
        migrations.AlterField(
            model_name="game",
            name="owner",
            field=models.ForeignKey(
                blank=True,
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="games",
                to="games.worker",
            ),
        ),
        migrations.AlterField(
            model_name="loguse",
            name="bot",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="log_uses",
                to="bots.bot",
            ),
        ),
        migrations.AlterField(
            model_name="seat",
            name="game",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="seats",
                to="games.game",
            ),
        ),
        migrations.AlterField(
            model_name="seatlog",
            name="attempt",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="logs",
                to="games.attempt",
            ),
        ),
        migrations.AddIndex(
            model_name="game",
            index=models.Index(
                condition=models.Q(("owner__isnull", False)),
                fields=["owner"],
                name="game_owned",
            ),
        ),
        migrations.RunPython(leave_space, migrations.RunPython.noop),
    ]
