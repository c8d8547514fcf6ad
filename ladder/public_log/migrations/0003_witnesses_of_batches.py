"""A batch of decks names the witnesses whose cosignatures enter its seeds."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("public_log", "0002_leaves_in_the_outbox")]

    operations = [
        migrations.AddField("deckbatch", "witnesses", models.JSONField(default=list))
    ]
