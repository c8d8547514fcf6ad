"""The filters of the lists of matches and games."""

from collections.abc import Mapping
from typing import Any

import django_filters as filters
from django.contrib.auth.models import User
from django.db.models import Exists, OuterRef, Q, QuerySet
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework.exceptions import ValidationError

from engine.editions import PRESETS
from engine.faults import Fault
from ladder.bots.models import Bot, Submission
from ladder.common.filters import (
    MAX_COUNT,
    CountFilter,
    MomentFilter,
    NamedRowFilter,
    OneOfFilter,
)
from ladder.games import search
from ladder.games.models import MAX_SEATS, OPEN, Game, GameStatus, Match, Seat
from ladder.games.search import SeatCondition, SeatOutcome

ORDERINGS = {
    "-id": ("-id",),
    "id": ("id",),
    "-finished": ("-finished_at", "-id"),
    "finished": ("finished_at", "id"),
}
"""The columns of each value of `ordering`."""
SIDE = "Name the side, too: add bot, owner or submission."


SIZES = range(2, MAX_SEATS + 1)
MATCH_STATES = ("open", "over")


def _moment(description: str, column: str | None = None) -> MomentFilter:
    schema = {"type": "string", "format": "date-time", "description": description}
    field, _, lookup = (column or "").partition("__")
    return extend_schema_field(schema)(
        MomentFilter(field_name=field or None, lookup_expr=lookup or "exact")
    )


class _PeriodFilter(filters.FilterSet):
    """A filter with the parameters `from` and `to`."""

    @classmethod
    def get_filters(cls) -> dict[str, object]:
        """Return the filters by parameter. Python reserves the word `from`."""
        return {name.rstrip("_"): each for name, each in super().get_filters().items()}


class GameFilter(_PeriodFilter):
    """The parameters of lists of games.

    `bot`, `owner`, `submission`, `result` and `forfeit` are about one seat, and
    `opponent` about another one of the same game.
    """

    bot = NamedRowFilter(queryset=Bot.objects.all(), to_field_name="slug")
    opponent = NamedRowFilter(queryset=Bot.objects.all(), to_field_name="slug")
    owner = NamedRowFilter(queryset=User.objects.all(), to_field_name="username")
    submission = extend_schema_field(OpenApiTypes.INT)(
        NamedRowFilter(queryset=Submission.objects.all())
    )
    result = OneOfFilter([outcome.value for outcome in SeatOutcome])
    forfeit = OneOfFilter([fault.value for fault in Fault])
    ruleset = OneOfFilter(list(PRESETS), field_name="match__ruleset")
    seats = OneOfFilter(SIZES)
    status = OneOfFilter(GameStatus.values)
    match = filters.NumberFilter(min_value=0, max_value=2**63 - 1)
    ladder = filters.CharFilter()
    from_ = _moment("Games that finished at this moment or later.")
    to = _moment("Games that finished before this moment.")
    ordering = OneOfFilter(list(ORDERINGS))

    class Meta:
        model = Game
        fields: list[str] = []

    def filter_queryset(self, games: QuerySet[Game]) -> QuerySet[Game]:
        """Return the keys of the games, with the columns of their order."""
        values: dict[str, Any] = self.form.cleaned_data
        columns = [column.lstrip("-") for column in order_of(values)]
        rows = games.filter(*_of_game(values)).only(*columns)
        if "finished_at" in columns:
            rows = rows.filter(finished_at__isnull=False)
        conditions = _of_seat(values)
        if conditions:
            rows = search.with_seat(rows, conditions)
        if values["opponent"] and not _may_be_the_same(values):
            rows = search.with_bot(rows, values["opponent"])
        return rows


def order_of(values: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the columns of the order of games, from the parameters of a request.

    Without `ordering` the newest game comes first, and among the games of a time the
    one that finished last.
    """
    default = "-finished" if values.get("from") or values.get("to") else "-id"
    return ORDERINGS[values.get("ordering") or default]


def _may_be_the_same(values: dict[str, Any]) -> bool:
    """True if the seat of the named side may be one of the opponent's seats."""
    opponent: Bot = values["opponent"]
    bot, owner, submission = values["bot"], values["owner"], values["submission"]
    return (
        (bot is None or bot == opponent)
        and (owner is None or owner.pk == opponent.owner_id)
        and (submission is None or submission.bot_id == opponent.pk)
    )


def _of_seat(values: dict[str, Any]) -> list[SeatCondition]:
    """Return the conditions about one seat. Raises ValidationError."""
    side = search.seat_of(values["bot"], values["owner"], values["submission"])
    for name in ("opponent", "result"):
        if values[name] and not side:
            raise ValidationError({name: SIDE})
    conditions: list[SeatCondition] = [*side]
    if outcome := values["result"]:
        conditions += search.seat_with(SeatOutcome(outcome))
    if values["forfeit"]:
        conditions.append(Q(seats__fault=values["forfeit"]))
    if values["opponent"] and _may_be_the_same(values):
        conditions.append(search.seat_against(values["opponent"]))
    return conditions


def _of_game(values: dict[str, object]) -> list[Q]:
    """Return the conditions about the game itself."""
    columns = {
        "ruleset": "match__ruleset",
        "seats": "match__seats",
        "status": "status",
        "match": "match",
        "ladder": "match__ladder",
        "from": "finished_at__gte",
        "to": "finished_at__lt",
    }
    return [
        Q(**{column: values[name]})
        for name, column in columns.items()
        if values[name] not in (None, "")
    ]


class ExportFilter(GameFilter):
    """The parameters of exports, which have no games without a result."""

    status = OneOfFilter([GameStatus.FINISHED.value, GameStatus.VOIDED.value])
    cursor = filters.CharFilter(help_text="Go on after the line with this cursor.")
    limit = extend_schema_field(
        {
            "type": "integer",
            "minimum": 1,
            "maximum": MAX_COUNT,
            "description": "The number of games in this part at most.",
        }
    )(CountFilter())


class MatchFilter(_PeriodFilter):
    """The parameters of the list of matches. `TournamentMatchFilter` adds one."""

    bot = NamedRowFilter(
        queryset=Bot.objects.all(), to_field_name="slug", method="of_bot"
    )
    kind = OneOfFilter(Match.Kind.values)
    ladder = filters.CharFilter()
    ruleset = OneOfFilter(list(PRESETS))
    seats = OneOfFilter(SIZES)
    state = OneOfFilter(
        MATCH_STATES,
        method="in_state",
        help_text="open: a game of the match has not ended. over: all have.",
    )
    from_ = _moment("Matches made at this moment or later.", "created_at__gte")
    to = _moment("Matches made before this moment.", "created_at__lt")

    class Meta:
        model = Match
        fields: list[str] = []

    def of_bot(self, rows: QuerySet[Match], _name: str, bot: Bot) -> QuerySet[Match]:
        its_seats = Seat.objects.filter(bot=bot)
        return rows.filter(pk__in=its_seats.values("game__match"))

    def in_state(
        self, rows: QuerySet[Match], _name: str, state: str
    ) -> QuerySet[Match]:
        open_games = Game.objects.filter(status__in=OPEN)
        if state == "open":  # they are few, and an index leads to them
            return rows.filter(pk__in=open_games.values("match"))
        return rows.exclude(Exists(open_games.filter(match=OuterRef("pk"))))


def match_order(values: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the columns of the order of matches, newest first.

    With a period it is the time at which they were made. An index leads to the first
    match of a period, however many were made later.
    """
    if values.get("from") or values.get("to"):
        return ("-created_at", "-id")
    return ("-id",)
