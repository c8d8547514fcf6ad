"""The views of the API that send all games or replays of a search at once."""

from collections.abc import Iterable, Sequence
from typing import ClassVar

from django.http import HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.utils.cache import patch_vary_headers
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.generics import GenericAPIView
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request

from ladder.common import rate_limits
from ladder.games import exports, visibility
from ladder.games.exports import (
    ExportKind,
    ExportPart,
    GamePosition,
    SlottedPart,
    Wire,
    zstd_wire,
)
from ladder.games.filters import ExportFilter, order_of
from ladder.games.models import Game
from ladder.games.serializers import GameSerializer

NDJSON = "application/x-ndjson"


class AnyMedia(BaseContentNegotiation):
    """Ignores `Accept`: errors are JSON, and everything else has one form only."""

    def select_parser(
        self, request: Request, parsers: Iterable[BaseParser]
    ) -> BaseParser:
        return next(iter(parsers))

    def select_renderer(
        self,
        request: Request,
        renderers: Iterable[BaseRenderer],
        format_suffix: str | None = None,
    ) -> tuple[BaseRenderer, str]:
        renderer = next(iter(renderers))
        return renderer, renderer.media_type


class _ExportView(GenericAPIView[Game]):
    queryset = visibility.game_keys()
    serializer_class = GameSerializer
    filterset_class = ExportFilter
    pagination_class = None
    content_negotiation_class = AnyMedia
    kind: ClassVar[ExportKind]
    filename: ClassVar[str]

    @extend_schema(responses={(200, NDJSON): OpenApiTypes.STR})
    def get(self, request: Request) -> HttpResponseBase:
        rows = self.filter_queryset(self.get_queryset())
        columns = order_of(request.query_params)
        start = _start(request, columns)
        limit = request.query_params.get("limit")
        answer: HttpResponseBase = HttpResponse(content_type=NDJSON)
        if request.method != "HEAD":
            wire = _wire(request)
            part = ExportPart(
                self.kind, rows, columns, start, int(limit) if limit else None, wire
            )
            answer = StreamingHttpResponse(
                SlottedPart(part, _reader(request)), content_type=NDJSON
            )
            if wire.compressor is not None:
                answer["Content-Encoding"] = "zstd"
        patch_vary_headers(answer, ("Accept-Encoding",))
        answer["Cache-Control"] = "no-store"
        answer["Content-Disposition"] = f'attachment; filename="{self.filename}"'
        return answer


class GameExport(_ExportView):
    """All finished games of a search, one JSON object in each line.

    A line has `cursor` and `game`, as in the list of games. The last line has the key
    `end`; without it the answer was cut off. To go on, send the `cursor` of the last
    line that you have, or `next` of the last line. One export at a time.
    """

    kind = exports.GAMES
    filename = "games.ndjson"


class ReplayExport(_ExportView):
    """All public replays of a search, one JSON object in each line.

    A line has `cursor`, the `id` of the game, and `replay`. The last line has the key
    `end`, and counts in `withheld` the games whose match is not over yet, and those
    whose replay was deleted. Go on like in the export of games.
    """

    kind = exports.REPLAYS
    filename = "replays.ndjson"


def _start(request: Request, columns: Sequence[str]) -> GamePosition | None:
    text = request.query_params.get("cursor")
    if text is None:
        return None
    position = exports.read_position(text, columns)
    if position is None:
        raise ValidationError(
            {
                "cursor": "The cursor is not valid. Use that of a line, with the same"
                " ordering."
            }
        )
    return position


def _wire(request: Request) -> Wire:
    """Return zstd if the client accepts it. The middleware packs the rest with gzip."""
    codings = request.headers.get("Accept-Encoding", "").lower().split(",")
    accepted = {coding.partition(";")[0].strip() for coding in codings}
    refused = {"zstd;q=0", "zstd; q=0"} & {coding.strip() for coding in codings}
    return zstd_wire() if "zstd" in accepted and not refused else Wire()


def _reader(request: Request) -> str:
    if request.user.is_authenticated:
        return f"user:{request.user.pk}"
    return f"addr:{rate_limits.address(request)}"
