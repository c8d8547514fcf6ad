"""The act of operators on webhooks."""

from ladder.extras.webhooks import services
from ladder.extras.webhooks.models import Webhook
from ladder.moderation.audit import Operator
from ladder.moderation.declaration import Act, Target
from ladder.moderation.models import AuditEntry

WEBHOOK = Target(
    "webhook", "the number of a webhook", "operate/webhooks/<int:pk>/", Webhook
)


def _switch_off(_: Operator, webhook: Webhook) -> None:
    services.switch_off(webhook, "An operator switched it off.")


ACTS = [
    Act(
        "switch_off",
        "Switch off",
        "Send nothing more to a webhook. Its owner may switch it on again.",
        WEBHOOK,
        _switch_off,
        audit=AuditEntry.Kind.EXTRA,
    )
]
