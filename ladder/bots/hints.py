"""Hints for workers that an upload waits. The rows say which submissions need one."""

from threading import Event

from celery.app import app_or_default
from django.conf import settings

from ladder.common import publishing

BUILD_TASK = "bots.build"
"""`ladder.dispatch.tasks` defines the task: ladders decide how an upload is tried."""

# Set while the worker of this process is drained: its verdicts might be wrong.
validation_paused = Event()


def send(submission_id: int) -> None:
    """Send the hint for a submission. Raises one of BROKER_ERRORS within a second.

    If the hint is lost, the dispatcher finds the row and sends another one. It does so
    in any case if the broker is in memory, which no other process can reach.
    """
    if settings.CELERY_BROKER_URL.startswith("memory"):
        return
    app = app_or_default()
    with publishing.producer(app) as producer:
        app.send_task(BUILD_TASK, (submission_id,), producer=producer, retry=False)
