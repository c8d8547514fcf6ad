"""Every filter of a list has an index that leads to its rows.

Otherwise a filter for something rare reads the whole table, which takes seconds with a
million games. `tests.bench scale --routes` measures the filters with a million games.

tests/ops/test_postgres.py runs this file on PostgreSQL.
"""

import os
from typing import Any
from urllib.parse import parse_qsl

import pytest
from django.db import connection
from django.db.models import QuerySet

from ladder.games.filters import MatchFilter, match_order, order_of
from ladder.games.models import Match
from ladder.games.views import GameList
from ladder.moderation.filters import AuditFilter
from ladder.moderation.models import AuditEntry
from ladder.ratings.models import Entry
from tests.factories import make_bot

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(
        not os.environ.get("DATABASE_URL", "").startswith("postgres"),
        reason="SQLite chooses other plans",
    ),
]
PAGE = 51
GAMES = {
    "forfeit=timeout": "seat_by_fault",
    "status=dead": "game_by_status",
    "from=2026-01-01": "game_finished",
    "ordering=-finished": "game_finished",
    "ladder=rare": "match_by_ladder",
    "ruleset=torres-3d": "match_by_ruleset",
    "bot=grendel&result=tied": "seat_tied",
    "owner=ana&result=tied": "seat_tied",
}
MATCHES = {
    "ruleset=torres-3d": "match_by_ruleset",
    "seats=3": "match_by_seats",
    "kind=challenge": "match_by_kind",
    "ladder=rare": "match_by_ladder",
    "from=2026-01-01": "match_by_time",
    "state=open": "game_open",
}
AUDIT = {"kind=ban": "audit_by_kind", "target=game 7": "audit_by_target"}


def parameters(text: str) -> dict[str, str]:
    return dict(parse_qsl(text))


def plan(rows: QuerySet[Any]) -> str:
    """Return the plan of a page if the database may not scan whole tables."""
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
    return rows[:PAGE].explain()


@pytest.mark.parametrize("text", GAMES)
def test_an_index_leads_to_the_games_of_a_filter(text: str, data_dir) -> None:
    make_bot("grendel", "ana")
    query = parameters(text)
    filters = GameList.filterset_class(query, queryset=GameList.queryset)
    assert filters.is_valid(), filters.errors

    assert GAMES[text] in plan(filters.qs.order_by(*order_of(query)))


@pytest.mark.parametrize("text", MATCHES)
def test_an_index_leads_to_the_matches_of_a_filter(text: str) -> None:
    query = parameters(text)
    filters = MatchFilter(query, queryset=Match.objects.filter(embargo=False))
    assert filters.is_valid(), filters.errors

    assert MATCHES[text] in plan(filters.qs.order_by(*match_order(query)))


@pytest.mark.parametrize("text", AUDIT)
def test_an_index_leads_to_the_audit_entries_of_a_filter(text: str) -> None:
    filters = AuditFilter(parameters(text), queryset=AuditEntry.objects.all())
    assert filters.is_valid(), filters.errors

    assert AUDIT[text] in plan(filters.qs)


def test_a_filter_without_an_index_would_be_noticed() -> None:
    rows = Entry.objects.filter(created_at="2026-01-01T00:00Z").order_by("created_at")

    assert "Seq Scan" in plan(rows)
