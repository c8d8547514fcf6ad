"""The views of the API for ladders and their leaderboards."""

from collections.abc import Collection
from dataclasses import asdict
from datetime import datetime
from hashlib import sha256
from typing import Any

import msgspec
from django.core.cache import cache
from django.http import Http404, HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.generics import (
    GenericAPIView,
    ListAPIView,
    RetrieveAPIView,
    get_object_or_404,
)
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from ladder.accounts.idempotency import once_by_key
from ladder.accounts.roles import operator
from ladder.bots.models import Bot
from ladder.common.http import conditional
from ladder.moderation.audit import Operator
from ladder.ratings import editing, leaderboard, past, second_opinion, statistics
from ladder.ratings.models import Ladder, Season
from ladder.ratings.serializers import (
    LadderDocumentSerializer,
    LadderSerializer,
    LeaderboardSerializer,
    PointSerializer,
    RowSerializer,
)
from torres.common.moments import MOMENT_HINT, parse_moment

DEFAULT_ROWS = 50
MAX_ROWS = 200
MAX_NUMBER = 10**6
MAX_SEQ = 10**8

_LIMITS = {"limit": MAX_ROWS, "before": MAX_SEQ}


def number_parameter(name: str, most: int) -> OpenApiParameter:
    return OpenApiParameter(name, {"type": "integer", "minimum": 1, "maximum": most})


PAGE_PARAMETERS = [
    number_parameter("page", MAX_NUMBER),
    number_parameter("limit", MAX_ROWS),
]


def query_numbers(
    request: Request, others: Collection[str] = (), **defaults: int
) -> dict[str, int]:
    """Return the numbers of the query; raise ValidationError for anything else.

    The caller reads the parameters in `others` itself.
    """
    numbers = dict(defaults)
    for name, value in request.query_params.items():
        text = str(value)
        if name in others:
            continue
        if name not in defaults:
            known = ", ".join([*defaults, *others])
            raise ValidationError({name: f"Unknown parameter. Use one of: {known}."})
        most = _LIMITS.get(name, MAX_NUMBER)
        if not (text.isascii() and text.isdigit() and 1 <= int(text[:9]) <= most):
            raise ValidationError({name: f"Enter a number from 1 to {most}."})
        numbers[name] = int(text[:9])
    return numbers


def page_links(address: str, page: int, limit: int, total: int) -> dict[str, object]:
    """Return the number of all rows, and the addresses of the neighbouring pages.

    `address` ends where the number of the page follows.
    """
    more = page * limit < total
    return {
        "count": total,
        "next": f"{address}{page + 1}" if more else None,
        "previous": f"{address}{page - 1}" if page > 1 else None,
    }


LEADERBOARD_TTL_S = 2
AT = OpenApiParameter(
    "at",
    OpenApiTypes.DATETIME,
    description="The leaderboard as it was at this moment; by default the present one.",
)
TREND = OpenApiParameter(
    "trend",
    OpenApiTypes.BOOL,
    description="True adds the trend to each row. It has to be read from the history.",
)
SEASON = number_parameter("season", MAX_NUMBER)
PARAMETERS = [*PAGE_PARAMETERS, SEASON, AT, TREND]


class LadderList(ListAPIView[Ladder]):
    """The ladders. An operator creates one with POST, and then starts its season."""

    scope = "operate"
    read_scope = "read"
    queryset = leaderboard.ladders()
    serializer_class = LadderSerializer

    @extend_schema(request=LadderDocumentSerializer, responses={201: LadderSerializer})
    @once_by_key
    def post(self, request: Request) -> Response:
        by = operator(request)
        ladder = editing.create(Operator(by, ""), request.data).ladder
        headers = {"Location": f"{request.path}{ladder.slug}/"}
        data = LadderSerializer(ladder).data
        return Response(data, status.HTTP_201_CREATED, None, headers)


class LadderDetail(RetrieveAPIView[Ladder]):
    """A ladder. An operator changes it with PATCH: the keys that are to be different.

    A change counts for the matches that are made after it, and TrueSkill's parameters
    for the next season. Limits that are left out stay.
    """

    scope = "operate"
    read_scope = "read"
    queryset = leaderboard.ladders()
    serializer_class = LadderSerializer
    lookup_field = "slug"

    @extend_schema(request=LadderDocumentSerializer, responses=LadderSerializer)
    def patch(self, request: Request, slug: str) -> Response:
        by = operator(request)
        ladder = editing.edit(Operator(by, ""), self.get_object(), request.data).ladder
        return Response(LadderSerializer(ladder).data)


