"""The public pages. Each view joins what several packages know about one subject."""

from hashlib import sha256
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.contrib.auth import logout
from django.core.validators import slug_re
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.cache import get_conditional_response
from django.utils.decorators import method_decorator
from django.views import View
from django.views.decorators.http import conditional_page

from ladder.accounts.roles import is_organiser
from ladder.bots import selectors as bots, submissions
from ladder.bots.models import Bot, Submission
from ladder.common import rate_limits
from ladder.games import visibility as games
from ladder.games.models import Game, GameStatus, Match
from ladder.public_log import batches
from ladder.ratings import leaderboard as ratings
from ladder.ratings.models import Ladder, Season
from ladder.ratings.ranked_rows import MAX_SEARCH_CHARS, BoardFilter
from ladder.tournaments import organising, visibility as tournaments
from ladder.web.api import bot_search, problem_texts
from ladder.web.api.parameters import number
from ladder.web.api.throttles import too_often
from ladder.web.destinations import destination
from ladder.web.middleware.hidden_results import are_hidden
from ladder.web.pages import (
    best_games,
    boards,
    docs,
    docs_search,
    featured,
    forms,
    ladder_pages,
    link_cards,
    pages,
    progress,
    tournament_pages,
)
from ladder.web.pages.bot_pages import SeasonChoice
from ladder.web.pages.guest_cookie import sign_in
from ladder.web.pages.share_views import FRAME_HEIGHT, FRAME_WIDTH
from ladder.web.pages.tournament_steps import next_tournaments
from torres.runner.languages import BY_NAME

NOT_STARTED = (GameStatus.SCHEDULED, GameStatus.CANCELLED)
LATEST_GAMES = 6
NEXT_TOURNAMENTS = 5


@method_decorator(conditional_page, "dispatch")
class HomePage(View):
    def get(self, request: HttpRequest) -> HttpResponse:
        ladder = boards.default_ladder()
        season = _season(ladder)
        keys = games.game_keys().exclude(match__kind=Match.Kind.COMPARISON)
        played = keys.exclude(status__in=NOT_STARTED).values_list("pk", flat=True)
        latest = list(played[:LATEST_GAMES])
        if are_hidden(request):
            return render(request, "web/home.html", _home_without_results(latest))
        shown_game = featured.featured_game()
        leads = _upset_leads(season)
        wanted = {*latest, *leads, shown_game} - {None}
        shown = games.games().in_bulk(wanted)
        context = {
            "games": [shown[pk] for pk in latest if pk in shown],
            "featured": shown.get(shown_game or 0),
            "ladder": ladder,
            "board": ladder and season and _best_bots(ladder, season),
            "upsets": ladder_pages.latest_upsets(leads, shown),
            "tournaments": next_tournaments(NEXT_TOURNAMENTS),
        }
        return render(request, "web/home.html", context)


def _home_without_results(latest: list[int]) -> dict[str, object]:
    shown = games.games().in_bulk(latest)
    return {
        "games": [pages.without_result(shown[pk]) for pk in latest if pk in shown],
        "tournaments": next_tournaments(NEXT_TOURNAMENTS),
    }


def _season(ladder: Ladder | None) -> Season | None:
    return ratings.current(ladder) if ladder else None


def _upset_leads(season: Season | None) -> dict[int, float]:
    return ladder_pages.upset_leads(season) if season else {}


def _best_bots(ladder: Ladder, season: Season) -> boards.SeasonBoard:
    return boards.season_board(ladder, season, 1, size=boards.BEST_ROWS)


class ToLeaderboard(View):
    """The leaderboard of the default ladder, whose name a link cannot know."""

    def get(self, request: HttpRequest) -> HttpResponse:
        ladder = boards.default_ladder()
        if ladder is None:
            return redirect("ladders-page")
        return redirect("ladder-page", ladder.slug)


@method_decorator(conditional_page, "dispatch")
class LaddersPage(View):
    def get(self, request: HttpRequest) -> HttpResponse:
        return render(request, "web/ladders.html", ladder_pages.ladders_details())


def _board_filter(request: HttpRequest) -> BoardFilter:
    """Return what the visitor wants to see. Unknown languages are left out."""
    text = request.GET.get("q", "").replace("\0", "").strip()
    language = request.GET.get("language", "")
    return BoardFilter(
        text=text[:MAX_SEARCH_CHARS],
        language=language if language in BY_NAME else "",
        withdrawn=request.GET.get("withdrawn") == "1",
        figures=request.GET.get("figures") == "all",
    )


def _pages_query(season: Season | None, chosen: BoardFilter) -> str:
    """Return the query with which other pages of the same list begin."""
    fields = {
        "season": season.number if season else "",
        "q": chosen.text,
        "language": chosen.language,
        "withdrawn": "1" if chosen.withdrawn else "",
        "figures": "all" if chosen.figures else "",
    }
    return urlencode({name: value for name, value in fields.items() if value})


