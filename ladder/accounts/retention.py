"""Retention rules of accounts: expired rows are deleted in time."""

from django.contrib.sessions.models import Session
from django.db.models.functions import Now

from ladder.accounts.idempotency import KEPT_FOR
from ladder.accounts.models import ApiToken, IdempotentRequest, Invitation
from ladder.common.retention import RetentionRule, rule_for_old_rows, rule_for_rows


def rules() -> list[RetentionRule]:
    days = "TORRES_KEEP_EXPIRED_DAYS"
    requests = IdempotentRequest.objects
    return [
        rule_for_old_rows("expired sessions", days, Session, "expire_date"),
        rule_for_old_rows("expired tokens", days, ApiToken, "expires_at"),
        rule_for_old_rows("expired invitations", days, Invitation, "expires_at"),
        rule_for_rows(
            "keys of requests",
            "",
            requests.all,
            lambda: requests.filter(started_at__lt=Now() - KEPT_FOR),
        ),
    ]
