"""The Celery application. Messages are only hints; the database holds the truth.

In production: `celery -A ladder.celery worker -P threads -c 4`.
"""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ladder.settings")

app = Celery("ladder")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
# Named by a string, because models can only be imported when Django is ready.
app.steps["worker"].add("ladder.games.worker.lifecycle:ReporterStep")
