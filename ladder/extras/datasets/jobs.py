"""The job that writes the dataset of today. It goes on where it was."""

from functools import partial

from django.conf import settings
from django.core.management import call_command
from django.utils import timezone

from ladder.common.jobs import Job
from ladder.extras.datasets import published


def _is_due() -> bool:
    """True if datasets are wanted and the one of today is not complete."""
    if not settings.TORRES_DATASETS:
        return False
    return timezone.now().date().isoformat() not in published.days()


DATASET = Job(
    "dataset", _is_due, partial(call_command, "dataset"), check_interval_s=60.0
)
