"""API views of the ladders on which a bot plays: list them, join, leave."""

from collections.abc import Callable, Iterable
from dataclasses import replace

from django.db.models import QuerySet
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.generics import GenericAPIView, get_object_or_404
from rest_framework.request import Request
from rest_framework.response import Response

from ladder.bots import selectors as bots
from ladder.bots.models import Bot
from ladder.bots.permissions import IsOwner
from ladder.ratings import memberships
from ladder.ratings.memberships import LadderPlace
from ladder.ratings.models import Ladder
from ladder.ratings.serializers import LadderPlaceSerializer

BOT = OpenApiParameter("bot", OpenApiTypes.STR, "path")


class _PlaceView(GenericAPIView[Bot]):
    queryset = bots.bots()
    serializer_class = LadderPlaceSerializer
    pagination_class = None  # a service has few ladders
    filter_backends = ()

    def data(self, bot: Bot, places: Iterable[LadderPlace]) -> list[object]:
        """Return places as JSON; only the owner reads why a bot is benched."""
        if not bots.owns(self.request.user, bot):
            places = [replace(place, why="") for place in places]
        return list(LadderPlaceSerializer(places, many=True).data)


class BotLadders(_PlaceView):
    """The ladders on which a bot plays or played, and its status there."""

    lookup_field = "slug"

    @extend_schema(responses=LadderPlaceSerializer(many=True))
    def get(self, _request: Request, **_: str) -> Response:
        bot = self.get_object()
        return Response(self.data(bot, memberships.places(bot, only_own=True)))


class _LadderPlaceView(_PlaceView):
    def get_queryset(self) -> QuerySet[Bot]:
        return bots.bots()

    def bot(self) -> Bot:
        """Return the bot of the address. Raises if the user may not see it."""
        bot = get_object_or_404(self.get_queryset(), slug=self.kwargs["bot"])
        self.check_object_permissions(self.request, bot)
        return bot

    def answer(self, bot: Bot, ladder: Ladder) -> Response:
        return Response(self.data(bot, [memberships.place(bot, ladder)])[0])


class LadderPlaceDetail(_LadderPlaceView):
    """The status of a bot on a ladder."""

    @extend_schema(parameters=[BOT], responses=LadderPlaceSerializer)
    def get(self, _request: Request, slug: str, **_: str) -> Response:
        return self.answer(self.bot(), get_object_or_404(Ladder, slug=slug))


class _OwnPlaceAction(_LadderPlaceView):
    permission_classes = [IsOwner]
    act: Callable[[Bot, Ladder], object]

    @extend_schema(parameters=[BOT], request=None, responses=LadderPlaceSerializer)
    def post(self, _request: Request, slug: str, **_: str) -> Response:
        bot = self.bot()
        ladder = get_object_or_404(Ladder, slug=slug)
        type(self).act(bot, ladder)
        return self.answer(bot, ladder)


class LadderJoin(_OwnPlaceAction):
    """Let your bot play on a ladder, also after it left or was benched there."""

    act = staticmethod(memberships.join)


class LadderLeave(_OwnPlaceAction):
    """Take your bot off a ladder. It keeps its rating; waiting games are cancelled."""

    act = staticmethod(memberships.leave)
