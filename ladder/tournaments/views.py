"""The REST views of tournaments; one class for each route."""

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.exceptions import PermissionDenied, ValidationError
from rest_framework.generics import (
    GenericAPIView,
    ListAPIView,
    RetrieveAPIView,
    get_object_or_404,
)
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from ladder.accounts.idempotency import once_by_key
from ladder.accounts.roles import person
from ladder.bots.models import Bot
from ladder.common.http import valid_body
from ladder.games.models import Game
from ladder.games.serializers import GameSerializer
from ladder.moderation.audit import Operator
from ladder.tournaments import organiser_views, organising, services, visibility
from ladder.tournaments.document import read_document
from ladder.tournaments.filters import TournamentFilter
from ladder.tournaments.models import Entrant, Tournament
from ladder.tournaments.serializers import (
    ComparisonSerializer,
    ContestSerializer,
    DescriptionSerializer,
    EntrantSerializer,
    ManagedTournamentSerializer,
    NewEntrantSerializer,
    RoundSerializer,
    StandingsSerializer,
    TournamentSerializer,
)

MAX_FIXTURES_SHOWN = 500
MAX_ROUND_DIGITS = 9


class TournamentList(ListAPIView[Tournament]):
    """The tournaments, newest first. An organiser creates a draft with POST.

    The body has the keys of the file of `torres tournament`. `POST …/preview/` checks
    it, and says how many rounds and games it has, without storing it.
    """

    scope = "organise"
    queryset = visibility.listed()
    serializer_class = TournamentSerializer
    filterset_class = TournamentFilter

    def get_queryset(self) -> QuerySet[Tournament]:
        if getattr(self, "swagger_fake_view", False):
            return self.queryset
        chosen = self.request.query_params
        rows = visibility.tournaments()
        if chosen.get("managed") == "true":
            rows = visibility.with_drafts().filter(
                organising.managed_by(person(self.request))
            )
        return rows.filter(archived_at__isnull=chosen.get("archived") != "true")

    @extend_schema(
        request=DescriptionSerializer,
        responses={201: ManagedTournamentSerializer},
        examples=[organiser_views.CUP],
    )
    @once_by_key
    def post(self, request: Request) -> Response:
        return organiser_views.create_tournament(request)


class TournamentDetail(RetrieveAPIView[Tournament]):
    """A tournament. Its organiser changes it with PATCH.

    The body has the keys that are to be different. From the start on only the name can
    change (409, `wrong-state`).
    """

    scope = "organise"
    queryset = visibility.tournaments()
    serializer_class = TournamentSerializer
    lookup_field = "slug"

    def get_object(self) -> Tournament:
        return organiser_views.seen_by(self.request.user, self.kwargs["slug"])

    @extend_schema(request=DescriptionSerializer, responses=ManagedTournamentSerializer)
    def patch(self, request: Request, slug: str) -> Response:
        tournament = organiser_views.managed(request, slug)
        document = read_document(request.data, tournament)
        organising.edit(Operator(person(request), ""), tournament, document)
        return organiser_views.answer(slug)


class _TournamentPart(GenericAPIView[Tournament]):
    """Base class of the views below one tournament."""

    queryset = visibility.tournaments()
    lookup_field = "slug"
    serializer_class: Any = TournamentSerializer

    def get_object(self) -> Tournament:
        return organiser_views.seen_by(self.request.user, self.kwargs["slug"])

    def own_bot(self, request: Request, slug: str) -> Bot:
        return get_object_or_404(Bot, slug=slug, owner=person(request))


class EntrantList(_TournamentPart):
    """The entrants. POST enters one of your bots while entry is open.

    The organiser enters any bot before the start, also with a seed.
    """

    serializer_class = EntrantSerializer

    @extend_schema(responses=EntrantSerializer(many=True))
    def get(self, _request: Request, **_: str) -> Response:
        rows: QuerySet[Entrant] = visibility.entrants(self.get_object())
        return Response(EntrantSerializer(rows, many=True).data)

    @extend_schema(request=NewEntrantSerializer, responses={201: EntrantSerializer})
    @once_by_key
    def post(self, request: Request, **_: str) -> Response:
        new = valid_body(request, NewEntrantSerializer)
        tournament = self.get_object()
        slug, seed = new["bot"], new.get("seed")
        if organising.manages(request.user, tournament):
            entrant = organiser_views.enter_as_organiser(
                request, tournament, slug, seed
            )
        else:
            if seed is not None:
                raise PermissionDenied("Only the organiser sets seeds.")
            entrant = services.enter(tournament, self.own_bot(request, slug))
        return Response(EntrantSerializer(entrant).data, status.HTTP_201_CREATED)


