"""API views of a ladder's statistics, and of challenges."""

from django.urls import reverse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.generics import GenericAPIView, get_object_or_404
from rest_framework.request import Request
from rest_framework.response import Response

from ladder.accounts.permissions import person
from ladder.games.serializers import MatchSerializer
from ladder.ratings import challenges, leaderboard, statistics
from ladder.ratings.models import Ladder, Rating, Season
from ladder.ratings.serializers import (
    BandSerializer,
    ChallengeSerializer,
    MeetingSerializer,
    OpponentPageSerializer,
    RecordSerializer,
)
from ladder.ratings.views.page_numbers import (
    DEFAULT_ROWS,
    PAGE_PARAMETERS,
    page_links,
    query_numbers,
)

BOT = OpenApiParameter("bot", OpenApiTypes.STR, "path")
OTHER = OpenApiParameter("other", OpenApiTypes.STR, "path")


class _LadderView(GenericAPIView[Ladder]):
    queryset = leaderboard.ladders()
    lookup_field = "slug"
    pagination_class = None  # otherwise the schema would describe pages

    def season(self) -> Season:
        return get_object_or_404(self.get_object().seasons.order_by("-number")[:1])

    def rating(self, season: Season, bot: str) -> Rating:
        ratings = season.ratings.select_related("bot")
        return get_object_or_404(ratings, bot__slug=bot)


class BotRecord(_LadderView):
    """A bot's numbers in the present season, with its trend and strength by seat."""

    serializer_class = RecordSerializer

    @extend_schema(parameters=[BOT], responses=RecordSerializer)
    def get(self, _request: Request, bot: str, **_: str) -> Response:
        season = self.season()
        record = statistics.record(season, self.rating(season, bot))
        return Response(RecordSerializer(record).data)


class BotOpponents(_LadderView):
    """A bot's opponents in the present season, the most frequent one first."""

    serializer_class = OpponentPageSerializer
    filter_backends = ()  # `query_numbers` refuses unknown parameters

    @extend_schema(
        operation_id="ladders_bots_against_list",
        parameters=[BOT, *PAGE_PARAMETERS],
        responses=OpponentPageSerializer,
    )
    def get(self, request: Request, bot: str, **_: str) -> Response:
        query = query_numbers(request, page=1, limit=DEFAULT_ROWS)
        page, limit = query["page"], query["limit"]
        season = self.season()
        part = statistics.opponents(
            season, self.rating(season, bot), (page - 1) * limit, limit
        )
        address = f"{request.build_absolute_uri(request.path)}?limit={limit}&page="
        answer = page_links(address, page, limit, part.total) | {"results": part.rows}
        return Response(OpponentPageSerializer(answer).data)


class HeadToHead(_LadderView):
    """Two bots head to head, and which one is better."""

    serializer_class = MeetingSerializer

    @extend_schema(parameters=[BOT, OTHER], responses=MeetingSerializer)
    def get(self, _request: Request, bot: str, other: str, **_: str) -> Response:
        season = self.season()
        one = self.rating(season, bot)
        two = self.rating(season, other)
        return Response(MeetingSerializer(statistics.meeting(season, one, two)).data)


class TieBands(_LadderView):
    """The first 1,000 positions in bands of bots that cannot be told apart."""

    serializer_class = BandSerializer

    @extend_schema(responses=BandSerializer(many=True))
    def get(self, _request: Request, **_: str) -> Response:
        bands = statistics.bands(self.season())
        return Response(BandSerializer(bands, many=True).data)


class ChallengeList(_LadderView):
    """POST schedules an unrated match; each owner may do so 20 times in 24 hours."""

    serializer_class = ChallengeSerializer

    @extend_schema(request=ChallengeSerializer, responses={201: MatchSerializer})
    def post(self, request: Request, **_: str) -> Response:
        body = ChallengeSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        match = challenges.challenge(
            person(request), self.get_object(), body.validated_data["bots"]
        )
        headers = {"Location": reverse("api:match", args=[match.pk])}
        return Response(
            MatchSerializer(match).data, status.HTTP_201_CREATED, headers=headers
        )
