from datetime import timedelta

from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.models import F


def keep_claims(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Give the requests that are being processed the lease that they have had."""
    rows = apps.get_model("accounts", "IdempotentRequest").objects
    rows.filter(status=None).update(lease_until=F("started_at") + timedelta(minutes=5))


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0001_initial"),
    ]

    operations = [
        migrations.AddField(
            model_name="idempotentrequest",
            name="fence",
            field=models.PositiveIntegerField(default=0),
        ),
        migrations.AddField(
            model_name="idempotentrequest",
            name="lease_until",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.RunPython(keep_claims, migrations.RunPython.noop),
    ]
