"""The Celery application; messages are hints, the database is the truth.

In production: `celery -A ladder.celery worker -P threads -c 4`.
"""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ladder.settings")

app = Celery("ladder")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
# By its name: rows may only be imported when Django is ready, and Celery sees to that.
app.steps["worker"].add("ladder.games.worker.lifecycle:ReporterStep")
