"""The REST views with which organisers run their tournaments.

The views for readers and for owners of bots are in `views`. An organiser changes
his or her own tournaments, an operator all.
"""

from typing import Any

from drf_spectacular.utils import OpenApiExample, OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.exceptions import PermissionDenied, ValidationError
from rest_framework.generics import GenericAPIView, get_object_or_404
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from ladder.accounts.roles import Person, organiser, person
from ladder.bots.models import Bot
from ladder.common.http import valid_body
from ladder.moderation.audit import Operator
from ladder.tournaments import organising, preview, services, visibility
from ladder.tournaments.document import read_document
from ladder.tournaments.models import Entrant, Tournament, TournamentStatus
from ladder.tournaments.organising import Step
from ladder.tournaments.serializers import (
    DescriptionSerializer,
    EntrantSerializer,
    ManagedTournamentSerializer,
    PreviewSerializer,
    ReasonSerializer,
    ReplacementSerializer,
    RequiredReasonSerializer,
    SeedsSerializer,
)

MAX_COUNT_DIGITS = 6
ENTRANTS = OpenApiParameter(
    "entrants",
    int,
    description="The number of entrants to suppose; by default those that are known.",
)
CUP = OpenApiExample(
    "a Swiss",
    {
        "name": "Friday cup",
        "format": "swiss",
        "rounds": 5,
        "limits": {"move_ms": 1000},
        "starts_at": "2027-01-15T18:00:00Z",
    },
    request_only=True,
)


def managed(request: Request, slug: str) -> Tournament:
    """Return a tournament that the user may change.

    Raises 404 if there is none that the user may see, and 403 for those of others.
    """
    user = person(request)
    tournament = get_object_or_404(visibility.with_drafts(), slug=slug)
    if organising.manages(user, tournament):
        return tournament
    if tournament.status == TournamentStatus.DRAFT:
        get_object_or_404(visibility.tournaments(), slug=slug)
    raise PermissionDenied(
        "Only the organiser of this tournament and operators may do that."
    )


def seen_by(user: Person, slug: str) -> Tournament:
    """Return a tournament that a person may see: also a draft that is theirs."""
    tournament = get_object_or_404(visibility.with_drafts(), slug=slug)
    is_draft = tournament.status == TournamentStatus.DRAFT
    if is_draft and not organising.manages(user, tournament):
        return get_object_or_404(visibility.tournaments(), slug=slug)
    return tournament


def answer(slug: str, code: int = status.HTTP_200_OK) -> Response:
    """Return the tournament as it is now, for its organiser."""
    row = visibility.with_drafts().get(slug=slug)
    return Response(ManagedTournamentSerializer(row).data, code)


def create_tournament(request: Request) -> Response:
    """Create a draft from the document in the body."""
    user = organiser(request)
    document = read_document(request.data)
    tournament = organising.create(Operator(user, ""), document)
    response = answer(tournament.slug, status.HTTP_201_CREATED)
    response["Location"] = f"{request.path}{tournament.slug}/"
    return response


def _supposed(request: Request) -> int | None:
    """Return the query parameter `entrants`. Raises ValidationError."""
    if unknown := sorted(request.query_params.keys() - {"entrants"}):
        raise ValidationError(
            dict.fromkeys(unknown, "Unknown parameter. Use: entrants.")
        )
    text = request.query_params.get("entrants")
    if text is None:
        return None
    digits = text.isascii() and text.isdigit() and len(text) <= MAX_COUNT_DIGITS
    if not digits or int(text) < services.MIN_ENTRANTS:
        raise ValidationError({"entrants": "Use a whole number from 2."})
    return int(text)


class DocumentPreview(APIView):
    """The number of rounds and games, and the duration, of a document.

    Nothing is stored. A document that could not be created is refused in the same way.
    """

    scope = "organise"

    @extend_schema(
        parameters=[ENTRANTS],
        request=DescriptionSerializer,
        responses=PreviewSerializer,
        examples=[CUP],
    )
    def post(self, request: Request) -> Response:
        organiser(request)
        supposed = _supposed(request)
        document = read_document(request.data)
        found = preview.preview_document(document, supposed)
        return Response(PreviewSerializer(found).data)


class _ManagedPart(GenericAPIView[Tournament]):
    """Base class of the views below one tournament that its organiser changes."""

    scope = "organise"
    queryset = visibility.with_drafts()
    serializer_class: Any = ManagedTournamentSerializer
    lookup_field = "slug"
    pagination_class = None
    filter_backends = ()

    def managed(self) -> Tournament:
        return managed(self.request, self.kwargs["slug"])

    def entrant(self) -> Entrant:
        return services.entrant_of(
            self.managed(), organising.bot_named(self.kwargs["bot"])
        )

    def acting(self, why: str = "") -> Operator:
        return Operator(person(self.request), why)


class TournamentPreviewView(_ManagedPart):
    """The number of rounds and games of a tournament, and its expected duration."""

    serializer_class = PreviewSerializer

    @extend_schema(parameters=[ENTRANTS], responses=PreviewSerializer)
    def get(self, request: Request, **_: str) -> Response:
        supposed = _supposed(request)
        found = preview.preview_tournament(self.managed(), supposed)
        return Response(PreviewSerializer(found).data)


class TournamentStep(_ManagedPart):
    """Take this step. In a wrong state the answer is 409, `wrong-state`."""

    step = Step.OPEN

    @extend_schema(request=ReasonSerializer, responses=ManagedTournamentSerializer)
    def post(self, request: Request, **_: str) -> Response:
        tournament = self.managed()
        body = valid_body(request, self.reason_class)
        acting = self.acting(body.get("why", ""))
        organising.take(acting, tournament, self.step)
        return answer(tournament.slug)

    reason_class: type[Any] = ReasonSerializer


class TournamentCancel(TournamentStep):
    """End the tournament without a winner. Its page shows the reason."""

    step = Step.CANCEL
    reason_class = RequiredReasonSerializer

    @extend_schema(
        request=RequiredReasonSerializer, responses=ManagedTournamentSerializer
    )
    def post(self, request: Request, **_: str) -> Response:
        return super().post(request)


class EntrantReplace(_ManagedPart):
    """Let another bot take the place and the seed of an entrant, before the start."""

    serializer_class = EntrantSerializer

    @extend_schema(request=ReplacementSerializer, responses=EntrantSerializer)
    def post(self, request: Request, **_: str) -> Response:
        entrant = self.entrant()
        body = valid_body(request, ReplacementSerializer)
        bot = organising.bot_named(body["by"])
        organising.replace(self.acting(), entrant, bot)
        new = services.entrant_of(entrant.tournament, bot)
        return Response(EntrantSerializer(new).data)


class TournamentSeeds(_ManagedPart):
    """Set seeds by hand, before the start. 1 is the best; null removes a seed."""

    serializer_class = EntrantSerializer

    @extend_schema(request=SeedsSerializer, responses=EntrantSerializer(many=True))
    def post(self, request: Request, **_: str) -> Response:
        tournament = self.managed()
        body = valid_body(request, SeedsSerializer)
        seeds = body["seeds"]
        organising.set_seeds(self.acting(), tournament, seeds)
        rows = visibility.entrants(tournament)
        return Response(EntrantSerializer(rows, many=True).data)


def enter_as_organiser(
    request: Request, tournament: Tournament, slug: str, seed: int | None
) -> Entrant:
    """Enter any bot. The caller has checked that the user manages the tournament."""
    bot: Bot = organising.bot_named(slug)
    acting = Operator(person(request), "")
    organising.enter(acting, tournament, bot, seed)
    return services.entrant_of(tournament, bot)
