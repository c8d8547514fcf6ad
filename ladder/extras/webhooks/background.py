"""The sender as a process of its own, beside the dispatcher.

It talks with servers of strangers, so it shares neither the memory nor the processor
time of the dispatcher.
"""

from django.utils import timezone

from ladder.common.background import BackgroundCommand
from ladder.extras.webhooks import deliveries
from ladder.extras.webhooks.fan_out import active, behind


class SenderProcess(BackgroundCommand):
    """Runs `manage.py send_webhooks`. The next one tries again what was being sent."""

    command = "send_webhooks"

    def has_work(self) -> bool:
        """True if a webhook has to examine events, or a delivery waits for a try."""
        if not active().exists():
            return False
        return behind().exists() or bool(deliveries.due(timezone.now(), 1, {}))
