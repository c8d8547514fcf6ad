"""Applies all retention rules, in slices, beside the dispatcher's other work.

Rows and files without further use are deleted a few at a time, so that no lock
is held long and no tick is delayed much. `manage.py tidy` applies the same rules to
the end.
"""

from dataclasses import dataclass, field

import structlog
from django.db import connection

from ladder.accounts import retention as accounts
from ladder.bots import retention as bots
from ladder.common import scratch
from ladder.common.retention import RetentionRule, rule_for_old_rows
from ladder.events import retention as events
from ladder.extras.analysis.models import Analysis
from ladder.extras.editor.models import TrialGame
from ladder.extras.practice import guests
from ladder.extras.practice.models import PracticeGame
from ladder.extras.webhooks import fan_out, retention as webhooks
from ladder.games import retention as games
from ladder.moderation import erasure
from ladder.public_log import sequencer

SLICE_INTERVAL_S = 1.0
SLICE_ROWS = 200
# How long nothing is examined after a round in which no rule found anything.
ROUND_INTERVAL_S = 600.0

log = structlog.get_logger()


def rules() -> list[RetentionRule]:
    """Return all rules, in the order in which they are applied."""
    return [
        *games.rules(),
        *bots.rules(),
        *accounts.rules(),
        rule_for_old_rows(
            "practice games", "TORRES_KEEP_PRACTICE_DAYS", PracticeGame, "ended_at"
        ),
        guests.retention_rule(),
        rule_for_old_rows("trials", "TORRES_KEEP_GUEST_DAYS", TrialGame, "created_at"),
        rule_for_old_rows(
            "analyses", "TORRES_KEEP_ANALYSES_DAYS", Analysis, "ended_at"
        ),
        *webhooks.rules(),
        *events.rules(fan_out.oldest_needed, sequencer.oldest_needed),
        *erasure.rules(),
        scratch.retention_rule(),
    ]


@dataclass(slots=True)
class RetentionSchedule:
    """Applies one slice of one rule at a time.

    1. In each call that is at least SLICE_INTERVAL_S after the last one, one rule
       deletes at most SLICE_ROWS.
    2. A rule that deleted something stays first, until nothing is left.
    3. When all rules have nothing left, a new round begins ROUND_INTERVAL_S later.

    A rule that fails is reported, and skipped in this round.
    """

    _next_s: float = float("-inf")
    _left: list[RetentionRule] = field(default_factory=list)

    def apply(self, now_s: float) -> int:
        """Delete one slice if it is time; return its size. `now_s` is monotonic."""
        if now_s < self._next_s:
            return 0
        self._left = self._left or rules()
        deleted = apply_slice(self._left[0])
        if not deleted:
            self._left.pop(0)
        self._next_s = now_s + (SLICE_INTERVAL_S if self._left else ROUND_INTERVAL_S)
        return deleted


def apply_slice(rule: RetentionRule) -> int:
    """Delete one slice; return its size. A failure is reported and deletes nothing."""
    try:
        deleted = rule.delete(SLICE_ROWS)
    except Exception:  # the one boundary: nothing is urgent here
        log.exception("cannot delete", rule=rule.name)
        connection.close()
        return 0
    if deleted:
        log.info("deleted", rule=rule.name, count=deleted)
    return deleted