class EntrantDetail(_TournamentPart):
    """DELETE withdraws one of your bots. The organiser withdraws any entrant."""

    permission_classes = [IsAuthenticated]

    @extend_schema(responses={204: None})
    def delete(self, request: Request, bot: str, **_: str) -> Response:
        tournament = self.get_object()
        own = Bot.objects.filter(slug=bot, owner=person(request)).exists()
        if not own and organising.manages(request.user, tournament):
            entrant = services.entrant_of(tournament, organising.bot_named(bot))
            organising.withdraw(Operator(person(request), ""), entrant)
        else:
            entrant = services.entrant_of(tournament, self.own_bot(request, bot))
            services.withdraw(entrant)
        return Response(status=status.HTTP_204_NO_CONTENT)


class EntrantCheckIn(_TournamentPart):
    """Check in one of your bots: confirm that it will play."""

    permission_classes = [IsAuthenticated]

    @extend_schema(request=None, responses=EntrantSerializer)
    def post(self, request: Request, bot: str, **_: str) -> Response:
        tournament = self.get_object()
        entrant = services.entrant_of(tournament, self.own_bot(request, bot))
        services.check_in(entrant)
        entrant.refresh_from_db()
        return Response(EntrantSerializer(entrant).data)


class TournamentRounds(_TournamentPart):
    """The fixtures by round, with their results as far as they are shown.

    An answer has whole rounds, as many as fit into 500 fixtures, and at least one. If
    there are more, the header `Link` has the address of the next ones.
    """

    filter_backends = ()  # they know no parameter `from`

    @extend_schema(
        parameters=[
            OpenApiParameter("from", int, description="The first round; 1 by default.")
        ],
        responses=RoundSerializer(many=True),
    )
    def get(self, request: Request, **_: str) -> Response:
        tournament = self.get_object()
        first = _first_round(request)
        chosen: list[int] = []
        total = 0
        following = None
        for round_, size in visibility.round_sizes(tournament).items():
            if round_ < first:
                continue
            if chosen and total + size > MAX_FIXTURES_SHOWN:
                following = round_
                break
            chosen.append(round_)
            total += size
        rounds = visibility.rounds(tournament, chosen)
        headers = {}
        if following is not None:
            address = request.build_absolute_uri(f"{request.path}?from={following}")
            headers["Link"] = f'<{address}>; rel="next"'
        return Response(RoundSerializer(rounds, many=True).data, headers=headers)


def _first_round(request: Request) -> int:
    """Return the query parameter `from`. Raises ValidationError."""
    if unknown := sorted(request.query_params.keys() - {"from"}):
        raise ValidationError(dict.fromkeys(unknown, "Unknown parameter. Use: from."))
    text = request.query_params.get("from", "1")
    if not (text.isascii() and text.isdigit() and len(text) <= MAX_ROUND_DIGITS):
        raise ValidationError({"from": "Use the number of a round, from 1."})
    return int(text)


class TournamentBracket(_TournamentPart):
    """The contests of an elimination; empty for other formats."""

    @extend_schema(responses=ContestSerializer(many=True))
    def get(self, _request: Request, **_: str) -> Response:
        rows = visibility.overview(self.get_object()).bracket
        return Response(ContestSerializer(rows, many=True).data)


class TournamentStandings(_TournamentPart):
    """The standings, and why one bot is ahead of another with equal points."""

    @extend_schema(responses=StandingsSerializer)
    def get(self, _request: Request, **_: str) -> Response:
        overview = visibility.overview(self.get_object())
        standings = {"standings": overview.lines, "ties": overview.ties}
        return Response(StandingsSerializer(standings).data)


class EntrantComparison(_TournamentPart):
    """The tie-break rules that separate two entrants."""

    @extend_schema(operation_id="tournaments_compare", responses=ComparisonSerializer)
    def get(self, _request: Request, first: str, second: str, **_: str) -> Response:
        tournament = self.get_object()
        rows = tournament.entrants.select_related("bot")
        one = get_object_or_404(rows, bot__slug=first)
        two = get_object_or_404(rows, bot__slug=second)
        comparison = visibility.compare(tournament, one, two)
        return Response(ComparisonSerializer(comparison).data)


class TournamentGames(ListAPIView[Game]):
    """The games that are shown, newest first."""

    queryset = Game.objects.none()
    serializer_class = GameSerializer

    def get_queryset(self) -> QuerySet[Game]:
        if getattr(self, "swagger_fake_view", False):
            return self.queryset
        slug = self.kwargs["slug"]
        return visibility.tournament_games(
            get_object_or_404(visibility.tournaments(), slug=slug)
        )
