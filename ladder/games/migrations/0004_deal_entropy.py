"""A match keeps what the cosignatures of witnesses added to its seed."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("games", "0003_answer_batches")]

    operations = [
        migrations.AddField("match", "deal_entropy", models.BinaryField(null=True))
    ]
