"""The page on which a newcomer learns the game: six boards, and one task on each.

A choice is a part of the address, so that the page needs no account, cookie or script.
"""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views import View

from ladder.web.pages import watching
from ladder.web.pages.lessons import LESSONS, judge


class LearnPage(View):
    """One lesson; `?space=` is the space that the student chose."""

    def get(self, request: HttpRequest, number: int = 1) -> HttpResponse:
        if not 1 <= number <= len(LESSONS):
            raise Http404("there is no such lesson")
        lesson = LESSONS[number - 1]
        space = request.GET.get("space", "").strip().lower()[:2]
        outcome = judge(lesson, space) if "space" in request.GET else None
        game = outcome.game if outcome else lesson.game()
        solved = outcome is not None and outcome.solved
        context = {
            "lesson": lesson,
            "number": number,
            "lessons": LESSONS,
            "next": number + 1 if number < len(LESSONS) else None,
            "outcome": outcome,
            "space": space,
            "board": watching.board(game),
            "tiles": () if solved else watching.tiles(lesson.game()),
        }
        return render(request, "web/learn.html", context)
