"""Searches on the leaderboard, its scale, and the size of its page."""

import gzip
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from django.contrib.staticfiles import finders
from django.core.cache import cache
from django.db import connection
from django.test import Client
from hypothesis import given, strategies as st

from ladder.bots.models import Bot, Submission
from ladder.ratings.models import Rating
from ladder.ratings.ranked_rows import BoardFilter, ranked_page
from ladder.web.pages import boards
from tests.factories import Show, make_bot, rate
from tests.web.test_ladder_pages import text
from torres.drawing.scales import MAX_TICKS, scale

Visit = Callable[[str], Client]
BOARD = "/ladders/main/"
MAX_PAGE_BYTES = 50_000


@pytest.fixture
def many(show: Show) -> Show:
    """Seven bots of ranks 1 to 7: two of `show`, and five of Nora."""
    for number in range(3, 8):
        rate(show.season, make_bot(f"p{number}", "nora"), 20.0 - 2 * number, 1.0)
    return show


def ranks(show: Show, chosen: BoardFilter) -> list[tuple[int, str]]:
    page = ranked_page(show.season, chosen, 0, 50)
    return [(row.rank, row.bot) for row in page.rows]


def test_ranks_are_those_of_the_whole_leaderboard(many: Show) -> None:
    assert ranks(many, BoardFilter(text="p5")) == [(5, "p5")]
    assert [rank for rank, _ in ranks(many, BoardFilter(text="NORA"))] == [
        3,
        4,
        5,
        6,
        7,
    ]
    Submission.objects.filter(bot__slug="p6").update(language="rust")
    assert ranks(many, BoardFilter(language="rust")) == [(6, "p6")]
    assert ranks(many, BoardFilter(text="p5", language="rust")) == []


def test_equal_ratings_share_a_rank_but_no_position(many: Show) -> None:
    Rating.objects.filter(bot__slug__in=["p4", "p5"]).update(mu=12.0)

    rows = ranked_page(many.season, BoardFilter(text="nora"), 0, 50).rows

    assert [row.rank for row in rows] == [3, 4, 4, 6, 7]
    assert [row.position for row in rows] == [3, 4, 5, 6, 7]
    second = ranked_page(many.season, BoardFilter(), 4, 1).rows
    assert [(row.rank, row.bot) for row in second] == [(4, "p5")]


def test_a_game_that_is_rated_between_two_queries_breaks_no_page(many: Show) -> None:
    """The page was a 500 if a row had left the range of the others meanwhile."""
    queries = []

    def rate_meanwhile(execute: Callable[..., object], *words: object) -> object:
        queries.append(words[0])
        if len(queries) == 2:
            Rating.objects.filter(bot__slug__in=["p3", "p7"]).update(mu=99.0)
        return execute(*words)

    with connection.execute_wrapper(rate_meanwhile):
        rows = ranked_page(many.season, BoardFilter(text="nora"), 0, 50).rows

    assert [row.bot for row in rows] == ["p3", "p4", "p5", "p6", "p7"]
    assert [row.position for row in rows] == sorted({row.position for row in rows})


def test_withdrawn_bots_are_hidden_until_they_are_asked_for(
    visit: Visit, many: Show
) -> None:
    Bot.objects.filter(slug="p4").update(status="withdrawn")
    page = text(visit(""), BOARD)
    assert "/bots/p4/" not in page
    assert "(1 hidden)" in page
    assert ranks(many, BoardFilter())[3] == (5, "p5")

    page = text(visit(""), f"{BOARD}?withdrawn=1")
    assert "/bots/p4/" in page
    assert ">withdrawn</span>" in page
    assert "hidden)" not in page


def test_a_search_keeps_its_words_in_the_form_and_the_links(
    visit: Visit, many: Show, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(boards, "ROWS", 2)
    page = text(visit(""), f"{BOARD}?q=nora&language=python")

    assert 'value="nora"' in page
    assert "<option selected>python" in page
    assert 'href="?page=2&amp;season=1&amp;q=nora&amp;language=python"' in page
    assert "order not certain" not in page
    last = text(visit(""), f"{BOARD}?q=nora&page=3")
    assert "/bots/p7/" in last
    assert "The leaderboard has fewer pages" in text(visit(""), f"{BOARD}?page=99")


@pytest.mark.parametrize(
    "query",
    [
        "q=nobody+at+all",
        "q=%00",
        "q=%25",
        "q=<script>x",
        f"q={'x' * 5000}",
        "language=<b>",
        "withdrawn=2&page=-1",
        "q=%F0%9F%92%A9&season=%00",
    ],
)
def test_a_hostile_search_finds_nothing_or_is_left_out(
    visit: Visit, many: Show, query: str
) -> None:
    page = text(visit(""), f"{BOARD}?{query}")

    assert "<script>x" not in page
    assert "x" * 65 not in page


def test_a_search_without_a_match_says_so(visit: Visit, many: Show) -> None:
    assert "No bot matches this search" in text(visit(""), f"{BOARD}?q=nobody")


def test_a_search_is_not_mixed_up_with_the_cached_page(
    visit: Visit, many: Show, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(boards, "LEADERBOARD_TTL_S", 60)
    for query in ("", "?q=p5", "?language=rust", "?withdrawn=1", ""):
        page = text(visit(""), BOARD + query)
        assert ("/bots/p4/" in page) is (query in {"", "?withdrawn=1"})


def test_the_row_names_owner_and_language(visit: Visit, many: Show) -> None:
    page = text(visit(""), BOARD)

    assert "<bdi>nora</bdi>, python</span>" in page
    Bot.objects.filter(slug="p5").update(owner=None)
    cache.clear()
    assert "a deleted user, python</span>" in text(visit(""), BOARD)


def test_more_rows_ask_no_more_queries(show: Show, django_assert_num_queries) -> None:
    def queries() -> int:
        cache.clear()
        with django_assert_num_queries(7) as asked:
            boards.season_board(show.season.ladder, show.season, 1)
        return len(asked)

    few = queries()
    for number in range(6):
        rate(show.season, make_bot(f"more {number}"), 20.0, 1.0)
    assert queries() == few


def test_a_page_with_fifty_rows_is_small(visit: Visit, show: Show) -> None:
    """Without a cache: the page, its style sheets and its scripts, compressed."""
    Bot.objects.filter(slug="grendel").update(name="W" * 64)
    users = [f"author-{number % 17}" for number in range(48)]
    for number, user in enumerate(users):
        bot = make_bot(f"Bot number {number}", user)
        rate(show.season, bot, 30.0 - number / 7, 1.0 + number / 50)
    page = visit("").get(BOARD).content

    assert page.count(b"<tr>") == 51
    names = re.findall(rb'"/static/([^"]+\.(?:css|js|svg))"', page)
    assert b"web/site.css" in names
    files = [Path(str(finders.find(name.decode()))) for name in names]
    parts = [page, *(file.read_bytes() for file in files)]
    assert sum(len(gzip.compress(part)) for part in parts) <= MAX_PAGE_BYTES


@given(st.floats(-1000, 1000, allow_nan=False), st.floats(0, 500, allow_nan=False))
def test_a_scale_contains_its_range_and_has_few_ticks(low: float, span: float) -> None:
    axis = scale(low, low + span)

    assert 2 <= len(axis.ticks) <= MAX_TICKS
    assert axis.ticks[0].x == 0
    assert axis.ticks[-1].x == 100
    assert 0 <= axis.percent(low) <= axis.percent(low + span) <= 100
