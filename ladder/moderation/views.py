"""The REST view of the audit log."""

from django.db.models import QuerySet
from rest_framework.generics import ListAPIView

from ladder.accounts.roles import operator
from ladder.moderation.filters import AuditFilter
from ladder.moderation.models import AuditEntry
from ladder.moderation.serializers import AuditEntrySerializer


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
