"""Reports of the parts of the service that run once, such as the dispatcher."""

import os
import socket
from datetime import timedelta

from django.db.models.functions import Now

from ladder.moderation.models import ServicePart

DISPATCHER = "dispatcher"
PRACTICE = "practice"
"""The host of practice games. Several of them report as one part."""
WITHOUT_LOG_KEY = "without log key"
"""A dispatcher that cannot lead, because it lacks the key of the public log."""
REPORT_INTERVAL_S = 5.0
SILENT_AFTER = timedelta(seconds=30)
"""A part that has not reported for so long has ended or hangs."""


def report(name: str) -> None:
    """Store that the part runs in this process."""
    row = ServicePart(name=name, process=this_process(), seen_at=Now())
    ServicePart.objects.bulk_create(
        [row],
        update_conflicts=True,
        unique_fields=["name"],
        update_fields=["process", "seen_at"],
    )


def sign_off(name: str) -> None:
    """Remove the report of this process, because the part ends in an orderly way."""
    ServicePart.objects.filter(name=name, process=this_process()).delete()


def is_silent(part: ServicePart) -> bool:
    return ServicePart.objects.filter(
        pk=part.pk, seen_at__lt=Now() - SILENT_AFTER
    ).exists()


def this_process() -> str:
    """Return the host and the id of this process."""
    return f"{socket.gethostname()[:80]}:{os.getpid()}"
