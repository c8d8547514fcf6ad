"""The retention rule of analyses: they are deleted some time after their end."""

from datetime import timedelta

from django.conf import settings
from django.db.models import QuerySet
from django.db.models.functions import Now

from ladder.common.retention import RetentionRule, rule_for_rows
from ladder.extras.analysis.models import Analysis


def rules() -> list[RetentionRule]:
    return [
        rule_for_rows(
            "analyses", "TORRES_KEEP_ANALYSES_DAYS", Analysis.objects.all, _due
        )
    ]


def _due() -> QuerySet[Analysis]:
    keep = timedelta(days=settings.TORRES_KEEP_ANALYSES_DAYS)
    return Analysis.objects.filter(ended_at__lt=Now() - keep)
