"""The REST views of analyses. All visitors may read them; users request them."""

from django.db.models import QuerySet
from django.urls import reverse
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.generics import ListAPIView, RetrieveAPIView, get_object_or_404
from rest_framework.permissions import IsAuthenticatedOrReadOnly
from rest_framework.request import Request
from rest_framework.response import Response

from ladder.accounts.roles import person
from ladder.common.http import valid_body
from ladder.extras.analysis import selectors, services
from ladder.extras.analysis.models import Analysis
from ladder.extras.analysis.serializers import AnalysisSerializer, NewAnalysisSerializer
from ladder.games import visibility
from ladder.games.models import Game


class AnalysisList(ListAPIView[Analysis]):
    """The analyses of a game, newest first. POST requests one.

    A process beside the dispatcher computes it, usually within a minute. The result is
    stored and public, so only the first request counts for your quota.
    """

    queryset = Analysis.objects.none()
    serializer_class = AnalysisSerializer
    permission_classes = [IsAuthenticatedOrReadOnly]

    def get_queryset(self) -> QuerySet[Analysis]:
        return selectors.visible().filter(game=self._game())

    @extend_schema(
        request=NewAnalysisSerializer,
        responses={200: AnalysisSerializer, 202: AnalysisSerializer},
    )
    def post(self, request: Request, **_: int) -> Response:
        body = valid_body(request, NewAnalysisSerializer)
        analysis = services.request_analysis(person(request), self._game(), **body)
        headers = {"Location": reverse("api:analysis", args=[analysis.pk])}
        code = status.HTTP_202_ACCEPTED if analysis.is_open else status.HTTP_200_OK
        return Response(AnalysisSerializer(analysis).data, code, headers=headers)

    def _game(self) -> Game:
        return get_object_or_404(visibility.games(), pk=self.kwargs["pk"])


class AnalysisDetail(RetrieveAPIView[Analysis]):
    """An analysis with its result, which is null until it is finished."""

    queryset = selectors.visible()
    serializer_class = AnalysisSerializer