@method_decorator(conditional_page, "dispatch")
class LadderPage(View):
    def get(self, request: HttpRequest, slug: str) -> HttpResponse:
        ladder = get_object_or_404(ratings.ladders(), slug=slug)
        page = max(number(request, "page") or 1, 1)
        season = ratings.current(ladder)
        if (wanted := number(request, "season")) is not None:
            season = get_object_or_404(ladder.seasons.all(), number=wanted)
        chosen = _board_filter(request)
        board = season and boards.season_board(ladder, season, page, chosen)
        context = {
            "ladder": ladder,
            "board": board,
            "chosen": chosen,
            "languages": sorted(BY_NAME),
            "pages_query": _pages_query(season, chosen),
            "share_text": link_cards.ladder_text(
                season, board.page.total if board else 0
            ),
            "stopped": tournament_pages.ladder_stops(ladder, request.user),
            "witnesses": batches.witnesses(),
        }
        return render(request, "web/ladder.html", context)


class ComparePage(View):
    """Two bots of a ladder: the probability that the first one is better."""

    def get(self, request: HttpRequest, slug: str) -> HttpResponse:
        ladder = get_object_or_404(ratings.ladders(), slug=slug)
        season = ratings.current(ladder)
        texts = [request.GET.get(name, "").strip() for name in ("bot", "other")]
        context: dict[str, Any] = dict(zip(("bot", "other"), texts, strict=True))
        context["ladder"] = ladder
        if season is None or not all(texts):
            return render(request, "web/compare.html", context)
        found = [bot_search.find(text) for text in texts]
        context["unknown"] = [
            bot_search.no_such_bot(text)
            for text, bot in zip(texts, found, strict=True)
            if bot is None
        ]
        slugs = [bot.slug for bot in found if bot is not None]
        if context["unknown"]:
            return render(request, "web/compare.html", context, status=404)
        try:
            context["comparison"] = boards.compare(season, *slugs)
        except boards.BotsNotRated as error:
            context["same"] = slugs[0] == slugs[1]
            context["missing"] = error.slugs
            return render(request, "web/compare.html", context, status=404)
        return render(request, "web/compare.html", context)


class BotsPage(View):
    def get(self, request: HttpRequest) -> HttpResponse:
        rows = bots.bots()
        if (before := number(request, "before")) is not None:
            rows = rows.filter(pk__lt=before)
        listed = list(rows[: pages.ROWS])
        following = listed[-1].pk if len(listed) == pages.ROWS else None
        return render(request, "web/bots.html", {"bots": listed, "next": following})


class BotPage(View):
    def get(self, request: HttpRequest, slug: str) -> HttpResponse:
        bot = get_object_or_404(bots.bots(), slug=slug)
        details = pages.bot_details(bot, request.user, _season_choice(request))
        context = details | {
            "form": forms.UploadForm(),
            "max_upload_bytes": settings.TORRES_UPLOAD_BYTES,
        }
        return render(request, "web/bot.html", context)


def _season_choice(request: HttpRequest) -> SeasonChoice | None:
    """Return the season that a visitor chose for one ladder; None if there is none."""
    slug = request.GET.get("ladder", "")
    season = number(request, "season")
    if season is None or not slug_re.match(slug):
        return None
    return SeasonChoice(slug, season)


class SubmissionPage(View):
    """A submission, and how far it is on the way to its first rated game."""

    template = "web/submission.html"

    def get(self, request: HttpRequest, pk: int) -> HttpResponse:
        submission = get_object_or_404(bots.submissions(), pk=pk)
        own = bots.owns(request.user, submission.bot)
        return self.answer(request, submission, progress.progress(submission, own=own))

    def answer(
        self,
        request: HttpRequest,
        submission: Submission,
        state: progress.UploadProgress,
    ) -> HttpResponse:
        context = {
            "submission": submission,
            "bot": submission.bot,
            "own": bots.owns(request.user, submission.bot),
            "can_activate": submissions.was_ready(submission),
            "progress": state,
        }
        return render(request, self.template, context)


class SubmissionProgress(SubmissionPage):
    """The part of a submission's page that changes, for the script that polls it.

    The ETag follows from the progress, because the CSRF token of a form in this part is
    a new text in each response.
    """

    template = "web/_submission.html"

    def answer(
        self,
        request: HttpRequest,
        submission: Submission,
        state: progress.UploadProgress,
    ) -> HttpResponse:
        response = get_conditional_response(request, etag=state.tag)
        if response is None:
            response = super().answer(request, submission, state)
        response["ETag"] = state.tag
        response["Cache-Control"] = "private, no-cache"
        return response


