"""The views of the API for matches and games."""

from typing import Any

from django.conf import settings
from django.db.models import QuerySet
from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.generics import GenericAPIView, ListAPIView, RetrieveAPIView
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from ladder.common.http import conditional
from ladder.games import serializers, visibility
from ladder.games.filters import GameFilter, order_of
from ladder.games.installed_languages import installed_languages, upload_limits
from ladder.games.models import Game, Match, Worker


class LanguageList(GenericAPIView[Worker]):
    """The languages that the workers run, with versions, and the limits of uploads."""

    queryset = Worker.objects.none()
    serializer_class = serializers.LanguagesSerializer
    pagination_class = None
    filter_backends = ()

    def get(self, _request: Request) -> Response:
        document = {
            "languages": installed_languages(),
            "upload": upload_limits(settings.TORRES_UPLOAD_BYTES),
        }
        return Response(serializers.LanguagesSerializer(document).data)


class MatchDetail(RetrieveAPIView[Match]):
    queryset = visibility.matches()
    serializer_class = serializers.MatchSerializer


class GameList(ListAPIView[Game]):
    """The games, newest first or in the order that `ordering` names.

    `bot`, `owner`, `submission`, `result` and `forfeit` are about the same seat, and
    `opponent` about another one.
    """

    queryset = visibility.game_keys()
    serializer_class = serializers.GameSerializer
    filterset_class = GameFilter

    def order(self, request: Request) -> tuple[str, ...]:
        """Return the columns by which the pages are ordered."""
        return order_of(request.query_params)

    def paginate_queryset(self, queryset: QuerySet[Game] | Any) -> Any:
        keys = super().paginate_queryset(queryset)
        return None if keys is None else visibility.with_seats(keys)


class GameDetail(RetrieveAPIView[Game]):
    queryset = visibility.games()
    serializer_class = serializers.GameSerializer


class GameReplay(GenericAPIView[Game]):
    """The replay (`torres-replay/1`) after the match has ended. It never changes."""

    queryset = visibility.games()
    serializer_class = serializers.GameSerializer

    @extend_schema(responses={(200, "application/json"): OpenApiTypes.OBJECT})
    def get(self, request: Request, **_: int) -> HttpResponse:
        game = self.get_object()
        text = visibility.replay(game)
        response = conditional(request, f'"{game.pk}-{game.fence}"', text)
        response["Cache-Control"] = "public, max-age=3600"
        response["Content-Disposition"] = f'inline; filename="game-{game.pk}.json"'
        return response


class GameMoves(GenericAPIView[Game]):
    """The moves so far. Poll this route to watch a running game.

    If other games have the same decks, the moves are shown only after all of them have
    ended. They are not shown while a tournament holds results back.
    """

    queryset = visibility.games()
    serializer_class = serializers.MovesSerializer
    pagination_class = None

    @extend_schema(responses=serializers.MovesSerializer)
    def get(self, _request: Request, **_: int) -> Response:
        game = self.get_object()
        so_far = visibility.moves_so_far(game)
        return Response(
            {"status": game.status, "attempt": so_far.attempt, "moves": so_far.moves}
        )


class GameLogs(GenericAPIView[Game]):
    """The logs of your own seats in this game."""

    queryset = visibility.games()
    permission_classes = [IsAuthenticated]
    serializer_class = serializers.SeatLogSerializer

    @extend_schema(responses=serializers.SeatLogSerializer(many=True))
    def get(self, request: Request, **_: int) -> Response:
        entries = visibility.logs(self.get_object(), request.user)
        return Response(serializers.SeatLogSerializer(entries, many=True).data)
