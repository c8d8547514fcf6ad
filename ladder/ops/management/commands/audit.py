"""`manage.py audit`: check every invariant of a service, and its public view."""

from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from django.core.management.base import CommandError

from ladder.common.commands import LongCommand, be_nice
from ladder.events.models import Fact
from ladder.extras.self_audit.services import audit_own_service
from ladder.ops import console, invariants
from ladder.ops.invariants import MAX_COMPLAINTS, InvariantResult
from ladder.public_log import tree
from torres.auditing.mirror import AuditFailed
from torres.tlog.notes import BadKey

PUBLIC_VIEW = "the public view follows from the public log"


class Command(LongCommand):
    help = (
        "Check all games, replays and ratings, and compare the public view with the"
        " public log. Run it while no game is played."
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
            results = _at_rest(forfeits=not options["no_forfeits"])
        violated = [result for result in results if not console.report(result)]
        if violated:
            raise CommandError(
                f"{len(violated)} invariants do not hold. If a game was played"
                " meanwhile, wait until none is and run the audit again."
            )


def _at_rest(*, forfeits: bool) -> Iterator[InvariantResult]:
    yield from invariants.check(forfeits=forfeits)
    head = tree.head()
    waiting = Fact.objects.filter(number=None).exclude(leaf_kind="").count()
    if head is None or not head.checkpoint:
        console.say(f"  {PUBLIC_VIEW}: not checked, because the log is empty")
    elif waiting:
        console.say(
            f"  {PUBLIC_VIEW}: not checked, because the dispatcher has not logged"
            f" {waiting} facts yet"
        )
    else:
        yield _public_view()


def _public_view() -> InvariantResult:
    try:
        report = audit_own_service(lambda *_: None)
    except (AuditFailed, BadKey) as error:
        raise CommandError(f"The public log could not be audited: {error}") from None
    found = "; ".join(str(each) for each in report.findings[:MAX_COMPLAINTS])
    return InvariantResult(PUBLIC_VIEW, found)
