"""The Celery application. A message is only a hint: the database says what to do.

Start a worker with `celery -A ladder.celery worker -P threads -c 4`.
"""

import os

from celery import Celery
from kombu.transport import TRANSPORT_ALIASES

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ladder.settings")
# Celery ignores what Django's checks find. For them, a worker would import all pages.
os.environ.setdefault("CELERY_SKIP_CHECKS", "1")

TRANSPORT_ALIASES["memory"] = "ladder.common.memory_broker:MemoryTransport"
app = Celery("ladder")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["ladder.dispatch"])
# Named and not imported, because models can be imported only after Django's setup.
REPORTER_STEP = "ladder.games.worker.lifecycle:ReporterStep"
app.steps["worker"].add(REPORTER_STEP)
