"""The page of a comparison of two versions, and the actions of its owner."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _

from ladder.extras.comparisons import selectors, services
from ladder.extras.comparisons.models import VersionComparison
from ladder.ratings import leaderboard as ratings
from ladder.web.pages import comparison_pages
from ladder.web.pages.account_views import PageAction, SignedInView


class StartComparisonAction(PageAction):
    """Test the version of a bot that plays now against its last one."""

    def act(self, **named: Any) -> HttpResponse | None:
        bot = self.own_bot(named["slug"])
        # A slug that is not valid, such as one with a NUL character, finds nothing.
        wanted = self.request.POST.get("ladder", "")
        ladder = next((row for row in ratings.ladders() if row.slug == wanted), None)
        if ladder is None:
            messages.error(self.request, _("Choose a ladder for the comparison."))
            return None
        comparison = services.start(self.person(), bot, ladder)
        return redirect("comparison-page", comparison.pk)


class ComparisonPage(SignedInView):
    """The figures of a comparison, for the owner of its bot."""

    def get(self, request: HttpRequest, pk: int) -> HttpResponse:
        details = comparison_pages.comparison_details(self.own(pk))
        return render(request, "web/comparison.html", details)

    def own(self, pk: int) -> VersionComparison:
        return get_object_or_404(selectors.comparisons_of(self.person()), pk=pk)


class CancelComparisonAction(PageAction, ComparisonPage):
    http_method_names = ["post"]
    page = "comparison-page"

    def act(self, **named: Any) -> None:
        services.cancel(self.own(named["pk"]))
