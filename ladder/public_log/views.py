"""The routes of the log itself, as C2SP tlog-tiles names them, and of receipts."""

import re

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.utils.decorators import method_decorator
from django.views import View
from django.views.decorators.csrf import csrf_exempt
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.views import APIView

from ladder.public_log import cosignatures, issued_receipts, tree
from torres.common.errors import LadderError
from torres.tlog.receipts import SUFFIX
from torres.tlog.tiles import BUNDLES, MAX_LEVEL, TILE_WIDTH, TileAddress

TEXT = "text/plain; charset=utf-8"
FOREVER = "public, max-age=31536000, immutable"
FRESH = "no-cache"
"""A witness has a second to cosign a tree, so no proxy may keep an older one."""
MAX_CHECKPOINT_BYTES = 16 << 10
_TILE = re.compile(
    r"(?P<level>entries|\d{1,2})/(?P<index>(x\d{3}/){0,4}\d{3})(\.p/(?P<width>\d{1,3}))?"
)


def checkpoint(_request: HttpRequest) -> HttpResponse:
    """Send the newest signed checkpoint. There is none before the first leaf."""
    head = tree.head()
    if head is None or not head.checkpoint:
        raise Http404("Nothing was logged yet.")
    response = HttpResponse(head.checkpoint, content_type=TEXT)
    response["Cache-Control"] = FRESH
    return response


def key(_request: HttpRequest) -> HttpResponse:
    """Send the public key with which checkpoints are checked."""
    head = tree.head()
    if head is None:
        raise Http404("Nothing was logged yet.")
    return HttpResponse(f"{head.key}\n", content_type=TEXT)


def tile(_request: HttpRequest, path: str) -> HttpResponse:
    """Send a tile, or a bundle of leaves. Neither ever changes."""
    match = _TILE.fullmatch(path)
    if match is None:
        raise Http404("There is no such tile.")
    index = int(re.sub(r"\D", "", match["index"]))
    width = int(match["width"] or TILE_WIDTH)
    data = _tile(match["level"], index, width) if 0 < width <= TILE_WIDTH else None
    if data is None:
        raise Http404("There is no such tile.")
    response = HttpResponse(data, content_type="application/octet-stream")
    response["Cache-Control"] = FOREVER
    return response


def _tile(level: str, index: int, width: int) -> bytes | None:
    if level == BUNDLES:
        return tree.bundle(index, width)
    if int(level) > MAX_LEVEL:
        return None
    return tree.tile(TileAddress(int(level), index, width))


@method_decorator(csrf_exempt, name="dispatch")
class CosignatureList(View):
    """The cosignatures of witnesses: a text with the newest of each, or a new one."""

    def get(self, _request: HttpRequest) -> HttpResponse:
        return HttpResponse(cosignatures.newest(), content_type=TEXT)

    def post(self, request: HttpRequest) -> HttpResponse:
        try:
            text = request.read(MAX_CHECKPOINT_BYTES).decode()
            row = cosignatures.accept(text)
        except UnicodeDecodeError:
            return JsonResponse({"detail": "Send text in UTF-8."}, status=400)
        except LadderError as error:
            return JsonResponse(
                {"code": error.code, "detail": str(error)}, status=error.http_status
            )
        return JsonResponse({"witness": row.witness, "size": row.size})


class GameReceipt(APIView):
    """The receipt of a finished game: a proof that the public log has it."""

    @extend_schema(responses={(200, "text/plain"): OpenApiTypes.STR})
    def get(self, _request: Request, pk: int) -> HttpResponse:
        return _file(issued_receipts.of_game(pk), f"game-{pk}{SUFFIX}")


class SubmissionReceipt(APIView):
    """The receipt of an upload: a proof that the public log has its digest."""

    @extend_schema(responses={(200, "text/plain"): OpenApiTypes.STR})
    def get(self, _request: Request, pk: int) -> HttpResponse:
        return _file(issued_receipts.of_submission(pk), f"submission-{pk}{SUFFIX}")


def _file(text: str, name: str) -> HttpResponse:
    response = HttpResponse(text, content_type=TEXT)
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
