"""Cross tables on the pages of tournaments: contents, order, limits and secrets."""

import re
from fractions import Fraction

import pytest

from ladder.games.models import Game
from ladder.games.worker.play import play
from ladder.tournaments import cross_tables, services, visibility
from ladder.tournaments.cross_tables import CrossTable
from ladder.tournaments.models import Tournament
from ladder.web.templatetags.formatting import vulgar
from tests.tournaments.factories import begun, play_out, tick, worker

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _scripted(scripted_players: None) -> None:
    """Play games without processes."""


def tables(cup: Tournament) -> list[CrossTable]:
    return visibility.overview(cup).cross_tables.tables


def page(visit, cup: Tournament) -> str:
    answer = visit("").get(f"/tournaments/{cup.slug}/")
    assert answer.status_code == 200
    return answer.content.decode()


@pytest.mark.parametrize("form", ["round_robin", "swiss"])
def test_rows_and_columns_are_in_the_order_of_the_standings(visit, form: str) -> None:
    cup = play_out(begun({"format": form}, 5))
    lines = visibility.overview(cup).lines
    (table,) = tables(cup)

    assert [row.bot for row in table.rows] == [line.bot for line in lines]
    for k, row in enumerate(table.rows):
        assert row.points == lines[k].points
        assert row.cells[k] == []
        for other, cell in enumerate(row.cells):
            back = table.rows[other].cells[k]
            assert [each.match for each in cell] == [each.match for each in back]
    met = [each for row in table.rows for cell in row.cells for each in cell]
    assert len(met) == 2 * cup.fixtures.filter(how="played").count()
    html = page(visit, cup)
    for each in met:
        assert f'<a href="/matches/{each.match}/">{vulgar(each.points)}</a>' in html


def test_the_points_of_a_row_are_those_of_its_bot() -> None:
    cup = play_out(begun({"format": "round_robin"}, 4))
    (table,) = tables(cup)

    for row in table.rows:
        gained = sum(Fraction(each.points) for cell in row.cells for each in cell)
        assert gained == row.points


def test_each_group_has_a_table(visit) -> None:
    cup = play_out(begun({"format": "groups", "groups": 2, "advance": 1}, 6))

    assert [(t.group, len(t.rows), t.entrants) for t in tables(cup)] == [
        (1, 3, 3),
        (2, 3, 3),
    ]
    assert page(visit, cup).count('class="cross"') == 2


@pytest.mark.parametrize("form", ["single_elimination", "double_elimination"])
def test_an_elimination_has_none(visit, form: str) -> None:
    cup = play_out(begun({"format": form}, 4))

    assert tables(cup) == []
    assert "Cross table" not in page(visit, cup)


def test_a_table_of_three_is_shown_for_each_two_of_them(visit) -> None:
    cup = play_out(begun({"format": "round_robin", "seats": 3, "duplicate": False}, 3))
    (table,) = tables(cup)

    for row in table.rows:
        met = [cell for cell in row.cells if cell]
        assert len(met) == 2
        assert met[0] == met[1]
    assert "A table of more than two bots" in page(visit, cup)


def test_a_walkover_has_points_and_no_match(visit) -> None:
    cup = begun({"format": "round_robin"}, 2)
    services.withdraw(cup.entrants.get(bot__slug="bot-1"))
    play_out(cup)
    (table,) = tables(cup)

    assert [(e.points, e.note, e.match) for e in table.rows[0].cells[1]] == [
        ("1", "by walkover", None)
    ]
    assert '1<span class="hidden"> by walkover</span>' in page(visit, cup)


def test_a_large_table_has_the_first_ranks_only(visit, monkeypatch) -> None:
    monkeypatch.setattr(cross_tables, "MAX_ROWS", 3)
    cup = play_out(begun({"format": "round_robin"}, 5))
    (table,) = tables(cup)

    assert [row.bot for row in table.rows] == [
        line.bot for line in visibility.overview(cup).lines[:3]
    ]
    assert {len(row.cells) for row in table.rows} == {3}
    assert "It has the first 3 of 5 entrants." in page(visit, cup)


def test_many_meetings_of_two_bots_are_summed_up(visit, monkeypatch) -> None:
    monkeypatch.setattr(cross_tables, "MAX_MEETINGS", 2)
    cup = play_out(begun({"format": "round_robin", "rounds": 3}, 2))
    (table,) = tables(cup)
    shown = [row.cells[1 - k] for k, row in enumerate(table.rows)]

    assert [[(e.note, e.match) for e in cell] for cell in shown] == [
        [("in 3 matches", None)]
    ] * 2
    assert sum(Fraction(cell[0].points) for cell in shown) == 3
    assert '<span class="hidden"> in 3 matches</span>' in page(visit, cup)


def test_groups_beyond_the_limit_are_left_out(visit, monkeypatch) -> None:
    monkeypatch.setattr(cross_tables, "MAX_CELLS", 10)
    cup = play_out(begun({"format": "groups", "groups": 2, "advance": 1}, 6))

    assert [table.group for table in tables(cup)] == [1]
    assert "The tables of 1 more group are left out." in page(visit, cup)


def test_results_that_are_held_back_are_in_no_table(visit) -> None:
    cup = begun({"format": "round_robin"}, 4, held_back=True)
    worker_id = worker()
    tick(slots=50)
    before = page(visit, cup)
    for game in Game.objects.filter(match__fixture__round__lt=3):
        play(game.pk, worker_id)
    tick(slots=50)
    assert cup.fixtures.filter(how="played").count() == 4

    assert tables(cup) == []
    assert page(visit, cup) == before
    play_out(cup)
    services.reveal_next(cup)
    (table,) = tables(cup)
    met = {each.match for row in table.rows for cell in row.cells for each in cell}
    assert met == set(cup.fixtures.filter(round=1).values_list("match", flat=True))
    html = page(visit, cup)
    for hidden in cup.fixtures.filter(round__gt=1):
        assert not re.search(rf"/matches/{hidden.match_id}/", html)


@pytest.mark.parametrize(
    ("points", "text"),
    [
        *(("0", "0"), ("1", "1"), ("1/2", "½"), ("5/2", "2½"), ("4/3", "1⅓")),
        *(("2/7", "2/7"), ("-1/2", "-1/2"), ("-3", "-3")),
    ],
)
def test_fractions_of_points_have_their_sign(points: str, text: str) -> None:
    assert vulgar(points) == text
