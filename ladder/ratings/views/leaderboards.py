"""The views of the API for ladders and their leaderboards."""

from hashlib import sha256
from typing import Any

import msgspec
from django.core.cache import cache
from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
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
from ladder.ratings.views.page_numbers import (
    DEFAULT_ROWS,
    MAX_NUMBER,
    PAGE_PARAMETERS,
    number_parameter,
    page_links,
    query_numbers,
)

LEADERBOARD_TTL_S = 2
PARAMETERS = [*PAGE_PARAMETERS, number_parameter("season", MAX_NUMBER)]


class LadderList(ListAPIView[Ladder]):
    queryset = leaderboard.ladders()
    serializer_class = LadderSerializer


class LadderDetail(RetrieveAPIView[Ladder]):
    queryset = leaderboard.ladders()
    serializer_class = LadderSerializer
    lookup_field = "slug"


class LeaderboardView(APIView):
    """A ladder's bots, best first. The answer may be two seconds old."""

    @extend_schema(parameters=PARAMETERS, responses=LeaderboardSerializer)
    def get(self, request: Request, slug: str) -> HttpResponse:
        query = query_numbers(request, page=1, limit=DEFAULT_ROWS, season=0)
        address = request.build_absolute_uri(request.path)
        key = f"leaderboard:{address}:{':'.join(map(str, query.values()))}"
        cached: tuple[str, bytes] | None = cache.get(key)
        if cached is None:
            body = msgspec.json.encode(_leaderboard(slug, address, **query))
            etag = f'"{sha256(body).hexdigest()[:32]}"'
            cached = (etag, body)
            cache.set(key, cached, LEADERBOARD_TTL_S)
        response = conditional(request, *cached)
        response["Cache-Control"] = f"public, max-age={LEADERBOARD_TTL_S}"
        return response


def _leaderboard(
    slug: str, address: str, *, page: int, limit: int, season: int
) -> dict[str, Any]:
    """Return a page of a leaderboard as the API shows it. Season 0 is the newest."""
    seasons = Season.objects.filter(ladder__slug=slug).order_by("-number")
    if season:
        seasons = seasons.filter(number=season)
    row = get_object_or_404(seasons[:1])
    part = leaderboard.leaderboard_page(row, (page - 1) * limit, limit)
    page_address = f"{address}?limit={limit}&season={row.number}&page="
    return {
        "ladder": slug,
        "season": row.number,
        **page_links(page_address, page, limit, part.total),
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
        row = get_object_or_404(Bot, slug=bot)
        points = leaderboard.history(season, row) if season else []
        return Response(PointSerializer(points, many=True).data)
