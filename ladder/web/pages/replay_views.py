"""The viewer's data and pages: games of this service, and replays from a file."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.core.files.uploadedfile import UploadedFile
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils.decorators import method_decorator
from django.utils.translation import gettext as _
from django.views import View
from django.views.decorators.clickjacking import xframe_options_exempt

from engine.documents import Replay
from engine.replay import verify
from engine.replay_format import InvalidReplay, NotJson, load
from ladder.common.http import conditional
from ladder.common.stored_texts import translated
from ladder.games import visibility as games
from ladder.games.models import OPEN, Game
from ladder.web.api.parameters import number
from ladder.web.api.throttles import too_often
from ladder.web.middleware import bodies
from ladder.web.middleware.hidden_results import are_hidden
from ladder.web.middleware.responses import POLICY
from ladder.web.pages import forms, game_table, pages, watching
from torres.common.errors import LadderError
from torres.drawing import frames

# "frame-ancestors *" would not permit a page in a file, such as an exported notebook.
EMBEDDED_POLICY = POLICY.replace("; frame-ancestors 'none'", "")
# A browser asks each time. The service answers all viewers once a second.
LIVE = "public, max-age=0, s-maxage=1"
FINAL = "public, max-age=3600"


class GameFrames(View):
    """The positions of a game for the viewer, up to now if the game is running.

    Readers who hide results get some of them at a time, from `?after=` on.
    """

    def get(self, request: HttpRequest, pk: int) -> HttpResponse:
        game = get_object_or_404(games.games(), pk=pk)
        with shown_or_404():
            if are_hidden(request):
                tag, body = watching.next_frames(game, number(request, "after") or 0)
            else:
                tag, body = watching.frames_json(game)
        return shared(conditional(request, tag, body), game)


class GameBoard(View):
    """A picture of the board, after `?ply=` actions or at the latest moment.

    `?look=dark` is for a page with dark colours.
    """

    def get(self, request: HttpRequest, pk: int) -> HttpResponse:
        game = get_object_or_404(games.games(), pk=pk)
        with shown_or_404():
            tag, picture = watching.board_picture(
                game, number(request, "ply"), dark=request.GET.get("look") == "dark"
            )
        picture_type = "image/svg+xml"
        return shared(conditional(request, tag, picture.encode(), picture_type), game)


class GameLegalActions(View):
    """The legal actions after `?ply=` actions of a finished game."""

    def get(self, request: HttpRequest, pk: int) -> HttpResponse:
        game = get_object_or_404(games.games(), pk=pk)
        with shown_or_404():
            tag, body = watching.legal_actions(game, number(request, "ply") or 0)
        return shared(conditional(request, tag, body), game)


@contextmanager
def shown_or_404() -> Iterator[None]:
    """Answer with 404 to what cannot be shown, because a game has it not or not yet."""
    try:
        yield
    except LadderError as refusal:
        raise Http404 from refusal


def shared(response: HttpResponse, game: Game) -> HttpResponse:
    """Let caches keep an answer about a game, for a second while it is played."""
    response["Cache-Control"] = LIVE if game.status in OPEN else FINAL
    return response


@method_decorator(xframe_options_exempt, "dispatch")
class EmbeddedGame(View):
    """The viewer alone, for a frame in a page of any other site.

    It has no cookies, forms or private notes, so that another site gains nothing by
    tricking visitors into clicks.
    """

    def get(self, request: HttpRequest, pk: int) -> HttpResponse:
        game = get_object_or_404(games.games(), pk=pk)
        record = pages.record(game, number(request, "ply"))
        if not (record.replay or record.watch):
            raise Http404
        context = {
            "game": game,
            "seats": game.seats.all(),
            "record": record,
            "table": record.table,
        }
        response = render(request, "web/embed.html", context)
        response["Content-Security-Policy"] = EMBEDDED_POLICY
        return response


class ReplayFilePage(View):
    """The viewer for a replay that a visitor has as a file. Nothing is stored."""

    def get(self, request: HttpRequest) -> HttpResponse:
        return self._page(forms.ReplayForm())

    def post(self, request: HttpRequest) -> HttpResponse:
        if refusal := too_often(request, "replay", what="replays"):
            return refusal
        form = forms.ReplayForm(request.POST, request.FILES)
        if not form.is_valid():
            return self._page(form, status=422)
        file: UploadedFile[bytes] = form.cleaned_data["replay"]
        try:
            replay: Any = load(file.read())
            verify(replay)
        except NotJson as error:
            form.add_error(
                "replay", _("This file cannot be read: %(why)s.") % {"why": error}
            )
        except InvalidReplay as error:
            form.add_error(
                "replay",
                _("This replay is invalid: %(why)s.") % {"why": translated(str(error))},
            )
        if form.errors:
            return self._page(form, status=422)
        return self._page(form, replay=replay, name=file.name or "")

    def _page(
        self,
        form: forms.ReplayForm,
        *,
        replay: Replay | None = None,
        name: str = "",
        status: int = 200,
    ) -> HttpResponse:
        context: dict[str, Any] = {
            "form": form,
            "name": name,
            "max_bytes": bodies.MAX_BODY_BYTES,
        }
        if replay is not None:
            context["document"] = frames.viewer_document(replay)
            context["table"] = game_table.of_replay(replay, None)
        return render(self.request, "web/replay.html", context, status=status)
