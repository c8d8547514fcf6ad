"""The filters of the list of tournaments."""

import django_filters as filters
from django.db.models import QuerySet

from ladder.common.filters import OneOfFilter
from ladder.tournaments.models import Tournament, TournamentStatus

YES_OR_NO = ("true", "false")


class TournamentFilter(filters.FilterSet):
    """`managed` and `archived` are checked here; the view chooses the rows for them."""

    status = OneOfFilter(TournamentStatus.values)
    managed = OneOfFilter(
        YES_OR_NO,
        method="leave",
        help_text="true: the tournaments that you may change, with drafts.",
    )
    archived = OneOfFilter(
        YES_OR_NO,
        method="leave",
        help_text="true: the archived tournaments only. By default they are left out.",
    )

    class Meta:
        model = Tournament
        fields = ["status", "managed", "archived"]

    def leave(
        self, rows: QuerySet[Tournament], _name: str, _value: object
    ) -> QuerySet[Tournament]:
        return rows
