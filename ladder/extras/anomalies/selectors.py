"""Find the seasons that need a new report, and the stored reports. Imports no numpy."""

from datetime import timedelta

from django.db.models import F, Max, OuterRef, Q, Subquery
from django.utils import timezone

from ladder.extras.anomalies.models import AnomalyReport
from ladder.ratings.models import Season

MIN_ENTRIES = 50
"""A shorter ledger gets no report."""
MIN_AGE = timedelta(days=1)
"""A new report is made when the last one is at least this old."""


def due_seasons() -> list[Season]:
    """Return the seasons that need a new report. One query."""
    seasons = Season.objects.annotate(
        last=Max("anomaly_reports__seq"), last_at=Max("anomaly_reports__created_at")
    )
    old = Q(last_at__lte=timezone.now() - MIN_AGE, head__gt=F("last"))
    return list(
        seasons.filter(Q(last=None, head__gte=MIN_ENTRIES) | old).order_by("pk")
    )


def latest_reports() -> list[AnomalyReport]:
    """Return the newest report of each ladder that has one, by the ladder's id."""
    newest = AnomalyReport.objects.filter(season__ladder=OuterRef("season__ladder"))
    first = newest.order_by("-season__number", "-seq").values("pk")[:1]
    reports = AnomalyReport.objects.filter(pk=Subquery(first))
    return list(reports.select_related("season__ladder").order_by("season__ladder"))
