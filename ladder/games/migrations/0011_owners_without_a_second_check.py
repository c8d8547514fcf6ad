"""Check the worker of an attempt only, because it is the owner of the game."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("games", "0010_fewer_indexes"),
    ]

    operations = [
        migrations.AlterField(
            model_name="game",
            name="owner",
            field=models.ForeignKey(
                blank=True,
                db_constraint=False,
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="games",
                to="games.worker",
            ),
        ),
    ]
