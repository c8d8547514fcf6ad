"""Drop indexes of foreign keys that indexes of the class double."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("bots", "0002_name_salt"),
        ("games", "0010_fewer_indexes"),
        ("ratings", "0005_summaries_without_checks"),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name="rating",
            name="one_rating_per_bot_and_season",
        ),
        migrations.AlterField(
            model_name="entry",
            name="bot",
            field=models.ForeignKey(
                blank=True,
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="entries",
                to="bots.bot",
            ),
        ),
        migrations.AlterField(
            model_name="entry",
            name="game",
            field=models.ForeignKey(
                blank=True,
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="entries",
                to="games.game",
            ),
        ),
        migrations.AlterField(
            model_name="entry",
            name="season",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="entries",
                to="ratings.season",
            ),
        ),
        migrations.AlterField(
            model_name="rating",
            name="bot",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="ratings",
                to="bots.bot",
            ),
        ),
        migrations.AlterField(
            model_name="rating",
            name="season",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="ratings",
                to="ratings.season",
            ),
        ),
        migrations.AddIndex(
            model_name="entry",
            index=models.Index(
                condition=models.Q(("bot__isnull", False)),
                fields=["bot"],
                name="entry_of_bot",
            ),
        ),
        migrations.AddConstraint(
            model_name="rating",
            constraint=models.UniqueConstraint(
                fields=("bot", "season"), name="one_rating_per_bot_and_season"
            ),
        ),
    ]
