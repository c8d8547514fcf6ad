"""The act of operators on comparisons of versions."""

from ladder.extras.comparisons import services
from ladder.extras.comparisons.models import VersionComparison
from ladder.moderation.audit import Operator
from ladder.moderation.declaration import Act, Target
from ladder.moderation.models import AuditEntry

COMPARISON = Target(
    "comparison",
    "the number of a comparison",
    "operate/comparisons/<int:pk>/",
    VersionComparison,
)


def _cancel(_: Operator, comparison: VersionComparison) -> None:
    services.cancel(comparison, "Cancelled by an operator.")


ACTS = [
    Act(
        "cancel_comparison",
        "Cancel",
        "Cancel a comparison of two versions of a bot.",
        COMPARISON,
        _cancel,
        audit=AuditEntry.Kind.EXTRA,
        word="cancel",
    )
]
