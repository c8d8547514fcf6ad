"""The pages of the public log: its state, and the audit that the service made."""

from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.decorators import method_decorator
from django.views import View
from django.views.decorators.http import conditional_page

from ladder.extras.self_audit import selectors as self_audit
from ladder.games import selectors
from ladder.games.models import Match
from ladder.public_log import cosignatures, tree
from ladder.public_log.models import Cosignature, LogHead

MAX_OVERDUE = 100


@dataclass(frozen=True, slots=True)
class PublicLogDetails:
    """The contents of the page; `head` is None before the first leaf."""

    head: LogHead | None
    root: str
    witnesses: list[Cosignature]
    overdue: list[Match]
    address: str


@method_decorator(conditional_page, "dispatch")
class PublicLogPage(View):
    def get(self, request: HttpRequest) -> HttpResponse:
        head = tree.head()
        details = PublicLogDetails(
            head=head,
            root=bytes(head.root).hex() if head else "",
            witnesses=cosignatures.seen(),
            overdue=list(selectors.overdue_matches()[:MAX_OVERDUE]),
            address=f"{request.scheme}://{request.get_host()}",
        )
        return render(request, "web/public-log.html", {"log": details})


@method_decorator(conditional_page, "dispatch")
class OperatorsHandPage(View):
    """The acts of operators, as the newest audit of the service counts them."""

    def get(self, request: HttpRequest) -> HttpResponse:
        audit = self_audit.newest()
        hand = audit.report["operators_hand"] if audit else {}
        contents = {
            "audit": audit,
            "counts": hand.get("counts", {}).items(),
            "tests": hand.get("made", 0),
            "remarkable": [
                test | {"expected": test["drawn"] * test["marked"] / test["games"]}
                for test in hand.get("remarkable", [])
            ],
            "address": f"{request.scheme}://{request.get_host()}",
        }
        return render(request, "web/operators-hand.html", contents)