class LeaderboardView(APIView):
    """A ladder's bots, best first. The answer may be two seconds old.

    With `at` it is the leaderboard at that moment, of the season that was played then.
    Its rows have skills and ranks; status, submission, games, forfeits and settling are
    null.
    """

    serializer_class = RowSerializer

    @extend_schema(parameters=PARAMETERS, responses=LeaderboardSerializer)
    def get(self, request: Request, slug: str) -> HttpResponse:
        query = query_numbers(
            request, ["at", "trend"], page=1, limit=DEFAULT_ROWS, season=0
        )
        moment = _moment(request)
        trend = _wants_trend(request, moment)
        address = request.build_absolute_uri(request.path)
        numbers = ":".join(map(str, query.values()))
        key = f"leaderboard:{address}:{moment}:{trend}:{numbers}"
        key = key.replace(" ", "T")  # some caches refuse spaces
        cached: tuple[str, bytes] | None = cache.get(key)
        if cached is None:
            document = _leaderboard(slug, address, moment, trend=trend, **query)
            body = msgspec.json.encode(document)
            etag = f'"{sha256(body).hexdigest()[:32]}"'
            cached = (etag, body)
            cache.set(key, cached, LEADERBOARD_TTL_S)
        response = conditional(request, *cached)
        response["Cache-Control"] = f"public, max-age={LEADERBOARD_TTL_S}"
        return response


def _moment(request: Request) -> datetime | None:
    """Return the query parameter `at`. Raises ValidationError."""
    text = request.query_params.get("at")
    moment = None if text is None else parse_moment(text)
    if text is not None and moment is None:
        raise ValidationError({"at": MOMENT_HINT})
    return moment


def _wants_trend(request: Request, moment: datetime | None) -> bool:
    """Return the query parameter `trend`. Raises ValidationError."""
    text = request.query_params.get("trend", "false")
    if text not in ("true", "false"):
        raise ValidationError({"trend": "Use true or false."})
    if text == "true" and moment is not None:
        raise ValidationError(
            {"trend": "A past leaderboard has no trends. Leave out at or trend."}
        )
    return text == "true"


def _season(slug: str, number: int, moment: datetime | None) -> Season:
    """Return the season with a number, or that of a moment, or the newest one."""
    if number:
        rows = Season.objects.filter(ladder__slug=slug)
        return get_object_or_404(rows, number=number)
    newest = leaderboard.newest_season(slug)
    if newest is None:
        raise Http404
    if moment is None:
        return newest
    season = past.season_at(slug, moment)
    if season is None:
        raise NotFound("The first season of this ladder began later.")
    return season


def _leaderboard(  # noqa: PLR0913 - one parameter for each part of the address
    slug: str,
    address: str,
    moment: datetime | None,
    *,
    trend: bool,
    page: int,
    limit: int,
    season: int,
) -> dict[str, Any]:
    """Return a page of a leaderboard as the API shows it. Season 0: see `_season`."""
    row = _season(slug, season, moment)
    start = (page - 1) * limit
    page_address = f"{address}?limit={limit}&season={row.number}"
    joint_seq = None
    if moment is None:
        part = leaderboard.page_at_one_head(row, start, limit)
        part, joint_seq = second_opinion.add_joint(row, part)
    else:
        part = past.past_page(row, past.last_entry(row, moment), start, limit)
        page_address += f"&at={_rfc_3339(moment)}"
    rows: list[Any] = list(part.rows)
    if trend:
        page_address += "&trend=true"
        found = statistics.trends_of(row, [each.bot for each in rows])
        rows = [asdict(each) | {"trend": found.get(each.bot)} for each in rows]
    page_address += "&page="
    return {
        "ladder": slug,
        "season": row.number,
        "at": None if moment is None else _rfc_3339(moment),
        "head": part.head,
        "joint_seq": joint_seq,
        **page_links(page_address, page, limit, part.total),
        "results": rows,
    }


def _rfc_3339(moment: datetime) -> str:
    return moment.isoformat().replace("+00:00", "Z")


class RatingHistory(GenericAPIView[Ladder]):
    """A bot's rating on a ladder after each entry of the ledger, oldest first.

    An answer has the latest 500 points of a season, by default of the newest one. If
    there are earlier ones, also in earlier seasons, the header `Link` has their
    address.
    """

    queryset = leaderboard.ladders()
    lookup_field = "slug"
    serializer_class = PointSerializer
    filter_backends = ()  # `query_numbers` refuses unknown parameters

    @extend_schema(
        parameters=[
            OpenApiParameter("bot", OpenApiTypes.STR, "path"),
            SEASON,
            number_parameter("before", MAX_SEQ),
        ],
        responses=PointSerializer(many=True),
    )
    def get(self, request: Request, bot: str, **_: str) -> Response:
        query = query_numbers(request, season=0, before=0)
        seasons = self.get_object().seasons.order_by("-number")
        if query["season"]:
            seasons = seasons.filter(number=query["season"])
            get_object_or_404(seasons)
        row = get_object_or_404(Bot, slug=bot)
        season = seasons.first()
        if season is None:
            return Response([])
        points = leaderboard.history(season, row, query["before"] or None)
        earlier = leaderboard.earlier_points(season, row, points)
        headers = {}
        if earlier is not None:
            address = f"{request.path}?season={earlier.season}"
            if earlier.seq is not None:
                address += f"&before={earlier.seq}"
            headers["Link"] = f'<{request.build_absolute_uri(address)}>; rel="prev"'
        return Response(PointSerializer(points, many=True).data, headers=headers)
