"""The newest report of the service about itself."""

from django.db import models, transaction
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

    @classmethod
    def keep(cls, report: dict[str, object], size: int, findings: int) -> None:
        """Replace the report that there is."""
        with transaction.atomic():
            cls.objects.all().delete()
            cls.objects.create(report=report, size=size, findings=findings)

    @classmethod
    def newest(cls) -> "SelfAudit | None":
        return cls.objects.order_by("-pk").first()
