"""The page of a comparison of two versions, and the actions of its owner."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from ladder.extras.comparisons import selectors, services
from ladder.extras.comparisons.models import VersionComparison
from ladder.ratings import leaderboard as ratings
from ladder.web.pages import comparison_pages, pages
from ladder.web.pages.account_views import SignedInView
from torres.common.errors import LadderError


class StartComparisonAction(SignedInView):
    """Test the version of a bot that plays now against its last one."""

    def post(self, request: HttpRequest, slug: str) -> HttpResponse:
        bot = self.own_bot(slug)
        # A slug that is not valid, such as one with a NUL character, finds nothing.
        wanted = request.POST.get("ladder", "")
        ladder = next((row for row in ratings.ladders() if row.slug == wanted), None)
        if ladder is None:
            messages.error(request, "Choose a ladder for the comparison.")
            return redirect("bot-page", slug)
        try:
            comparison = services.start(self.person(), bot, ladder)
        except LadderError as refusal:
            self.show_error(refusal)
            return redirect("bot-page", slug)
        return redirect("comparison-page", comparison.pk)


class ComparisonPage(SignedInView):
    """The figures of a comparison, for the owner of its bot."""

    def get(self, request: HttpRequest, pk: int) -> HttpResponse:
        details = comparison_pages.comparison_details(self.own(pk))
        return render(request, "web/comparison.html", pages.context(details))

    def own(self, pk: int) -> VersionComparison:
        return get_object_or_404(selectors.comparisons_of(self.person()), pk=pk)


class CancelComparisonAction(ComparisonPage):
    http_method_names = ["post"]

    def post(self, request: HttpRequest, pk: int) -> HttpResponse:
        try:
            services.cancel(self.own(pk))
        except LadderError as refusal:
            self.show_error(refusal)
        return redirect("comparison-page", pk)
