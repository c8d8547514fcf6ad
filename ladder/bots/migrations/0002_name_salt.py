"""The public log has a hash of the name of each bot, also of those that exist."""

import json

from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from torres.tlog.leaves import name_hash, new_salt


def log_names(apps: Apps, _: BaseDatabaseSchemaEditor) -> None:
    """Give each bot with an upload a salt, and log the hash of its name."""
    bots = apps.get_model("bots", "Bot").objects
    facts = apps.get_model("events", "Fact").objects
    for bot in bots.filter(submissions__isnull=False).distinct().iterator():
        salt = new_salt()
        bots.filter(pk=bot.pk).update(name_salt=salt.hex())
        data = {"bot": bot.pk, "hash": name_hash(salt, bot.slug, bot.name)}
        facts.create(
            leaf_kind="bot-named",
            leaf_subject=bot.pk,
            leaf_data=json.dumps(data, separators=(",", ":")),
        )


class Migration(migrations.Migration):
    dependencies = [
        ("bots", "0001_initial"),
        ("events", "0004_leaves_of_the_public_view"),
    ]

    operations = [
        migrations.AddField(
            "bot",
            "name_salt",
            models.CharField(
                blank=True,
                default="",
                editable=False,
                help_text="Hexadecimal. Public: with it, the log's hash proves the name.",
                max_length=32,
            ),
            preserve_default=False,
        ),
        migrations.RunPython(log_names, migrations.RunPython.noop),
    ]
