"""The views of the API for ladders and their leaderboards."""

from hashlib import sha256
from typing import Any

import msgspec
from django.core.cache import cache
from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.generics import (
    GenericAPIView,
    ListAPIView,
    RetrieveAPIView,
    get_object_or_404,
)
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from ladder.bots.models import Bot
from ladder.common.http import conditional
from ladder.ratings import leaderboard
from ladder.ratings.models import Ladder, Season
from ladder.ratings.serializers import (
    LadderSerializer,
    LeaderboardSerializer,
    PointSerializer,
)

FRESH = 2
"""A leaderboard may be so many seconds old."""
PAGE, MOST = 50, 200
PARAMETERS = [
    OpenApiParameter("page", {"type": "integer", "minimum": 1, "maximum": 10**6}),
    OpenApiParameter("limit", {"type": "integer", "minimum": 1, "maximum": MOST}),
    OpenApiParameter("season", {"type": "integer", "minimum": 1, "maximum": 10**6}),
]


class LadderList(ListAPIView[Ladder]):
    queryset = leaderboard.ladders()
    serializer_class = LadderSerializer


class LadderDetail(RetrieveAPIView[Ladder]):
    queryset = leaderboard.ladders()
    serializer_class = LadderSerializer
    lookup_field = "slug"


class LeaderboardView(APIView):
    """A ladder's bots, best first. May be two seconds old."""

    @extend_schema(parameters=PARAMETERS, responses=LeaderboardSerializer)
    def get(self, request: Request, slug: str) -> HttpResponse:
        wanted = _numbers(request, page=1, limit=PAGE, season=0)
        here = request.build_absolute_uri(request.path)
        key = f"leaderboard:{here}:{':'.join(map(str, wanted.values()))}"
        kept: tuple[str, bytes] | None = cache.get(key)
        if kept is None:
            body = msgspec.json.encode(_leaderboard(slug, here, **wanted))
            kept = f'"{sha256(body).hexdigest()[:32]}"', body
            cache.set(key, kept, FRESH)
        answer = conditional(request, *kept)
        answer["Cache-Control"] = f"public, max-age={FRESH}"
        return answer


def _numbers(request: Request, **defaults: int) -> dict[str, int]:
    """Read whole numbers from the query; anything else there is refused."""
    wanted, most = dict(defaults), {"limit": MOST}
    for name, given in request.query_params.items():
        text = str(given)
        if name not in defaults:
            known = ", ".join(defaults)
            raise ValidationError({name: f"Unknown. Known here: {known}."})
        top = most.get(name, 10**6)
        if not (text.isascii() and text.isdigit() and 1 <= int(text[:9]) <= top):
            raise ValidationError({name: f"A number from 1 to {top} is expected."})
        wanted[name] = int(text[:9])
    return wanted


def _leaderboard(
    slug: str, here: str, *, page: int, limit: int, season: int
) -> dict[str, Any]:
    which = {"number": season} if season else {}
    chosen = Season.objects.filter(ladder__slug=slug, **which).order_by("-number")
    found = get_object_or_404(chosen[:1])
    part = leaderboard.leaderboard(found, (page - 1) * limit, limit)
    address = f"{here}?limit={limit}&season={found.number}&page="
    more = page * limit < part.total
    return {
        "ladder": slug,
        "season": found.number,
        "count": part.total,
        "next": f"{address}{page + 1}" if more else None,
        "previous": f"{address}{page - 1}" if page > 1 else None,
        "results": part.rows,
    }


class RatingHistory(GenericAPIView[Ladder]):
    """A bot's rating on a ladder after each entry of the ledger, oldest first."""

    queryset = leaderboard.ladders()
    lookup_field = "slug"
    serializer_class = PointSerializer

    @extend_schema(
        parameters=[OpenApiParameter("bot", OpenApiTypes.STR, "path")],
        responses=PointSerializer(many=True),
    )
    def get(self, _request: Request, bot: str, **_: str) -> Response:
        season = leaderboard.current(self.get_object())
        found = get_object_or_404(Bot, slug=bot)
        points = leaderboard.history(season, found) if season else []
        return Response(PointSerializer(points, many=True).data)
