"""The newest report of the service about itself."""

from django.db import models
from django.db.models.functions import Now


class SelfAudit(models.Model):
    """The result of a comparison of the REST API with the public log.

    `size` is the number of leaves of the log, and `report` is `AuditReport.document()`
    with the remarkable tests only. The newest report replaces the one before, because
    reports name bots and owners.
    """

    made_at = models.DateTimeField(db_default=Now())
    size = models.PositiveBigIntegerField()
    findings = models.PositiveIntegerField()
    report = models.JSONField()

    def __str__(self) -> str:
        return f"audit of {self.size} leaves"
