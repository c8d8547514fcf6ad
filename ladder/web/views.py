"""The pages: each joins what the rooms show, and posts to their services."""

from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login, logout
from django.contrib.auth.mixins import LoginRequiredMixin
from django.contrib.auth.models import User
from django.core.validators import slug_re
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.http import url_has_allowed_host_and_scheme
from django.views import View

from ladder import bots as bots_room
from ladder.bots import selectors as bots, services, tasks
from ladder.bots.models import Bot
from ladder.errors import LadderError
from ladder.games import shown as games
from ladder.games.models import Game, Match
from ladder.games.views import conditional
from ladder.ratings import shown as ratings
from ladder.tournaments import shown as tournaments
from ladder.web import explained, forms, markup, pages, problems, throttles

PROTOCOL = Path(bots_room.__file__).parent / "PROTOCOL.md"


def _number(request: HttpRequest, name: str) -> int | None:
    text = request.GET.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 12 else None  # noqa: PLR2004


class Home(View):
    def get(self, request: HttpRequest) -> HttpResponse:
        ladder = pages.default_ladder()
        found, _ = pages.latest_games(games.games(), None)
        context: dict[str, Any] = {"games": found[:10]}
        if ladder is not None:
            context |= pages.board(ladder, 1)
        return render(request, "web/home.html", context)


class LadderPage(View):
    def get(self, request: HttpRequest, slug: str) -> HttpResponse:
        ladder = get_object_or_404(ratings.ladders(), slug=slug)
        page = max(_number(request, "page") or 1, 1)
        return render(request, "web/ladder.html", pages.board(ladder, page))


class Bots(View):
    def get(self, request: HttpRequest) -> HttpResponse:
        rows = bots.bots()
        if (before := _number(request, "before")) is not None:
            rows = rows.filter(pk__lt=before)
        found = list(rows[: pages.ROWS])
        more = found[-1].pk if len(found) == pages.ROWS else None
        return render(request, "web/bots.html", {"bots": found, "next": more})


class BotPage(View):
    def get(self, request: HttpRequest, slug: str) -> HttpResponse:
        bot = get_object_or_404(bots.bots(), slug=slug)
        context = pages.bot_page(bot, request.user) | {"form": forms.Upload()}
        return render(request, "web/bot.html", context)


class SubmissionPage(View):
    def get(self, request: HttpRequest, pk: int) -> HttpResponse:
        submission = get_object_or_404(bots.submissions(), pk=pk)
        own = bots.owns(request.user, submission.bot)
        context = {"submission": submission, "bot": submission.bot, "own": own}
        return render(request, "web/submission.html", context)


class Games(View):
    def get(self, request: HttpRequest) -> HttpResponse:
        rows = games.games()
        bot = None
        slug = request.GET.get("bot", "")
        if slug and slug_re.match(slug):
            bot = get_object_or_404(Bot, slug=slug)
            rows = games.games_of(bot)
        found, more = pages.latest_games(rows, _number(request, "before"))
        context = {"games": found, "next": more, "bot": bot}
        return render(request, "web/games.html", context)


class GamePage(View):
    def get(self, request: HttpRequest, pk: int) -> HttpResponse:
        rows: Any = games.games().select_related(pages.LINKED)
        game: Game = get_object_or_404(rows, pk=pk)
        context = pages.game_page(game, request.user)
        return render(request, "web/game.html", context)


class Frames(View):
    """The positions of a game, for the viewer; they never change."""

    def get(self, request: HttpRequest, pk: int) -> HttpResponse:
        game = get_object_or_404(games.games(), pk=pk)
        try:
            body = pages.frames_json(game)
        except LadderError as refusal:
            raise Http404 from refusal
        answer = conditional(request, f'"frames-{game.pk}-{game.fence}"', body)
        answer["Cache-Control"] = "public, max-age=3600"
        return answer


class MatchPage(View):
    def get(self, request: HttpRequest, pk: int) -> HttpResponse:
        rows: Any = games.matches().select_related("pairing__season__ladder")
        match: Match = get_object_or_404(rows, pk=pk)
        return render(request, "web/match.html", pages.match_page(match))


class Tournaments(View):
    def get(self, request: HttpRequest) -> HttpResponse:
        rows = tournaments.tournaments()
        if (before := _number(request, "before")) is not None:
            rows = rows.filter(pk__lt=before)
        found = list(rows[: pages.ROWS])
        more = found[-1].pk if len(found) == pages.ROWS else None
        context = {"tournaments": found, "next": more}
        return render(request, "web/tournaments.html", context)


class TournamentPage(View):
    def get(self, request: HttpRequest, slug: str) -> HttpResponse:
        found = get_object_or_404(tournaments.tournaments(), slug=slug)
        context = pages.tournament_page(found)
        return render(request, "web/tournament.html", context)


