"""`manage.py audit`: check every invariant of a service, or its public view."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from ladder.common.commands import LongCommand, be_nice
from ladder.extras.self_audit.services import audit_own_service
from ladder.ops import console, invariants
from ladder.ops.invariants import MAX_COMPLAINTS, InvariantResult
from ladder.public_log import tree
from torres.auditing.mirror import AuditFailed
from torres.cli.client import RemoteError
from torres.tlog.notes import BadKey

PUBLIC_VIEW = "the public view follows from the public log"


class Command(LongCommand):
    help = (
        "Check all games, replays and ratings. Run it while no game is played. With"
        " --public, compare the public view with the public log at any time."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--no-forfeits",
            action="store_true",
            help="treat every forfeit as a fault of the service (for bots that"
            " never forfeit by themselves)",
        )
        parser.add_argument(
            "--public",
            action="store_true",
            help="only compare the public view with the public log, as `torres audit`"
            " does from outside; games may be played meanwhile",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if options["public"]:
            be_nice()
            results = iter([_public_view()])
        else:
            results = invariants.check(forfeits=not options["no_forfeits"])
        violated = [result for result in results if not console.report(result)]
        if violated and options["public"]:
            raise CommandError("The page /log/operators-hand/ lists the differences.")
        if violated:
            raise CommandError(
                f"{len(violated)} invariants do not hold. If a game was played"
                " meanwhile, wait until none is and run the audit again."
            )


def _public_view() -> InvariantResult:
    head = tree.head()
    if head is None or not head.checkpoint:
        raise CommandError(
            "The public log is empty. It begins with the first upload, while"
            " manage.py up or manage.py schedule runs."
        )
    try:
        report = audit_own_service(lambda *_: None)
    except (AuditFailed, BadKey, RemoteError) as error:
        raise CommandError(f"The public log cannot be audited: {error}") from None
    found = "; ".join(str(each) for each in report.findings[:MAX_COMPLAINTS])
    return InvariantResult(PUBLIC_VIEW, found)
