"""The job that reports anomalies once a day if a ledger has grown."""

from functools import partial

from django.core.management import call_command

from ladder.common.jobs import Job
from ladder.extras.anomalies import selectors

ANOMALIES = Job(
    "anomalies",
    is_due=lambda: bool(selectors.due_seasons()),
    run=partial(call_command, "anomalies"),
    check_interval_s=300.0,
)
