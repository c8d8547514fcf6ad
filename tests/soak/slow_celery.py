"""The Celery application for workers with slow players (`celery -A`)."""

from ladder.ops.chaos.celery import SCRIPTED_STEP, app

app.steps["worker"].discard(SCRIPTED_STEP)
app.steps["worker"].add("tests.soak.players:SlowReporterStep")
