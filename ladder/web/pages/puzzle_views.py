"""Puzzles: the best turn before a scoring, played on the board without an account.

The turn is a part of the address, so that nothing is stored, a result can be shared,
and the page needs no script. The script of games by hand asks for each action of it.
"""

from collections.abc import Sequence
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views import View

from engine.errors import IllegalAction
from engine.game import TorresGame
from ladder.common.http import conditional
from ladder.extras.practice.position import Tentative, attempt
from ladder.extras.practice.services import BadAnswer, check_shape
from ladder.extras.puzzles.collection import Level, Puzzle, number_of_day, puzzles
from ladder.web.api import problems
from ladder.web.pages import link_cards, practice_pages, share_views, watching
from torres.drawing import frames


class PuzzlesPage(View):
    """All puzzles by level."""

    def get(self, request: HttpRequest) -> HttpResponse:
        levels = [
            (level, [n for n, each in enumerate(puzzles(), 1) if each.level == level])
            for level in Level
        ]
        context = {"levels": levels, "today": _today()}
        return render(request, "web/puzzles.html", context)


class PuzzlePage(View):
    """One puzzle. `?action=` once or more is a turn; a complete one is judged."""

    def get(self, request: HttpRequest, number: int) -> HttpResponse:
        puzzle = _puzzle(number)
        game = puzzle.game()
        seat = game.position.seat
        actions = request.GET.getlist("action")
        refusal = ""
        try:
            tried = _attempt(puzzle, actions)
        except BadAnswer as error:
            refusal = str(error)
            actions = []
            tried = attempt(game, actions)
        context = {
            "puzzle": puzzle,
            "number": number,
            "count": len(puzzles()),
            "today": _today(),
            "seat": seat,
            "phase": game.position.phase,
            "rules": game.rules,
            "actions": actions,
            "before": actions[:-1],
            "refusal": refusal,
            "shown": "shown" in request.GET,
            "board": watching.board(tried.game),
            "legal": tried.legal,
        }
        if tried.complete:
            scoring = tried.game.scoring[-1]
            context |= {"gain": puzzle.gain_of(tried.game), "scoring": scoring}
        else:
            context["start"] = _state(game, seat)
        return render(request, "web/puzzle.html", context)


class TodayPage(PuzzlePage):
    """The puzzle of the day (UTC)."""

    def get(self, request: HttpRequest, number: int = 0) -> HttpResponse:
        return super().get(request, number or _today())


class PuzzleCard(View):
    """A picture of a puzzle for links to it."""

    def get(self, request: HttpRequest, number: int) -> HttpResponse:
        card = link_cards.puzzle_card(number, _puzzle(number))
        response = conditional(request, *card, "image/png")
        response["Cache-Control"] = share_views.TABLES
        return response


class PuzzleTurn(View):
    """The position after the actions of a turn, and what may follow, as JSON."""

    def get(self, request: HttpRequest, number: int) -> HttpResponse:
        puzzle = _puzzle(number)
        try:
            tried = _attempt(puzzle, request.GET.getlist("action"))
        except BadAnswer as error:
            return JsonResponse(
                problems.problem(error.http_status, error.code, str(error)),
                status=error.http_status,
                content_type=problems.MEDIA_TYPE,
            )
        seat = puzzle.game().position.seat
        return JsonResponse(practice_pages.preview_document(seat, tried))


def _today() -> int:
    return number_of_day(timezone.now().date())


def _puzzle(number: int) -> Puzzle:
    if not 1 <= number <= len(puzzles()):
        raise Http404("there is no such puzzle")
    return puzzles()[number - 1]


def _attempt(puzzle: Puzzle, actions: Sequence[str]) -> Tentative:
    """Play the actions of a turn. Raises BadAnswer."""
    check_shape(actions)
    try:
        return attempt(puzzle.game(), actions)
    except IllegalAction as error:
        raise BadAnswer(f"{error}.") from error


def _state(game: TorresGame, seat: int) -> dict[str, Any]:
    """Return what the script needs, in the form of `practice_pages.state_document`."""
    rivals = [
        _("Rival %(number)s") % {"number": number}
        for number in range(1, game.rules.seats)
    ]
    rivals.insert(seat, _("You"))
    return {
        "status": "running",
        "seat": seat,
        "players": rivals,
        "first": 0,
        "frames": [frames.frame_of(game, seat)],
        "notes": [],
        "question": {
            "ply": game.ply,
            "decision": game.decision,
            "legal": game.legal(),
            "seconds": None,
        },
    }
