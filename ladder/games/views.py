"""The views of the API for matches and games."""

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.generics import GenericAPIView, ListAPIView, RetrieveAPIView
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from ladder.common.http import conditional
from ladder.games import visibility
from ladder.games.filters import GameFilter, MatchFilter
from ladder.games.models import Game, Match
from ladder.games.serializers import (
    GameSerializer,
    MatchSerializer,
    MovesSerializer,
    SeatLogSerializer,
)


class MatchList(ListAPIView[Match]):
    """The matches, newest first, and why each was made."""

    queryset = visibility.matches()
    serializer_class = MatchSerializer
    filterset_class = MatchFilter


class MatchDetail(RetrieveAPIView[Match]):
    queryset = visibility.matches()
    serializer_class = MatchSerializer


class GameList(ListAPIView[Game]):
    """The games, newest first."""

    queryset = visibility.games()
    serializer_class = GameSerializer
    filterset_class = GameFilter


class GameDetail(RetrieveAPIView[Game]):
    queryset = visibility.games()
    serializer_class = GameSerializer


class GameReplay(GenericAPIView[Game]):
    """The replay, `torres-replay/1`, once the match is over. It never changes."""

    queryset = visibility.games()
    serializer_class = GameSerializer

    @extend_schema(responses={(200, "application/json"): OpenApiTypes.OBJECT})
    def get(self, request: Request, **_: int) -> HttpResponse:
        game = self.get_object()
        text = visibility.replay(game)
        answer = conditional(request, f'"{game.pk}-{game.fence}"', text)
        answer["Cache-Control"] = "public, max-age=3600"
        answer["Content-Disposition"] = f'inline; filename="game-{game.pk}.json"'
        return answer


class GameMoves(GenericAPIView[Game]):
    """The moves so far: a running game can be watched by asking again and again.

    Not where another game of its match has the same decks and one of them is not over,
    and not while results are held back.
    """

    queryset = visibility.games()
    serializer_class = MovesSerializer
    pagination_class = None

    @extend_schema(responses=MovesSerializer)
    def get(self, _request: Request, **_: int) -> Response:
        game = self.get_object()
        found = visibility.so_far(game)
        told = {"status": game.status, "attempt": found.attempt, "moves": found.moves}
        return Response(told)


class GameLogs(GenericAPIView[Game]):
    """What your own seats in this game left behind."""

    queryset = visibility.games()
    permission_classes = [IsAuthenticated]
    serializer_class = SeatLogSerializer

    @extend_schema(responses=SeatLogSerializer(many=True))
    def get(self, request: Request, **_: int) -> Response:
        rows = visibility.logs(self.get_object(), request.user)
        return Response(SeatLogSerializer(rows, many=True).data)
