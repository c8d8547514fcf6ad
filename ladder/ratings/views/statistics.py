"""The API's doors to what the games of a ladder say, and to challenges."""

from typing import Any

from django.urls import reverse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers, status
from rest_framework.generics import GenericAPIView, get_object_or_404
from rest_framework.request import Request
from rest_framework.response import Response

from ladder.accounts.permissions import person
from ladder.games.serializers import MatchSerializer
from ladder.ratings import challenges, leaderboard, statistics
from ladder.ratings.models import Ladder, Rating, Season

BOT = OpenApiParameter("bot", OpenApiTypes.STR, "path")
OTHER = OpenApiParameter("other", OpenApiTypes.STR, "path")


class StrengthSerializer(serializers.Serializer[Any]):
    players = serializers.IntegerField()
    seat = serializers.IntegerField(help_text="From 0.")
    games = serializers.IntegerField()
    wins = serializers.IntegerField()
    share = serializers.FloatField(help_text="Of opponents beaten; a tie counts half.")


class RecordSerializer(serializers.Serializer[Any]):
    """A bot's numbers in the present season. `low` and `high` bound its μ with 95 %."""

    bot = serializers.CharField()
    rank = serializers.IntegerField()
    mu = serializers.FloatField()
    sigma = serializers.FloatField()
    rating = serializers.FloatField()
    low = serializers.FloatField()
    high = serializers.FloatField()
    games = serializers.IntegerField()
    forfeits = serializers.IntegerField()
    fresh = serializers.IntegerField(help_text="Games since its code changed last.")
    settling = serializers.BooleanField()
    trend = serializers.FloatField(
        allow_null=True, help_text="What its last 20 games moved the rating by."
    )
    strength = StrengthSerializer(many=True)


class MeetingSerializer(serializers.Serializer[Any]):
    """Head to head. `apart` is the difference of the means, with its 95 % interval."""

    bot = serializers.CharField()
    other = serializers.CharField()
    games = serializers.IntegerField()
    before = serializers.IntegerField(help_text="Games in which the bot came before.")
    ties = serializers.IntegerField()
    chance = serializers.FloatField(help_text="Of coming before in the next game.")
    better = serializers.FloatField(help_text="Probability of the higher skill.")
    apart = serializers.FloatField()
    low = serializers.FloatField()
    high = serializers.FloatField()


class BandSerializer(serializers.Serializer[Any]):
    """Places, from 1, whose bots can't be told from the band's first with 95 %."""

    first = serializers.IntegerField()
    last = serializers.IntegerField()
    mu = serializers.FloatField(help_text="Of the first.")


class ChallengeSerializer(serializers.Serializer[Any]):
    """Bots by seat; one of them is yours. The match is not rated."""

    bots = serializers.ListField(
        child=serializers.SlugField(), min_length=2, max_length=4
    )


class _OfLadder(GenericAPIView[Ladder]):
    queryset = leaderboard.ladders()
    lookup_field = "slug"
    pagination_class = None  # whole answers: else the schema would promise pages

    def season(self) -> Season:
        return get_object_or_404(self.get_object().seasons.order_by("-number")[:1])

    def rating(self, season: Season, bot: str) -> Rating:
        ratings = season.ratings.select_related("bot")
        return get_object_or_404(ratings, bot__slug=bot)


class BotRecord(_OfLadder):
    """What the present season says of a bot: numbers, trend, strength by seat."""

    serializer_class = RecordSerializer

    @extend_schema(parameters=[BOT], responses=RecordSerializer)
    def get(self, _request: Request, bot: str, **_: str) -> Response:
        season = self.season()
        found = statistics.record(season, self.rating(season, bot))
        return Response(RecordSerializer(found).data)


class BotOpponents(_OfLadder):
    """Whom a bot met in the present season, and how that went; most met first."""

    serializer_class = MeetingSerializer

    @extend_schema(parameters=[BOT], responses=MeetingSerializer(many=True))
    def get(self, _request: Request, bot: str, **_: str) -> Response:
        season = self.season()
        found = statistics.opponents(season, self.rating(season, bot))
        return Response(MeetingSerializer(found, many=True).data)


class HeadToHead(_OfLadder):
    """Two bots head to head, and which is better."""

    serializer_class = MeetingSerializer

    @extend_schema(parameters=[BOT, OTHER], responses=MeetingSerializer)
    def get(self, _request: Request, bot: str, other: str, **_: str) -> Response:
        season = self.season()
        one, two = self.rating(season, bot), self.rating(season, other)
        return Response(MeetingSerializer(statistics.meeting(season, one, two)).data)


class TieBands(_OfLadder):
    """The first 1,000 places in bands of bots that can't be told apart."""

    serializer_class = BandSerializer

    @extend_schema(responses=BandSerializer(many=True))
    def get(self, _request: Request, **_: str) -> Response:
        found = statistics.bands(self.season())
        return Response(BandSerializer(found, many=True).data)


class ChallengeList(_OfLadder):
    """POST asks for an unrated match; 20 in 24 hours for each owner."""

    serializer_class = ChallengeSerializer

    @extend_schema(request=ChallengeSerializer, responses={201: MatchSerializer})
    def post(self, request: Request, **_: str) -> Response:
        wanted = ChallengeSerializer(data=request.data)
        wanted.is_valid(raise_exception=True)
        by, bots = person(request), wanted.validated_data["bots"]
        match = challenges.challenge(by, self.get_object(), bots)
        place = {"Location": reverse("api:match", args=[match.pk])}
        return Response(
            MatchSerializer(match).data, status.HTTP_201_CREATED, None, place
        )
