"""API views of a ladder's statistics, and of challenges."""

from dataclasses import asdict

from django.urls import reverse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.generics import GenericAPIView, get_object_or_404
from rest_framework.request import Request
from rest_framework.response import Response

from ladder.accounts.idempotency import once_by_key
from ladder.accounts.roles import person
from ladder.common.http import valid_body
from ladder.games.serializers import MatchSerializer
from ladder.ratings import (
    challenges,
    deal_by_deal,
    leaderboard,
    second_opinion,
    statistics,
    summaries,
)
from ladder.ratings.models import Ladder, Rating, Season
from ladder.ratings.second_opinion import OpinionPage
from ladder.ratings.serializers import (
    BandSerializer,
    ChallengeSerializer,
    CombinedStrengthsSerializer,
    DealComparisonSerializer,
    MeetingSerializer,
    OpinionPointSerializer,
    OpponentPageSerializer,
    RecordSerializer,
    SecondOpinionSerializer,
)
from ladder.ratings.views.leaderboards import (
    DEFAULT_ROWS,
    MAX_NUMBER,
    PAGE_PARAMETERS,
    number_parameter,
    page_links,
    query_numbers,
)

BOT = OpenApiParameter("bot", OpenApiTypes.STR, "path")
SEASON = number_parameter("season", MAX_NUMBER)
OTHER = OpenApiParameter("other", OpenApiTypes.STR, "path")


class _LadderView(GenericAPIView[Ladder]):
    queryset = leaderboard.ladders()
    lookup_field = "slug"
    pagination_class = None  # otherwise the schema would describe pages

    def season(self, number: int = 0) -> Season:
        """Return the season with a number; 0 is the newest one."""
        seasons = self.get_object().seasons.order_by("-number")
        if number:
            seasons = seasons.filter(number=number)
        return get_object_or_404(seasons[:1])

    def rating(self, season: Season, bot: str) -> Rating:
        ratings = season.ratings.select_related("bot")
        return get_object_or_404(ratings, bot__slug=bot)


class BotRecord(_LadderView):
    """A bot's numbers in the present season, with its trend and strength by seat."""

    serializer_class = RecordSerializer

    @extend_schema(parameters=[BOT], responses=RecordSerializer)
    def get(self, _request: Request, bot: str, **_: str) -> Response:
        season = self.season()
        rating = self.rating(season, bot)
        record, counted = leaderboard.read_at_one_entry(
            summaries.last_entry(season.pk), lambda: statistics.record(season, rating)
        )
        answer = asdict(record) | {"season": season.number, "counted_seq": counted}
        return Response(RecordSerializer(answer).data)


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
        rating = self.rating(season, bot)
        start = (page - 1) * limit
        (rows, total), counted = leaderboard.read_at_one_entry(
            summaries.last_entry(season.pk),
            lambda: (
                statistics.opponents(season, rating, start, limit),
                statistics.opponent_count(season, rating),
            ),
        )
        address = f"{request.build_absolute_uri(request.path)}?limit={limit}&page="
        answer = page_links(address, page, limit, total) | {
            "season": season.number,
            "counted_seq": counted,
            "results": rows,
        }
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


class DealByDeal(_LadderView):
    """Two bots on the decks that both have played, also at different tables."""

    serializer_class = DealComparisonSerializer

    @extend_schema(parameters=[BOT, OTHER], responses=DealComparisonSerializer)
    def get(self, _request: Request, bot: str, other: str, **_: str) -> Response:
        season = self.season()
        comparison = deal_by_deal.compare_deals(
            season, self.rating(season, bot), self.rating(season, other)
        )
        return Response(DealComparisonSerializer(comparison).data)


class TieBands(_LadderView):
    """The first 1,000 positions in bands of bots whose order is not certain yet."""

    serializer_class = BandSerializer

    @extend_schema(responses=BandSerializer(many=True))
    def get(self, _request: Request, **_: str) -> Response:
        bands = statistics.bands(self.season())
        return Response(BandSerializer(bands, many=True).data)


class SecondOpinionPage(_LadderView):
    """All strengths of a season, estimated from all its games at once.

    The order of the leaderboard is that of TrueSkill, and this is a second opinion on
    it. On a ladder that plays it is made again each half minute.
    """

    serializer_class = SecondOpinionSerializer
    filter_backends = ()  # `query_numbers` refuses unknown parameters

    @extend_schema(
        parameters=[*PAGE_PARAMETERS, SEASON], responses=SecondOpinionSerializer
    )
    def get(self, request: Request, **_: str) -> Response:
        query = query_numbers(request, page=1, limit=DEFAULT_ROWS, season=0)
        season = self.season(query["season"])
        answer = _opinion_page(request, season, query["page"], query["limit"])
        answer |= {"ladder": season.ladder.slug, "season": season.number}
        return Response(SecondOpinionSerializer(answer).data)


class CombinedStrengths(GenericAPIView[Ladder]):
    """Strengths over all ladders: one fit of their present seasons.

    All editions of the rules have the same weight. Bots that play on two ladders or
    more are listed. It is made again every ten minutes if games were rated.
    """

    serializer_class = CombinedStrengthsSerializer
    filter_backends = ()  # `query_numbers` refuses unknown parameters

    @extend_schema(parameters=PAGE_PARAMETERS, responses=CombinedStrengthsSerializer)
    def get(self, request: Request) -> Response:
        query = query_numbers(request, page=1, limit=DEFAULT_ROWS)
        answer = _opinion_page(request, None, query["page"], query["limit"])
        return Response(CombinedStrengthsSerializer(answer).data)


def _opinion_page(
    request: Request, season: Season | None, page: int, limit: int
) -> dict[str, object]:
    """Return a page of the newest opinion on a season, or over all ladders."""
    opinion = second_opinion.latest(season)
    part = OpinionPage([], 0)
    if opinion is not None:
        part = second_opinion.page(opinion, (page - 1) * limit, limit)
    address = f"{request.build_absolute_uri(request.path)}?limit={limit}"
    if season is not None:
        address += f"&season={season.number}"
    about = ("seq", "games", "submissions", "anchors", "created_at")
    answer = {name: getattr(opinion, name, None) for name in about}
    links = page_links(f"{address}&page=", page, limit, part.total)
    return answer | links | {"results": part.rows}


class OpinionHistory(_LadderView):
    """The latest 500 kept second opinions on a bot in a season, oldest first."""

    serializer_class = OpinionPointSerializer
    filter_backends = ()

    @extend_schema(
        parameters=[BOT, SEASON], responses=OpinionPointSerializer(many=True)
    )
    def get(self, request: Request, bot: str, **_: str) -> Response:
        season = self.season(query_numbers(request, season=0)["season"])
        points = second_opinion.history(season, self.rating(season, bot).bot)
        return Response(OpinionPointSerializer(points, many=True).data)


class ChallengeList(_LadderView):
    """POST schedules an unrated match; each owner may do so 20 times in 24 hours."""

    serializer_class = ChallengeSerializer

    @extend_schema(request=ChallengeSerializer, responses={201: MatchSerializer})
    @once_by_key
    def post(self, request: Request, **_: str) -> Response:
        body = valid_body(request, ChallengeSerializer)
        match = challenges.challenge(person(request), self.get_object(), body["bots"])
        headers = {"Location": reverse("api:match", args=[match.pk])}
        return Response(
            MatchSerializer(match).data, status.HTTP_201_CREATED, headers=headers
        )
