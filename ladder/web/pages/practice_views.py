"""The pages, actions and JSON documents of games by hand.

Only the person who plays a game sees it: for all others there is nothing at its
addresses. A person without an account plays as a guest.
"""

import json
from typing import Any, NamedTuple

from django.contrib import messages
from django.contrib.auth.models import User
from django.contrib.auth.views import redirect_to_login
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.decorators import method_decorator
from django.views import View
from django.views.decorators.cache import never_cache

from ladder.bots import services as bots
from ladder.common import rate_limits
from ladder.common.http import conditional
from ladder.common.stored_texts import translated
from ladder.extras.practice import selectors, services
from ladder.extras.practice.models import PracticeGame
from ladder.extras.practice.position import Tentative
from ladder.extras.practice.selectors import Guest
from ladder.extras.practice.services import BadAnswer
from ladder.web.api import problems
from ladder.web.api.parameters import number
from ladder.web.pages import guest_cookie, practice_pages
from ladder.web.pages.account_views import SignedInView
from ladder.web.pages.guest_views import visitors_page
from ladder.web.pages.practice_forms import PracticeForm
from torres.common.errors import LadderError

MAX_PLY = 100_000


class TriedAnswer(NamedTuple):
    """The body of a preview or an answer."""

    ply: int
    actions: list[str]


class PlayPage(SignedInView):
    """Choose a game by hand. POST begins it. Visitors have a page of their own."""

    def dispatch(
        self, request: HttpRequest, *args: Any, **kwargs: Any
    ) -> HttpResponseBase:
        if not request.user.is_authenticated and request.method != "POST":
            return visitors_page(request)
        return super().dispatch(request, *args, **kwargs)

    def get(self, request: HttpRequest) -> HttpResponse:
        opponents = selectors.opponents(self.person())
        wanted = request.GET.get("bot", "")
        chosen = (one.pk for one in opponents.all() if one.bot.slug == wanted)
        first = next(chosen, None)
        initial = {} if first is None else {"one": first}
        start = request.GET.get("start", "")
        return self._page(PracticeForm(opponents, initial=initial, start=start), 200)

    def post(self, request: HttpRequest) -> HttpResponse:
        opponents = selectors.opponents(self.person())
        start = request.POST.get("start", "")
        form = PracticeForm(opponents, request.POST, start=start)
        if form.is_valid():
            try:
                game = services.begin(self.person(), form.terms())
            except LadderError as refusal:
                form.add_error(None, translated(str(refusal)))
            else:
                return redirect("practice", game.pk)
        return self._page(form, 422)

    def _page(self, form: PracticeForm, status: int) -> HttpResponse:
        person = self.person()
        context = {
            "form": form,
            "start": form["start"].value(),
            "on": selectors.is_switched_on(),
            "left": selectors.games_left(person),
            "open": selectors.open_game(person),
            "latest": selectors.games_of(person)[: selectors.MAX_GAMES_SHOWN],
        }
        return render(self.request, "web/play.html", context, status=status)


@method_decorator(never_cache, "dispatch")
class OwnPracticeView(View):
    """A view of a game that the visitor plays, with an account or as a guest."""

    player: User | Guest

    def dispatch(
        self, request: HttpRequest, *args: Any, **kwargs: Any
    ) -> HttpResponseBase:
        try:
            player = guest_cookie.player_of(request)
        except LadderError as refusal:
            return problems.answer(
                request, refusal.http_status, refusal.code, str(refusal)
            )
        if player is None:
            return redirect_to_login(request.get_full_path())
        self.player = player
        return super().dispatch(request, *args, **kwargs)

    def game(self, pk: int) -> PracticeGame:
        return get_object_or_404(selectors.games_of(self.player), pk=pk)


class PracticePage(OwnPracticeView):
    """The board while a game is open, and its result and replay after that."""

    def get(self, request: HttpRequest, pk: int) -> HttpResponse:
        details = practice_pages.details(self.game(pk))
        return render(request, "web/practice.html", details)


class PracticeState(OwnPracticeView):
    """The positions from `?since=` on, and the question if the person is asked."""

    def get(self, request: HttpRequest, pk: int) -> HttpResponse:
        progress = selectors.progress(self.player, pk)
        if progress is None:
            raise Http404
        text = request.GET.get("since", "0")
        if not (text.isascii() and text.isdigit() and len(text) < len(str(MAX_PLY))):
            return _problem(400, "bad-request", "since: write the number of a frame.")
        since = int(text)
        # Read before the game: a tag that is older than the document does no harm.
        tag = practice_pages.state_tag(progress)
        if request.headers.get("If-None-Match") == tag:
            return conditional(request, tag, b"")
        # Read before the game, too, because the end of a game deletes its moves.
        moves = selectors.moves(pk)
        document = practice_pages.state_document(self.game(pk), moves, since)
        return conditional(request, tag, json.dumps(document).encode())


