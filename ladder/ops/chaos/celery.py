"""The Celery application for workers whose players are no processes.

It is the service's own application: `celery -A ladder.ops.chaos.celery worker`. Only
the step that starts with each worker is replaced.
"""

from ladder.celery import REPORTER_STEP, app

__all__ = ["SCRIPTED_STEP", "app"]

SCRIPTED_STEP = "ladder.ops.chaos.scripted_worker:ScriptedReporterStep"

app.steps["worker"].discard(REPORTER_STEP)
app.steps["worker"].add(SCRIPTED_STEP)
