"""New tournaments limit the entries of an owner; those that exist have no limit."""

from django.db import migrations, models

HELP = "Bots that one owner may enter. Empty for no limit."


class Migration(migrations.Migration):
    dependencies = [
        ("tournaments", "0001_initial"),
    ]

    operations = [
        migrations.AddField(
            model_name="tournament",
            name="entries_per_owner",
            field=models.PositiveSmallIntegerField(
                blank=True, help_text=HELP, null=True
            ),
        ),
        migrations.AlterField(
            model_name="tournament",
            name="entries_per_owner",
            field=models.PositiveSmallIntegerField(
                blank=True, default=3, help_text=HELP, null=True
            ),
        ),
    ]
