"""`manage.py tidy`: delete at once what the service would delete in time."""

from argparse import ArgumentParser
from typing import Any

from ladder.common.commands import LongCommand
from ladder.common.retention import RetentionRule
from ladder.dispatch import retention
from ladder.ops.console import say

# The highest number that --dry-run counts to.
COUNT_LIMIT = 1_000_000


class Command(LongCommand):
    help = (
        "Delete old logs, answers, worker rows, uploads, sessions and files, as far as"
        " the limits permit it. No result depends on them. The service may run."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--dry-run", action="store_true", help="count, and delete nothing"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        last = "to delete" if options["dry_run"] else "deleted"
        say(f"{'':28}{'stored':>10}{last:>12}")
        for rule in retention.rules():
            stored = rule.stored()
            count = rule.due(COUNT_LIMIT) if options["dry_run"] else _delete_all(rule)
            say(f"{rule.name:28}{stored:>10}{count:>12}  {rule.setting}")


def _delete_all(rule: RetentionRule) -> int:
    total = 0
    while deleted := retention.apply_slice(rule):
        total += deleted
    return total
