"""Delete the newest second opinion of each season, so that it is made anew.

Its strengths have another scale (`SCALE_OF_SEATS` in torres/rating/strengths.py), and
an audit compares the newest one with its own fit.
"""

from django.db import migrations
from django.db.models import OuterRef, Subquery


def delete_newest(apps, _schema_editor):
    opinions = apps.get_model("ratings", "SecondOpinion").objects
    newest = opinions.filter(season=OuterRef("season")).order_by("-seq").values("pk")
    found = opinions.filter(pk=Subquery(newest[:1])).values_list("pk", flat=True)
    opinions.filter(pk__in=list(found)).delete()


class Migration(migrations.Migration):
    dependencies = [("ratings", "0002_joint_fit")]

    operations = [migrations.RunPython(delete_newest, migrations.RunPython.noop)]
