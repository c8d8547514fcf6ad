from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("games", "0004_deal_entropy"),
    ]

    operations = [
        migrations.AddField(
            model_name="worker",
            name="role",
            field=models.CharField(
                blank=True,
                db_default="",
                editable=False,
                help_text="The user of PostgreSQL with which it signs in.",
                max_length=63,
            ),
        ),
    ]
