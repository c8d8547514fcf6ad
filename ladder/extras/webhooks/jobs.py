"""The job that sends events to webhooks.

It talks with servers of strangers, so it shares neither the memory nor the processor
time of the dispatcher.
"""

from django.utils import timezone

from ladder.common.commands import stop_on_signals
from ladder.common.jobs import Job
from ladder.extras.webhooks import deliveries
from ladder.extras.webhooks.fan_out import active, behind
from ladder.extras.webhooks.sender import Sender


def _is_due() -> bool:
    """True if a webhook has to examine events, or a delivery waits for a try."""
    if not active().exists():
        return False
    return behind().exists() or bool(deliveries.due(timezone.now(), 1, {}))


def _run() -> None:
    """Send until there was nothing to send for a while."""
    sender = Sender()
    try:
        sender.run(stop_on_signals())
    finally:
        sender.close()


SEND_WEBHOOKS = Job("send_webhooks", _is_due, _run, independent=True, longest_s=3600.0)
