"""Filters of lists. An unknown query parameter is an error, so that typos are seen."""

from typing import Any

from django.db.models import Model, QuerySet
from django.views import View
from django_filters.rest_framework import DjangoFilterBackend
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request

PAGINATION_PARAMETERS = {"cursor", "limit"}


class StrictFilters(DjangoFilterBackend):
    def filter_queryset(
        self, request: Request, queryset: QuerySet[Model], view: View
    ) -> Any:
        filterset = self.get_filterset_class(view, queryset)
        known = PAGINATION_PARAMETERS | set(filterset.base_filters if filterset else ())
        if unknown := sorted(set(request.query_params) - known):
            detail = f"Unknown parameter. Use one of: {', '.join(sorted(known))}."
            raise ValidationError(dict.fromkeys(unknown, detail))
        if empty := sorted(k for k, v in request.query_params.items() if not v):
            detail = "The value is empty. Give a value or leave the parameter out."
            raise ValidationError(dict.fromkeys(empty, detail))
        return super().filter_queryset(request, queryset, view)
