"""The job that audits the service once a day."""

from datetime import timedelta
from functools import partial

from django.core.management import call_command
from django.utils import timezone

from ladder.common.jobs import Job
from ladder.extras.self_audit import selectors
from ladder.public_log import tree

EVERY = timedelta(days=1)
FIRST_SIZE = 1000
"""The first audit waits for this number of leaves, so that it delays no start."""


def _is_due() -> bool:
    """True if the log has grown since the last audit, which is a day old."""
    head = tree.head()
    if head is None or not head.checkpoint:
        return False
    newest = selectors.newest()
    if newest is None:
        return head.size >= FIRST_SIZE
    return newest.size < head.size and newest.made_at < timezone.now() - EVERY


SELF_AUDIT = Job(
    "self-audit",
    _is_due,
    partial(call_command, "audit", "--public"),
    check_interval_s=600.0,
)
