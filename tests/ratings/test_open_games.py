"""Counting the open games of a season costs the same however many were played."""

from collections.abc import Callable

import pytest
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ladder.games.models import Game
from ladder.ratings import rater, selectors
from ladder.ratings.ladders import ensure_default_ladder
from ladder.ratings.models import Season
from tests.fill.command import Command
from tests.games import factories
from tests.ratings.factories import finish, make_matches

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("data_dir")]


def plan(asks: Callable[[], object]) -> str:
    """Return the steps by which SQLite answers the first statement that is asked."""
    with CaptureQueriesContext(connection) as asked:
        asks()
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN QUERY PLAN {asked[0]['sql']}")
        return " ".join(row[-1] for row in cursor.fetchall())


only_sqlite = pytest.mark.skipif(
    connection.vendor != "sqlite", reason="the plan of SQLite"
)


@only_sqlite
def test_sqlite_reads_only_open_pairings() -> None:
    steps = plan(selectors.open_games_by_season)

    assert "ratings_pairing_season_id" not in steps
    assert "SCAN ratings_pairing USING INDEX pairing_open" in steps or (
        "SEARCH games_game USING INDEX game_by_status" in steps
    )


@only_sqlite
def test_sqlite_finds_the_bots_of_open_games_by_the_open_pairings() -> None:
    call_command(Command(), bots=60, games=600, busiest=100, tournaments=0, seed="test")
    season = Season.objects.get()

    steps = plan(lambda: selectors.open_seats(season))

    assert "ratings_pairing USING INDEX pairing_open" in steps


def test_only_games_that_are_not_finished_count() -> None:
    season = ensure_default_ladder().seasons.get()
    for name in ("a-1", "b-2", "c-3", "d-4"):
        factories.bot(name)
    rater.welcome(season.pk)
    make_matches(season, 3)
    first = Game.objects.filter(status="scheduled").first()
    assert first is not None
    before = selectors.open_games_by_season()
    finish(first, list(range(1, first.seats.count() + 1)))
    rater.fold(season.pk)

    assert before[season.pk] > 1
    assert selectors.open_games_by_season() == {season.pk: before[season.pk] - 1}
