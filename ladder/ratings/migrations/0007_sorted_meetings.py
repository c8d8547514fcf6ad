"""Write no index entry for each two bots of a game; pages sort a bot's opponents."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("ratings", "0006_fewer_indexes"),
    ]

    operations = [
        migrations.RemoveIndex(
            model_name="meetingsummary",
            name="meeting_most_games",
        ),
    ]
