"""Drop an index that the constraint of the numbers doubles."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("events", "0005_leaves_of_pairings"),
    ]

    operations = [
        migrations.RemoveIndex(
            model_name="fact",
            name="fact_without_number",
        ),
    ]