class Protocol(View):
    def get(self, request: HttpRequest) -> HttpResponse:
        context = {"title": "Write a bot", "text": markup.page(PROTOCOL)}
        return render(request, "web/docs.html", context)


class Problems(View):
    def get(self, request: HttpRequest) -> HttpResponse:
        context = {"problems": explained.PROBLEMS}
        return render(request, "web/problems.html", context)


class SignIn(View):
    def get(self, request: HttpRequest) -> HttpResponse:
        return render(request, "web/sign-in.html", {"form": forms.SignIn()})

    def post(self, request: HttpRequest) -> HttpResponse:
        if throttles.is_too_often("sign-in", throttles.address(request)):
            detail = "Too many tries. Wait a minute."
            return problems.answer(request, 429, "throttled", detail)
        form = forms.SignIn(request.POST)
        if not form.is_valid() or form.user is None:
            return render(request, "web/sign-in.html", {"form": form}, status=422)
        login(request, form.user, form.user.backend)
        return redirect(_next(request))


def _next(request: HttpRequest) -> str:
    wanted = request.GET.get("next", "")
    hosts = {request.get_host()}
    if url_has_allowed_host_and_scheme(
        wanted, hosts, require_https=request.is_secure()
    ):
        return wanted
    return settings.LOGIN_REDIRECT_URL


class SignOut(View):
    def post(self, request: HttpRequest) -> HttpResponse:
        logout(request)
        return redirect("/")


class Signed(LoginRequiredMixin, View):
    """A page for somebody."""

    def person(self) -> User:
        if not isinstance(self.request.user, User):
            raise Http404  # LoginRequiredMixin was here first
        return self.request.user

    def own_bot(self, slug: str) -> Bot:
        return get_object_or_404(Bot, slug=slug, owner=self.person())

    def told(self, refusal: LadderError) -> None:
        messages.error(self.request, str(refusal))


class Me(Signed):
    def get(self, request: HttpRequest) -> HttpResponse:
        return self.page(request, None)

    def page(self, request: HttpRequest, new: str | None) -> HttpResponse:
        person = self.person()
        context = {
            "bots": bots.bots().filter(owner=person),
            "tokens": person.tokens.order_by("-id"),
            "new_bot": forms.NewBot(),
            "new_token": forms.NewToken(),
            "shown": new,
        }
        return render(request, "web/me.html", context)


class CreateBot(Signed):
    def post(self, request: HttpRequest) -> HttpResponse:
        form = forms.NewBot(request.POST)
        if not form.is_valid():
            messages.error(request, "A name has 1 to 64 characters.")
            return redirect("me")
        try:
            bot = services.create_bot(self.person(), form.cleaned_data["name"])
        except LadderError as refusal:
            self.told(refusal)
            return redirect("me")
        return redirect("bot-page", bot.slug)


class Upload(Signed):
    def post(self, request: HttpRequest, slug: str) -> HttpResponse:
        bot = self.own_bot(slug)
        if throttles.is_too_often("upload", f"user:{self.person().pk}"):
            detail = "Too many uploads. Wait a minute."
            return problems.answer(request, 429, "throttled", detail)
        form = forms.Upload(request.POST, request.FILES)
        if not form.is_valid():
            messages.error(request, "Choose a file first.")
            return redirect("bot-page", slug)
        file = form.cleaned_data["archive"]
        try:
            submission = services.submit(bot, file.file, file.name)
        except LadderError as refusal:
            self.told(refusal)
            return redirect("bot-page", slug)
        transaction.on_commit(lambda: tasks.send(submission.pk), robust=True)
        return redirect("submission-page", submission.pk)


class Withdraw(Signed):
    def post(self, request: HttpRequest, slug: str) -> HttpResponse:
        del request
        return self._change(slug, services.withdraw)

    def _change(self, slug: str, change: Any) -> HttpResponse:
        try:
            change(self.own_bot(slug))
        except LadderError as refusal:
            self.told(refusal)
        return redirect("bot-page", slug)


class BringBack(Withdraw):
    def post(self, request: HttpRequest, slug: str) -> HttpResponse:
        del request
        return self._change(slug, services.bring_back)


class CreateToken(Me):
    """The token is shown in the answer to the form, and kept nowhere."""

    def post(self, request: HttpRequest) -> HttpResponse:
        form = forms.NewToken(request.POST)
        if not form.is_valid():
            return redirect("me")
        return self.page(
            request, services.new_token(self.person(), form.cleaned_data["name"])
        )


class RevokeToken(Signed):
    def post(self, request: HttpRequest, pk: int) -> HttpResponse:
        del request
        services.revoke_token(self.person(), pk)
        return redirect("me")