class GamesPage(View):
    def get(self, request: HttpRequest) -> HttpResponse:
        keys = games.game_keys()
        bot = None
        slug = request.GET.get("bot", "")
        if slug and slug_re.match(slug):
            bot = get_object_or_404(Bot, slug=slug)
            keys = games.keys_of(bot)
        before = number(request, "before")
        latest, following = pages.latest_games(keys, before)
        if hidden := are_hidden(request):
            latest = [pages.without_result(game) for game in latest]
        with_best = bot is None and before is None and not hidden
        season = _season(boards.default_ladder()) if with_best else None
        context = {
            "games": latest,
            "next": following,
            "bot": bot,
            "best": best_games.best_games(_upset_leads(season)) if with_best else [],
        }
        return render(request, "web/games.html", context)


class GamePage(View):
    def get(self, request: HttpRequest, pk: int) -> HttpResponse:
        origins = [f"match__{origin}" for origin in pages.ORIGINS]
        rows: Any = games.games().select_related(*origins)
        game: Game = get_object_or_404(rows, pk=pk)
        ply = number(request, "ply")
        if are_hidden(request):
            context = pages.hidden_game_details(game, ply)
            return render(request, "web/game.html", context)
        context = pages.game_details(game, request.user, ply)
        seats = game.seats.all()
        results = ", ".join(
            f"{seat.submission.bot.name} {seat.score}" for seat in seats
        )
        context["share_title"] = f"Torres: {results}"
        context["frame_width"], context["frame_height"] = FRAME_WIDTH, FRAME_HEIGHT
        return render(request, "web/game.html", context)


class MatchPage(View):
    def get(self, request: HttpRequest, pk: int) -> HttpResponse:
        rows: Any = games.matches().select_related(*pages.ORIGINS)
        match: Match = get_object_or_404(rows, pk=pk)
        return render(request, "web/match.html", pages.match_details(match))


class TournamentsPage(View):
    def get(self, request: HttpRequest) -> HttpResponse:
        rows = tournaments.listed()
        if (before := number(request, "before")) is not None:
            rows = rows.filter(pk__lt=before)
        listed = list(rows[: pages.ROWS])
        following = listed[-1].pk if len(listed) == pages.ROWS else None
        context = {
            "tournaments": listed,
            "next": following,
            "organises": is_organiser(request.user),
        }
        return render(request, "web/tournaments.html", context)


@method_decorator(conditional_page, "dispatch")
class TournamentPage(View):
    def get(self, request: HttpRequest, slug: str) -> HttpResponse:
        tournament = get_object_or_404(tournaments.tournaments(), slug=slug)
        context = tournament_pages.tournament_details(
            tournament,
            request.user,
            number(request, "round"),
            hides=are_hidden(request),
        )
        podium = context["podium"]
        winners = [line.name for line in podium[0].lines] if podium else []
        context["share_text"] = link_cards.tournament_text(tournament, winners)
        context["managed"] = organising.manages(request.user, tournament)
        return render(request, "web/tournament.html", context)


@method_decorator(conditional_page, "dispatch")
class DocsIndexPage(View):
    def get(self, request: HttpRequest) -> HttpResponse:
        query = request.GET.get("q", "").strip()
        context = {
            "sections": docs.sections(),
            "query": query,
            "results": docs_search.search(query),
        }
        return render(request, "web/docs-index.html", context)


@method_decorator(conditional_page, "dispatch")
class DocumentPage(View):
    def get(self, request: HttpRequest, name: str) -> HttpResponse:
        document = docs.find(name)
        if document is None:
            raise Http404
        context = {"document": document, "sections": docs.sections()}
        return render(request, "web/docs.html", context)


class SchemaFile(View):
    """A JSON Schema of the replay or of the protocol."""

    def get(self, request: HttpRequest, name: str) -> HttpResponse:
        path = docs.schema(name)
        if path is None:
            raise Http404
        return HttpResponse(path.read_bytes(), content_type="application/schema+json")


class ProblemsPage(View):
    def get(self, request: HttpRequest) -> HttpResponse:
        context = {"problems": problem_texts.PROBLEMS}
        return render(request, "web/problems.html", context)


class SignInPage(View):
    scope = "read"  # to sign in anew

    def get(self, request: HttpRequest) -> HttpResponse:
        return render(request, "web/sign-in.html", {"form": forms.SignInForm()})

    def post(self, request: HttpRequest) -> HttpResponse:
        refusal = too_often(request, "sign-in") or _too_many_passwords(request)
        if refusal:
            return refusal
        form = forms.SignInForm(request.POST)
        if not form.is_valid() or form.user is None:
            return render(request, "web/sign-in.html", {"form": form}, status=422)
        sign_in(request, form.user)
        return redirect(destination(request))


def _too_many_passwords(request: HttpRequest) -> HttpResponse | None:
    """Count an attempt at the password of an account, from whatever address."""
    name = request.POST.get("username", "")
    if not name:
        return None
    digest = sha256(name.casefold().encode(errors="replace")).hexdigest()
    return too_often(request, "sign-in", f"name:{digest}", factor=rate_limits.WIDER)


class SignOutAction(View):
    scope = "read"

    def post(self, request: HttpRequest) -> HttpResponse:
        logout(request)
        return redirect(destination(request))
