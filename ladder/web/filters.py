"""Filters of lists; a parameter that nobody knows is refused, so that typos show."""

from typing import Any

from django.db.models import Model, QuerySet
from django.views import View
from django_filters.rest_framework import DjangoFilterBackend
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request

PAGING = {"cursor", "limit"}


class StrictFilters(DjangoFilterBackend):
    def filter_queryset(
        self, request: Request, queryset: QuerySet[Model], view: View
    ) -> Any:
        filterset = self.get_filterset_class(view, queryset)
        known = PAGING | set(filterset.base_filters if filterset else ())
        if unknown := sorted(set(request.query_params) - known):
            said = f"Unknown. Known here: {', '.join(sorted(known))}."
            raise ValidationError(dict.fromkeys(unknown, said))
        if empty := sorted(k for k, v in request.query_params.items() if not v):
            raise ValidationError(dict.fromkeys(empty, "Say what, or leave it out."))
        return super().filter_queryset(request, queryset, view)
