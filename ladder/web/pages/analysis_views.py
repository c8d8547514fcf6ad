"""The pages of analyses, of what if and of positions, and requests of analyses."""

from http import HTTPStatus
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.decorators import method_decorator
from django.views import View
from django.views.decorators.cache import never_cache

from engine.errors import BadPosition
from engine.position_text import PlacedPosition, position_from, text_of
from engine.turning_points import MAX_LINE
from ladder.bots.models import Bot
from ladder.extras.analysis import selectors, services
from ladder.extras.analysis.models import Analysis, AnalysisStatus
from ladder.extras.analysis.serializers import MAX_ACTION_CHARS
from ladder.extras.analysis.weaknesses import weaknesses_of
from ladder.extras.practice import services as practice
from ladder.extras.practice.selectors import is_switched_on
from ladder.extras.practice.services import BadPracticeGame
from ladder.games import visibility
from ladder.games.models import OPEN, Game
from ladder.web.pages import analysis_pages, watching
from ladder.web.pages.account_views import SignedInView
from torres.common.errors import LadderError


@method_decorator(never_cache, "dispatch")
class _AnalysisPage(View):
    """A page that shows an analysis, or offers to request it."""

    def game(self, pk: int) -> Game:
        return get_object_or_404(visibility.games(), pk=pk)

    def page(
        self, template: str, game: Game, row: Analysis | None, **parts: Any
    ) -> HttpResponse:
        finished = row is not None and row.status == AnalysisStatus.FINISHED
        context = {
            "game": game,
            "seats": game.seats.all(),
            "over": game.status not in OPEN,
            "state": analysis_pages.state(row, self.request.user),
            "finished": finished,
        }
        return render(self.request, template, context | parts)


class AnalysisPage(_AnalysisPage):
    """The course of a game: chances turn by turn, and the turning points."""

    def get(self, request: HttpRequest, pk: int) -> HttpResponse:
        game = self.game(pk)
        row = selectors.whole_game(game)
        analysis = analysis_pages.shown(game)
        return self.page("web/analysis.html", game, row, analysis=analysis)


class WhatIfPage(_AnalysisPage):
    """The alternatives in a position, after `?ply=` actions and those of `line`."""

    def get(self, request: HttpRequest, pk: int) -> HttpResponse:
        game = self.game(pk)
        ply, line = position_asked(request.GET)
        row = selectors.what_if(game, ply, line)
        failed = row is None or row.status == AnalysisStatus.FAILED
        document = None if failed or row is None else row.document
        torres = watching.position(game, ply, line)
        text = text_of(torres.position, torres.rules) if torres else ""
        return self.page(
            "web/what-if.html",
            game,
            row,
            ply=ply,
            line=line,
            board=torres and watching.board(torres),
            text=text,
            playable=_is_playable(text),
            document=document,
            query=_query(ply, line),
            alternatives=[
                (entry, _query(ply, [*line, entry["action"]]))
                for entry in (document or {}).get("alternatives", [])
            ],
        )


class WeaknessesPage(View):
    """The mistakes that a bot makes most, over its last analysed games."""

    def get(self, request: HttpRequest, slug: str) -> HttpResponse:
        bot = get_object_or_404(Bot, slug=slug)
        context = {"bot": bot, "found": weaknesses_of(bot)}
        return render(request, "web/weaknesses.html", context)


class PositionPage(View):
    """The board of the position whose text is in the address, as `?text=`."""

    def get(self, request: HttpRequest) -> HttpResponse:
        text = request.GET.get("text", "")
        context: dict[str, object] = {"text": text}
        status = HTTPStatus.OK
        if text:
            try:
                placed = position_from(text)
            except BadPosition as error:
                context["error"] = str(error)
                status = HTTPStatus.UNPROCESSABLE_ENTITY
            else:
                context |= {
                    "placed": placed,
                    "board": watching.board(placed.game()),
                    "text": text_of(placed.position, placed.rules),
                    "playable": _is_playable(text),
                    "seats": _seats(placed),
                }
        return render(request, "web/position.html", context, status=status)


def _is_playable(text: str) -> bool:
    """True if a game by hand can begin at a position."""
    try:
        practice.placed(text)
    except BadPracticeGame:
        return False
    return is_switched_on()


def _seats(placed: PlacedPosition) -> list[tuple[int, int, list[str], list[int]]]:
    """Return for each seat its number, score, cards and stacks."""
    state = placed.state
    rows = zip(state["scores"], state["hands"], state["stacks"], strict=True)
    return [(seat, *row) for seat, row in enumerate(rows)]


class RequestAnalysisAction(SignedInView):
    """Request the analysis of a game, or with `ply` of one of its positions."""

    def post(self, request: HttpRequest, pk: int) -> HttpResponse:
        game = get_object_or_404(visibility.games(), pk=pk)
        by: User = self.person()
        address = reverse("analysis-page", args=[pk])
        ply: int | None = None
        line: list[str] = []
        if "ply" in request.POST:
            ply, line = position_asked(request.POST)
            address = f"{reverse('what-if-page', args=[pk])}?{_query(ply, line)}"
        try:
            services.request_analysis(by, game, ply, line)
        except LadderError as refusal:
            messages.error(request, str(refusal))
        return redirect(address)


def position_asked(values: Any) -> tuple[int, list[str]]:
    """Return the ply and the line of a request; invalid parts are cut off."""
    text = values.get("ply", "")
    is_number = text.isascii() and text.isdigit() and len(text) < 7
    line = [action for action in values.getlist("line") if "\0" not in action]
    return int(text) if is_number else 0, [
        action[:MAX_ACTION_CHARS] for action in line[:MAX_LINE]
    ]


def _query(ply: int, line: list[str]) -> str:
    return urlencode([("ply", ply), *[("line", action) for action in line]])
