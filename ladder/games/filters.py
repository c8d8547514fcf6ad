"""The filters of the lists of matches and games."""

import django_filters as filters
from django.db.models import QuerySet
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field

from ladder.bots.models import Bot
from ladder.games.models import Game, Match, Seat


@extend_schema_field(OpenApiTypes.STR)
class BySlug(filters.ModelChoiceFilter):
    """A filter whose value is the slug of a row. Refuses an unknown slug."""


class GameFilter(filters.FilterSet):
    bot = BySlug(queryset=Bot.objects.all(), to_field_name="slug", method="of_bot")
    status = filters.ChoiceFilter(choices=Game.Status.choices)
    match = filters.NumberFilter(min_value=0, max_value=2**63 - 1)
    ladder = filters.CharFilter(field_name="match__ladder")

    class Meta:
        model = Game
        fields = ["bot", "status", "match", "ladder"]

    def of_bot(self, games: QuerySet[Game], _name: str, bot: Bot) -> QuerySet[Game]:
        return games.filter(pk__in=Seat.objects.filter(bot=bot).values("game"))


class MatchFilter(filters.FilterSet):
    bot = BySlug(queryset=Bot.objects.all(), to_field_name="slug", method="of_bot")
    kind = filters.ChoiceFilter(choices=Match.Kind.choices)
    ladder = filters.CharFilter()

    class Meta:
        model = Match
        fields = ["bot", "kind", "ladder"]

    def of_bot(self, rows: QuerySet[Match], _name: str, bot: Bot) -> QuerySet[Match]:
        its_seats = Seat.objects.filter(bot=bot)
        return rows.filter(pk__in=its_seats.values("game__match"))
