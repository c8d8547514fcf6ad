"""The filters of the audit log."""

import django_filters as filters
from django.contrib.auth.models import User

from ladder.common.filters import NamedRowFilter, OneOfFilter
from ladder.moderation.models import AuditEntry


class AuditFilter(filters.FilterSet):
    kind = OneOfFilter(AuditEntry.Kind.values)
    by = NamedRowFilter(queryset=User.objects.all(), to_field_name="username")
    target = filters.CharFilter(help_text='For example "bot my-bot" or "game 7".')

    class Meta:
        model = AuditEntry
        fields = ["kind", "by", "target"]
