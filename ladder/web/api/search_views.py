"""The search for bots, which the fields of several pages use."""

from dataclasses import asdict

from django.http import HttpRequest, JsonResponse
from django.views import View

from ladder.web.api import bot_search


class BotSearch(View):
    """Bots whose name has the text `q`, as JSON; with `ladder` only those on it."""

    def get(self, request: HttpRequest) -> JsonResponse:
        text = request.GET.get("q", "")
        found = bot_search.search(text, request.GET.get("ladder", ""))
        return JsonResponse({"results": [asdict(bot) for bot in found]})
