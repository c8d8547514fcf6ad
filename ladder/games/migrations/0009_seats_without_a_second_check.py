"""Check the submission of a seat only, because it decides which bot is in the seat."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("bots", "0002_name_salt"),
        ("games", "0008_upload_slots"),
    ]

    operations = [
        migrations.AlterField(
            model_name="seat",
            name="bot",
            field=models.ForeignKey(
                db_constraint=False,
                db_index=False,
                editable=False,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="seats",
                to="bots.bot",
            ),
        ),
    ]
