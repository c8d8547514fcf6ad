"""The REST views of comparisons. Only the owner of a bot can see its comparisons."""

from django.db.models import QuerySet
from django.urls import reverse
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.exceptions import ValidationError
from rest_framework.generics import GenericAPIView, ListAPIView, get_object_or_404
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from ladder.accounts.idempotency import once_by_key
from ladder.accounts.roles import person
from ladder.bots.models import Bot
from ladder.common.http import valid_body
from ladder.extras.comparisons import selectors, services
from ladder.extras.comparisons.models import VersionComparison
from ladder.extras.comparisons.serializers import (
    ComparisonReportSerializer,
    NewComparisonSerializer,
    VersionComparisonSerializer,
)
from ladder.extras.comparisons.services import ComparisonTerms
from ladder.ratings import leaderboard


class ComparisonList(ListAPIView[VersionComparison]):
    """The comparisons of your bot, newest first. POST starts one.

    The version that plays now is tested against an older one, in unrated games on idle
    workers, until a sequential test is sure. One comparison of yours runs at a time,
    and you may start 10 in 24 hours.
    """

    queryset = VersionComparison.objects.all()
    serializer_class = VersionComparisonSerializer
    permission_classes = [IsAuthenticated]

    def get_queryset(self) -> QuerySet[VersionComparison]:
        return selectors.comparisons_of(self.request.user).filter(bot=self._own_bot())

    @extend_schema(
        request=NewComparisonSerializer, responses={201: ComparisonReportSerializer}
    )
    @once_by_key
    def post(self, request: Request, **_: str) -> Response:
        values = valid_body(request, NewComparisonSerializer)
        slug = values.pop("ladder")
        ladder = leaderboard.ladders().filter(slug=slug).first()
        if ladder is None:
            raise ValidationError({"ladder": f"There is no ladder {slug!r}."})
        low, high = values.pop("bounds")
        terms = ComparisonTerms(bounds=(low, high), **values)
        comparison = services.start(person(request), self._own_bot(), ladder, terms)
        headers = {"Location": reverse("api:version-comparison", args=[comparison.pk])}
        report = ComparisonReportSerializer(selectors.report(comparison))
        return Response(report.data, status.HTTP_201_CREATED, headers=headers)

    def _own_bot(self) -> Bot:
        owner = person(self.request)
        return get_object_or_404(Bot, slug=self.kwargs["slug"], owner=owner)


class _OwnComparison(GenericAPIView[VersionComparison]):
    queryset = VersionComparison.objects.all()
    serializer_class = ComparisonReportSerializer
    permission_classes = [IsAuthenticated]

    def get_queryset(self) -> QuerySet[VersionComparison]:
        return selectors.comparisons_of(self.request.user)


class ComparisonDetail(_OwnComparison):
    """A comparison of your bot with its figures so far."""

    def get(self, _request: Request, **_: int) -> Response:
        report = selectors.report(self.get_object())
        return Response(ComparisonReportSerializer(report).data)


class ComparisonCancel(_OwnComparison):
    """End a running comparison and its games."""

    @extend_schema(request=None, responses=ComparisonReportSerializer)
    def post(self, _request: Request, **_: int) -> Response:
        comparison = services.cancel(self.get_object())
        report = selectors.report(comparison)
        return Response(ComparisonReportSerializer(report).data)
