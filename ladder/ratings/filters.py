"""Filters of matches and games, with their ladder as one more field."""

import django_filters as filters

from ladder.games.filters import GameFilter, MatchFilter
from ladder.ratings.models import Ladder


class LadderGameFilter(GameFilter):
    ladder = filters.ModelChoiceFilter(
        queryset=Ladder.objects.all(),
        to_field_name="slug",
        field_name="match__pairing__season__ladder",
    )


class LadderMatchFilter(MatchFilter):
    ladder = filters.ModelChoiceFilter(
        queryset=Ladder.objects.all(),
        to_field_name="slug",
        field_name="pairing__season__ladder",
    )
