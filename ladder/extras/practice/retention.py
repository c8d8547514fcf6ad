"""The retention rule of practice games: they are deleted some time after their end."""

from datetime import timedelta

from django.conf import settings
from django.db.models import QuerySet
from django.db.models.functions import Now

from ladder.common.retention import RetentionRule, rule_for_rows
from ladder.extras.practice.models import PracticeGame


def rules() -> list[RetentionRule]:
    return [
        rule_for_rows(
            "practice games",
            "TORRES_KEEP_PRACTICE_DAYS",
            PracticeGame.objects.all,
            _due,
        )
    ]


def _due() -> QuerySet[PracticeGame]:
    keep = timedelta(days=settings.TORRES_KEEP_PRACTICE_DAYS)
    return PracticeGame.objects.filter(ended_at__lt=Now() - keep)