class _AnswerView(OwnPracticeView):
    """A POST with JSON `{"ply": …, "actions": […]}`, limited per player and minute.

    One request counts as `cost` actions.
    """

    cost = 1

    def dispatch(
        self, request: HttpRequest, *args: Any, **kwargs: Any
    ) -> HttpResponseBase:
        if request.method == "POST":
            # A guest may begin several games, so the address counts.
            client = rate_limits.address(request)
            if request.user.is_authenticated:
                client = f"user:{request.user.pk}"
            if wait := rate_limits.wait_s("practice", client, cost=self.cost):
                detail = f"Too many actions. Go on in {wait} s."
                return _problem(429, "throttled", detail)
        try:
            return super().dispatch(request, *args, **kwargs)
        except LadderError as refusal:
            return _problem(refusal.http_status, refusal.code, str(refusal))

    def tried(self, request: HttpRequest, game: PracticeGame) -> Tentative:
        body = _read_body(request)
        return services.tentative(game, body.ply, body.actions)


class PracticePreview(_AnswerView):
    """Try a turn. Nothing is sent to the game."""

    def post(self, request: HttpRequest, pk: int) -> HttpResponse:
        game = self.game(pk)
        tried = self.tried(request, game)
        document = practice_pages.preview_document(game.person_seat, tried)
        return JsonResponse(document | practice_pages.gains_after(tried))


class PracticeHints(_AnswerView):
    """Good turns after the actions that are tried."""

    cost = 10  # the search of a strong bot

    def post(self, request: HttpRequest, pk: int) -> HttpResponse:
        tried = self.tried(request, self.game(pk))
        return JsonResponse({"turns": practice_pages.hints(tried)})


class PracticeAnswers(_AnswerView):
    """Answer the question. A form without scripts sends one action at a time."""

    def post(self, request: HttpRequest, pk: int) -> HttpResponse:
        game = self.game(pk)
        if request.content_type != "application/json":
            return self._post_form(request, game)
        body = _read_body(request)
        services.answer(game, body.ply, body.actions)
        return JsonResponse({"ply": body.ply}, status=202)

    def _post_form(self, request: HttpRequest, game: PracticeGame) -> HttpResponse:
        ply = request.POST.get("ply", "")
        action = request.POST.get("action", "")
        try:
            if not (ply.isascii() and ply.isdigit() and len(ply) < len(str(MAX_PLY))):
                raise BadAnswer("Choose an action from the list.")
            services.answer(game, int(ply), [action])
        except LadderError as refusal:
            messages.error(request, translated(str(refusal)))
        return redirect("practice", game.pk)


class GiveUpAction(OwnPracticeView):
    def post(self, request: HttpRequest, pk: int) -> HttpResponse:
        services.give_up(self.game(pk))
        return redirect("practice", pk)


class PracticeFrames(OwnPracticeView):
    """All positions of a game that has ended, for the viewer."""

    def get(self, request: HttpRequest, pk: int) -> HttpResponse:
        document = practice_pages.frames_document(self.game(pk))
        if document is None:
            raise Http404
        return JsonResponse(document)


class PracticeReplay(OwnPracticeView):
    """The replay of a game that has ended; `torres verify` checks it.

    A game from a position has none: no replay can begin there.
    """

    def get(self, request: HttpRequest, pk: int) -> HttpResponse:
        game = self.game(pk)
        document = practice_pages.replay_document(game)
        if document is None or game.start:
            raise Http404
        return JsonResponse(document)


class PracticeBoard(OwnPracticeView):
    """The present board as a picture. After the end it is that after `?ply=` actions.

    `?look=dark` is for a page with dark colours.
    """

    def get(self, request: HttpRequest, pk: int) -> HttpResponse:
        game = self.game(pk)
        if game.is_open:
            picture = practice_pages.board_picture(game)
            return HttpResponse(picture, content_type="image/svg+xml")
        ply = number(request, "ply")
        dark = request.GET.get("look") == "dark"
        final = practice_pages.final_picture(game, ply, dark=dark)
        if final is None:
            raise Http404
        return HttpResponse(final, content_type="image/svg+xml")


class OpenToPracticeAction(SignedInView):
    """Let other people play against an own bot, or not any more."""

    def post(self, request: HttpRequest, slug: str) -> HttpResponse:
        bot = self.own_bot(slug)
        is_open = request.POST.get("open") == "yes"
        bots.set_open_to_practice(bot, is_open=is_open)
        text = "Everybody may play against" if is_open else "Only you play against"
        messages.success(request, f"{text} {bot.name} by hand.")
        return redirect("bot-page", slug)


def _problem(status: int, code: str, detail: str) -> HttpResponse:
    return JsonResponse(
        problems.problem(status, code, translated(detail)),
        status=status,
        content_type=problems.MEDIA_TYPE,
    )


def _read_body(request: HttpRequest) -> TriedAnswer:
    """Return the body. Raises BadAnswer."""
    try:
        body = json.loads(request.body)
    except (ValueError, RecursionError) as error:
        raise BadAnswer("The body is not valid JSON.") from error
    ply = body.get("ply") if isinstance(body, dict) else None
    actions = body.get("actions") if isinstance(body, dict) else None
    if type(ply) is not int or not 0 <= ply <= MAX_PLY:
        raise BadAnswer("ply: send the number of the question.")
    if not isinstance(actions, list) or not all(isinstance(a, str) for a in actions):
        raise BadAnswer("actions: send a list of texts.")
    return TriedAnswer(ply, actions)
