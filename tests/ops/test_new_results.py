"""`up` shows each game once, and does not read the games that were played before."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ladder.games.models import Match
from ladder.ops import new_results
from ladder.ops.console import game_line
from ladder.ops.new_results import NewResults
from tests.games import factories
from tests.ratings.factories import finish_in_order

pytestmark = pytest.mark.django_db(transaction=True)


def finished() -> int:
    game = factories.game()
    finish_in_order(game)
    return game.pk


def test_each_new_result_comes_once():
    finished()
    results = NewResults()
    assert results.take() == []

    new = [finished(), finished()]

    assert [game.pk for game in results.take()] == new
    assert results.take() == []
    assert [game.pk for game in results.take()] == []


def test_more_results_than_the_window_holds_come_all(monkeypatch):
    monkeypatch.setattr(new_results, "_LATEST", new_results.latest(3))
    for _ in range(5):
        finished()
    results = NewResults()
    new = [finished() for _ in range(8)]

    assert [game.pk for game in results.take()] == new
    assert results.take() == []


def test_a_game_under_embargo_comes_when_it_is_revealed():
    results = NewResults()
    game = factories.game()
    Match.objects.filter(pk=game.match_id).update(embargo=True)
    finish_in_order(game)
    other = finished()
    assert [row.pk for row in results.take()] == [other]

    Match.objects.filter(pk=game.match_id).update(embargo=False)

    assert [row.pk for row in results.take()] == [game.pk]
    assert results.take() == []


def test_a_look_is_one_query():
    for _ in range(3):
        finished()
    results = NewResults()
    results.take()

    with CaptureQueriesContext(connection) as queries:
        results.take()

    assert len(queries) <= 1


def test_lines_of_several_games_need_no_query_for_each():
    finished()
    results = NewResults()
    games = [finished() for _ in range(3)]

    with CaptureQueriesContext(connection) as queries:
        lines = [game_line(game) for game in results.take()]

    assert len(lines) == len(games)
    assert len(queries) <= 3  # the window, the games and their seats
