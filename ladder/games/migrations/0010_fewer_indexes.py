"""Drop indexes that others double, and index only games that have a value."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("games", "0009_seats_without_a_second_check"),
    ]

    operations = [
        migrations.RemoveIndex(
            model_name="game",
            name="game_finished",
        ),
        migrations.AlterField(
            model_name="game",
            name="replaces",
            field=models.ForeignKey(
                blank=True,
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="games.game",
            ),
        ),
        migrations.AlterField(
            model_name="match",
            name="ladder",
            field=models.SlugField(
                blank=True,
                db_index=False,
                help_text="The ladder that rates it, or empty.",
                max_length=40,
            ),
        ),
        migrations.AddIndex(
            model_name="game",
            index=models.Index(
                condition=models.Q(("finished_at__isnull", False)),
                fields=["-finished_at"],
                name="game_finished",
            ),
        ),
        migrations.AddConstraint(
            model_name="game",
            constraint=models.UniqueConstraint(
                condition=models.Q(("replaces__isnull", False)),
                fields=("replaces",),
                name="one_replacement_per_game",
            ),
        ),
    ]
