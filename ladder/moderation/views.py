"""The REST views of the audit log and of workers, for operators."""

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from ladder.accounts.roles import operator
from ladder.games import selectors as games
from ladder.moderation.filters import AuditFilter
from ladder.moderation.models import AuditEntry
from ladder.moderation.serializers import AuditEntrySerializer, WorkerSerializer


class AuditLog(ListAPIView[AuditEntry]):
    """The actions of operators and of the service, newest first. For operators only."""

    scope = "operate"
    queryset = AuditEntry.objects.select_related("by")
    serializer_class = AuditEntrySerializer
    filterset_class = AuditFilter

    def get_queryset(self) -> QuerySet[AuditEntry]:
        if not getattr(self, "swagger_fake_view", False):
            operator(self.request)
        return super().get_queryset()


class WorkerList(APIView):
    """The workers that reported lately, drained ones included. For operators only."""

    scope = "operate"

    @extend_schema(responses=WorkerSerializer(many=True))
    def get(self, request: Request) -> Response:
        operator(request)
        rows = (games.live_workers() | games.drained_workers()).order_by("name")
        return Response(WorkerSerializer(rows, many=True).data)
