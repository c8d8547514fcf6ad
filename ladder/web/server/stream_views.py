"""Streams of running games for the pages, as server-sent events."""

from http import HTTPStatus

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.views import View

from ladder.common import rate_limits
from ladder.games import visibility as games
from ladder.games.models import OPEN
from ladder.web.api import problems
from ladder.web.api.parameters import number
from ladder.web.server.streams.request import OPEN_STREAM, StreamRequest, Topic
from torres.common.errors import LadderError


class GameStream(View):
    """The new frames of a running game, from `?after=` of `?attempt=` on."""

    http_method_names = ["get"]

    def get(self, request: HttpRequest, pk: int) -> HttpResponse:
        game = get_object_or_404(games.games(), pk=pk)
        if game.status not in OPEN:
            # A browser does not ask again after this status.
            return HttpResponse(status=HTTPStatus.NO_CONTENT)
        try:
            games.moves_so_far(game)
        except LadderError as refusal:
            raise Http404 from refusal
        return stream(
            request,
            StreamRequest(
                Topic.GAME,
                rate_limits.address(request),
                game=game.pk,
                after=number(request, "after") or 0,
                attempt=number(request, "attempt") or 0,
            ),
        )


class LiveStream(View):
    """The frames of the featured game, and of the next one after its end."""

    http_method_names = ["get"]

    def get(self, request: HttpRequest) -> HttpResponse:
        live = StreamRequest(Topic.LIVE, rate_limits.address(request))
        return stream(request, live)


def stream(request: HttpRequest, wanted: StreamRequest) -> HttpResponse:
    """Return the head of a stream. The web server sends the rest."""
    open_stream = request.META.get(OPEN_STREAM)
    if open_stream is None:
        detail = (
            "This web server has no streams. Use 'manage.py serve', or ask for the"
            " present state with ordinary requests."
        )
        return problems.answer(request, 404, "no-streams", detail)
    open_stream(wanted)
    return HttpResponse(
        content_type="text/event-stream; charset=utf-8",
        # The last one tells nginx to pass each message on at once.
        headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
    )
