"""Check no keys of summaries, because the ledger that they copy has the same ones."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("bots", "0002_name_salt"),
        ("ratings", "0004_combined_strengths"),
    ]

    operations = [
        migrations.AlterField(
            model_name="meetingsummary",
            name="bot",
            field=models.ForeignKey(
                db_constraint=False,
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="+",
                to="bots.bot",
            ),
        ),
        migrations.AlterField(
            model_name="meetingsummary",
            name="other",
            field=models.ForeignKey(
                db_constraint=False,
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="+",
                to="bots.bot",
            ),
        ),
        migrations.AlterField(
            model_name="meetingsummary",
            name="season",
            field=models.ForeignKey(
                db_constraint=False,
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="meeting_summaries",
                to="ratings.season",
            ),
        ),
        migrations.AlterField(
            model_name="ratingpoint",
            name="bot",
            field=models.ForeignKey(
                db_constraint=False,
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="points",
                to="bots.bot",
            ),
        ),
        migrations.AlterField(
            model_name="ratingpoint",
            name="season",
            field=models.ForeignKey(
                db_constraint=False,
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="points",
                to="ratings.season",
            ),
        ),
        migrations.AlterField(
            model_name="seatsummary",
            name="bot",
            field=models.ForeignKey(
                db_constraint=False,
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="seat_summaries",
                to="bots.bot",
            ),
        ),
        migrations.AlterField(
            model_name="seatsummary",
            name="season",
            field=models.ForeignKey(
                db_constraint=False,
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="seat_summaries",
                to="ratings.season",
            ),
        ),
    ]
