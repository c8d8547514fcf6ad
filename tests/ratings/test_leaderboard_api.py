"""Ladders and leaderboards over REST."""

import pytest
from django.core.cache import cache
from rest_framework.test import APIClient

from tests.factories import fold, make_bot, make_ladder, make_match, rate

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("data_dir")]
BOARD = "/api/v1/ladders/main/leaderboard/"


@pytest.fixture
def season(data_dir):
    season = make_ladder()
    for name, mu, sigma in [
        ("third", 20.0, 1.0),
        ("first", 40.0, 1.0),
        ("second", 39.5, 1.5),
        ("fourth", 20.0, 1.0),
    ]:
        rate(season, make_bot(name), mu, sigma)
    return season


@pytest.mark.usefixtures("season")
def test_the_best_bot_is_first_and_equal_bots_share_a_rank(anybody: APIClient) -> None:
    board = anybody.get(BOARD).json()

    assert [(r["rank"], r["bot"]) for r in board["results"]] == [
        (1, "first"),
        (2, "second"),
        (3, "third"),
        (3, "fourth"),
    ]
    assert [r["tied_with_above"] for r in board["results"]] == [
        False,
        True,
        False,
        True,
    ]
    first = board["results"][0]
    assert first["rating"] == pytest.approx(first["mu"] - 3 * first["sigma"])
    assert first["low"] < first["mu"] < first["high"]
    assert (first["games"], first["forfeits"]) == (12, 1)
    assert (board["count"], board["next"], board["previous"]) == (4, None, None)


@pytest.mark.usefixtures("season")
def test_a_page_continues_after_the_previous_one(anybody: APIClient) -> None:
    whole = anybody.get(BOARD).json()["results"]
    page = anybody.get(f"{BOARD}?limit=1").json()
    rows = page["results"]
    while page["next"]:
        page = anybody.get(page["next"]).json()
        rows += page["results"]

    assert rows == whole
    assert page["previous"].endswith("page=3")


@pytest.mark.usefixtures("season")
def test_an_unchanged_leaderboard_is_not_sent_again(anybody: APIClient) -> None:
    first = anybody.get(BOARD)
    again = anybody.get(BOARD, HTTP_IF_NONE_MATCH=first["ETag"])

    assert (again.status_code, again.content) == (304, b"")


def test_a_change_is_visible_when_the_cache_is_empty(
    anybody: APIClient, season
) -> None:
    before = anybody.get(BOARD)
    rate(season, make_bot("newcomer"), 50.0, 1.0)
    cache.clear()
    after = anybody.get(BOARD, HTTP_IF_NONE_MATCH=before["ETag"])

    assert after.status_code == 200
    assert after.json()["results"][0]["bot"] == "newcomer"


@pytest.mark.parametrize(
    "query", ["page=0", "page=x", "limit=201", "limit=", "season=0", "sort=mu"]
)
@pytest.mark.usefixtures("season")
def test_a_bad_query_is_refused(anybody: APIClient, query: str) -> None:
    answer = anybody.get(f"{BOARD}?{query}")

    assert answer.status_code == 400
    assert answer["Content-Type"] == "application/problem+json"


@pytest.mark.parametrize("address", ["ladders/none/leaderboard/", "ladders/none/"])
def test_an_unknown_ladder_is_not_found(anybody: APIClient, address: str) -> None:
    assert anybody.get(f"/api/v1/{address}").status_code == 404


@pytest.mark.usefixtures("season")
def test_an_unknown_season_is_not_found(anybody: APIClient) -> None:
    assert anybody.get(f"{BOARD}?season=9").status_code == 404


def test_a_page_after_the_end_is_empty(anybody: APIClient, season) -> None:
    assert anybody.get(f"{BOARD}?page=9").json()["results"] == []
    assert season.number == 1


@pytest.mark.usefixtures("season")
def test_ladders_show_their_season(anybody: APIClient) -> None:
    ladder = anybody.get("/api/v1/ladders/").json()["results"][0]

    assert ladder["slug"] == "main"
    assert ladder["season"]["number"] == 1
    assert ladder == anybody.get("/api/v1/ladders/main/").json()


def test_a_history_has_a_point_for_each_entry(anybody: APIClient, season) -> None:
    one, two = make_bot("one"), make_bot("two")
    rate(season, one, 25.0, 8.0)
    game = make_match(one, two, finished=0).games.get()
    fold(season, game, {one.bot: (27.0, 7.0), two.bot: (23.0, 7.0)})

    points = anybody.get("/api/v1/ladders/main/bots/one/history/").json()

    assert [(p["kind"], p["mu"]) for p in points] == [("join", 25.0), ("game", 27.0)]
    assert points[1]["game"] == game.pk
