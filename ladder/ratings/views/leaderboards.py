"""API views of ladders and leaderboards, and of games and matches with their ladder."""

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
from ladder.games import views, visibility as games
from ladder.ratings import leaderboard
from ladder.ratings.filters import LadderGameFilter, LadderMatchFilter
from ladder.ratings.models import Ladder, Season
from ladder.ratings.serializers import (
    LadderGameSerializer,
    LadderMatchSerializer,
    LadderSerializer,
    LeaderboardSerializer,
    PointSerializer,
)

LEADERBOARD_TTL_S = 2
DEFAULT_ROWS = 50
MAX_ROWS = 200
MAX_NUMBER = 10**6


def _number_parameter(name: str, most: int) -> OpenApiParameter:
    return OpenApiParameter(name, {"type": "integer", "minimum": 1, "maximum": most})


PARAMETERS = [
    _number_parameter("page", MAX_NUMBER),
    _number_parameter("limit", MAX_ROWS),
    _number_parameter("season", MAX_NUMBER),
]


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
        query = _query_numbers(request, page=1, limit=DEFAULT_ROWS, season=0)
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


def _query_numbers(request: Request, **defaults: int) -> dict[str, int]:
    """Return the numbers of the query; raise ValidationError for anything else."""
    numbers = dict(defaults)
    for name, value in request.query_params.items():
        text = str(value)
        if name not in defaults:
            known = ", ".join(defaults)
            raise ValidationError({name: f"Unknown parameter. Use one of: {known}."})
        most = MAX_ROWS if name == "limit" else MAX_NUMBER
        if not (text.isascii() and text.isdigit() and 1 <= int(text[:9]) <= most):
            raise ValidationError({name: f"Enter a number from 1 to {most}."})
        numbers[name] = int(text[:9])
    return numbers


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
    more = page * limit < part.total
    return {
        "ladder": slug,
        "season": row.number,
        "count": part.total,
        "next": f"{page_address}{page + 1}" if more else None,
        "previous": f"{page_address}{page - 1}" if page > 1 else None,
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


class LadderMatchList(views.MatchList):
    """All matches, newest first, and why each was made."""

    queryset = games.matches().select_related("pairing__season__ladder")
    serializer_class = LadderMatchSerializer
    filterset_class = LadderMatchFilter


class LadderMatchDetail(views.MatchDetail):
    queryset = games.matches().select_related("pairing__season__ladder")
    serializer_class = LadderMatchSerializer


class LadderGameList(views.GameList):
    """All games, newest first."""

    queryset = games.games().select_related("match__pairing__season__ladder")
    serializer_class = LadderGameSerializer
    filterset_class = LadderGameFilter


class LadderGameDetail(views.GameDetail):
    queryset = games.games().select_related("match__pairing__season__ladder")
    serializer_class = LadderGameSerializer
