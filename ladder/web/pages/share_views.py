"""Pages for other sites, which show a picture or the viewer in the place of a link."""

from collections.abc import Callable
from http import HTTPStatus
from urllib.parse import urlsplit

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404
from django.template.loader import render_to_string
from django.urls import Resolver404, resolve
from django.views import View

from ladder.bots.models import Bot
from ladder.common.http import conditional
from ladder.games import visibility as games
from ladder.games.models import Game
from ladder.ratings import leaderboard as ratings
from ladder.tournaments import visibility as tournaments
from ladder.web.api.parameters import number
from ladder.web.api.throttles import too_often
from ladder.web.pages import link_cards, pages
from ladder.web.pages.replay_views import shared
from torres.common.errors import LadderError

FRAME_WIDTH, FRAME_HEIGHT = 900, 640
"""The size of the viewer in a page of another site, in CSS pixels."""
_GAME_PAGES = {"game-page", "embedded-game"}
_ONE_DAY_S = 24 * 3600
TABLES = "public, max-age=300"


class GameCard(View):
    """A picture of a finished game for links to it, as chats and feeds show them."""

    def get(self, request: HttpRequest, pk: int) -> HttpResponse:
        return _of_game(request, pk, link_cards.game_card, "image/png")


class LastPhase(View):
    """An animation of the last phase of a finished game."""

    def get(self, request: HttpRequest, pk: int) -> HttpResponse:
        if refusal := too_often(request, "replay", what="animations"):
            return refusal
        return _of_game(request, pk, link_cards.last_phase, "image/gif")


def _of_game(
    request: HttpRequest,
    pk: int,
    draw: Callable[[Game], tuple[str, bytes]],
    media_type: str,
) -> HttpResponse:
    game = get_object_or_404(games.games(), pk=pk)
    try:
        tag, picture = draw(game)
    except LadderError as refusal:
        raise Http404 from refusal
    return shared(conditional(request, tag, picture, media_type), game)


class BotCard(View):
    """A picture for links to a bot. Banned and deleted bots have none."""

    def get(self, request: HttpRequest, slug: str) -> HttpResponse:
        bot = get_object_or_404(Bot, slug=slug)
        if bot.is_gone:
            raise Http404
        return _table(request, link_cards.bot_card(bot))


class LadderCard(View):
    """A picture for links to a ladder."""

    def get(self, request: HttpRequest, slug: str) -> HttpResponse:
        ladder = get_object_or_404(ratings.ladders(), slug=slug)
        return _table(request, link_cards.ladder_card(ladder, ratings.current(ladder)))


class TournamentCard(View):
    """A picture for links to a tournament that is announced."""

    def get(self, request: HttpRequest, slug: str) -> HttpResponse:
        tournament = get_object_or_404(tournaments.tournaments(), slug=slug)
        return _table(request, link_cards.tournament_card(tournament))


def _table(request: HttpRequest, card: tuple[str, bytes]) -> HttpResponse:
    """Answer with a picture whose contents change as games end."""
    response = conditional(request, *card, "image/png")
    response["Cache-Control"] = TABLES
    return response


class OEmbed(View):
    """The frame that a site shows for the address of a game (oEmbed 1.0).

    `url` is the address; `maxwidth` and `maxheight` limit the frame. Only JSON is sent.
    """

    def get(self, request: HttpRequest) -> HttpResponse:
        if request.GET.get("format", "json") != "json":
            text = "Ask for format=json.\n"
            return HttpResponse(text, "text/plain", HTTPStatus.NOT_IMPLEMENTED)
        game = _game_at(request, request.GET.get("url", ""))
        record = pages.record(game)
        if not (record.replay or record.watch):
            raise Http404
        site = f"{request.scheme}://{request.get_host()}"
        frame = {
            "site": site,
            "game": game,
            "frame_width": min(FRAME_WIDTH, number(request, "maxwidth") or FRAME_WIDTH),
            "frame_height": min(
                FRAME_HEIGHT, number(request, "maxheight") or FRAME_HEIGHT
            ),
        }
        document = {
            "version": "1.0",
            "type": "rich",
            "provider_name": "Torres ladder",
            "provider_url": f"{site}/",
            "title": f"Torres: game {game.pk}",
            "html": render_to_string("web/_embed_code.html", frame).strip(),
            "width": frame["frame_width"],
            "height": frame["frame_height"],
            "cache_age": _ONE_DAY_S,
        }
        return JsonResponse(document)


def _game_at(request: HttpRequest, address: str) -> Game:
    """Return the game whose page is at an address of this site. Raises Http404."""
    try:
        parts = urlsplit(address)
        found = resolve(parts.path)
    except (ValueError, Resolver404) as error:
        raise Http404 from error
    is_here = parts.netloc == request.get_host() and parts.scheme in {"http", "https"}
    if not is_here or found.url_name not in _GAME_PAGES:
        raise Http404
    game: Game = get_object_or_404(games.games(), pk=found.kwargs["pk"])
    return game
