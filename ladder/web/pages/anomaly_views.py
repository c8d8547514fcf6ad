"""The page on which operators read the reports of anomalies."""

from http import HTTPStatus
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render

from ladder.accounts.roles import is_operator
from ladder.extras.anomalies import selectors
from ladder.extras.anomalies.explained import explain
from ladder.web.api import problems
from ladder.web.pages.account_views import SignedInView


class AnomaliesPage(SignedInView):
    """The newest report of each ladder, for operators only."""

    scope = "operate"

    def dispatch(
        self, request: HttpRequest, *args: Any, **kwargs: Any
    ) -> HttpResponseBase:
        if request.user.is_authenticated and not is_operator(request.user):
            return problems.answer(
                request,
                HTTPStatus.FORBIDDEN,
                "permission-denied",
                "Only operators of this service read reports of anomalies. Ask one of"
                " them if you suspect something.",
            )
        return super().dispatch(request, *args, **kwargs)

    def get(self, request: HttpRequest) -> HttpResponse:
        reports = [explain(report) for report in selectors.latest_reports()]
        return render(request, "web/anomalies.html", {"reports": reports})
