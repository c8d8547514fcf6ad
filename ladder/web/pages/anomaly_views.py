"""The page on which operators read the reports of anomalies."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from ladder.extras.anomalies import selectors
from ladder.extras.anomalies.explained import explain
from ladder.web.pages.account_views import OperatorView


class AnomaliesPage(OperatorView):
    """The newest report of each ladder, for operators only."""

    refusal = (
        "Only operators of this service read reports of anomalies. Ask one of them if"
        " you suspect something."
    )

    def get(self, request: HttpRequest) -> HttpResponse:
        reports = [explain(report) for report in selectors.latest_reports()]
        return render(request, "web/anomalies.html", {"reports": reports})
