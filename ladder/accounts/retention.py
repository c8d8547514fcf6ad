"""Retention rules of accounts: expired rows are deleted in time."""

from datetime import timedelta

from django.conf import settings
from django.contrib.sessions.models import Session
from django.db.models import QuerySet
from django.db.models.functions import Now

from ladder.accounts.idempotency import KEPT_FOR
from ladder.accounts.models import ApiToken, IdempotentRequest, Invitation
from ladder.common.retention import RetentionRule, rule_for_rows


def rules() -> list[RetentionRule]:
    setting = "TORRES_KEEP_EXPIRED_DAYS"
    return [
        rule_for_rows("expired sessions", setting, Session.objects.all, _due_sessions),
        rule_for_rows("expired tokens", setting, ApiToken.objects.all, _due_tokens),
        rule_for_rows(
            "expired invitations", setting, Invitation.objects.all, _due_invitations
        ),
        rule_for_rows(
            "keys of requests", "", IdempotentRequest.objects.all, _due_requests
        ),
    ]


def _due_sessions() -> QuerySet[Session]:
    return Session.objects.filter(expire_date__lt=Now() - _keep())


def _due_tokens() -> QuerySet[ApiToken]:
    return ApiToken.objects.filter(expires_at__lt=Now() - _keep())


def _due_invitations() -> QuerySet[Invitation]:
    return Invitation.objects.filter(expires_at__lt=Now() - _keep())


def _due_requests() -> QuerySet[IdempotentRequest]:
    return IdempotentRequest.objects.filter(started_at__lt=Now() - KEPT_FOR)


def _keep() -> timedelta:
    return timedelta(days=settings.TORRES_KEEP_EXPIRED_DAYS)
