"""Reports of anomalies: findings in a season for operators, with evidence."""

from django.db import models
from django.db.models.functions import Now

from ladder.ratings.models import Season


class AnomalyReport(models.Model):
    """The findings in a season after entry `seq` of its ledger.

    `report` has the findings and what was tested, as `season_report.py` writes it. It
    names bots, submissions and owners by their ids only, so that the deletion of an
    account also takes its names out of old reports.
    """

    season = models.ForeignKey(
        Season, models.CASCADE, related_name="anomaly_reports", db_index=False
    )
    seq = models.PositiveBigIntegerField()
    report = models.JSONField()
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["season", "seq"], name="one_anomaly_report_per_entry"
            )
        ]

    def __str__(self) -> str:
        return f"anomalies in season {self.season_id} after entry {self.seq}"
