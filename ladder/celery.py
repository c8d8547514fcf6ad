"""The Celery application. A message is only a hint: the database says what to do.

Start a worker with `celery -A ladder.celery worker -P threads -c 4`.
"""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ladder.settings")

app = Celery("ladder")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
# The step is given by its name, because its module imports models, which is possible
# only when Django is ready. Celery imports it later than that.
app.steps["worker"].add("ladder.games.worker.lifecycle:ReporterStep")
