"""The page of a bot: its seasons, its chart, its results as pictures, its forfeits."""

from collections.abc import Callable
from dataclasses import dataclass

import pytest
from django.test import Client

from ladder.games.models import Match, Seat
from ladder.ratings.models import Rating, Season
from ladder.web.pages import bot_pages
from tests.factories import HOSTILE, Show, make_match
from tests.web.test_ladder_pages import text
from torres.drawing.charts import chart

Visit = Callable[[str], Client]
PAGE = "/bots/grendel/"


@dataclass
class Point:
    """A point of a chart."""

    submission: int | None
    mu: float = 25.0
    sigma: float = 2.0
    rating: float = 19.0


@pytest.fixture
def two_seasons(show: Show) -> Season:
    """Archive the season of `show`; Grendel is rated in the next one, too."""
    Season.objects.filter(pk=show.season.pk).update(status="archived")
    following = Season.objects.create(ladder=show.season.ladder, number=2)
    Rating.objects.create(
        season=following,
        bot=show.anas.bot,
        submission=show.anas,
        mu=44.0,
        sigma=1.0,
        seq=1,
    )
    return following


def test_the_present_season_is_shown_and_others_can_be_chosen(
    visit: Visit, two_seasons: Season
) -> None:
    page = text(visit(""), PAGE)
    assert "41.00" in page
    assert "27.00" not in page
    assert '<strong aria-current="true">Season 2</strong>' in page
    assert 'href="?ladder=main&amp;season=1">Season 1</a>' in page

    page = text(visit(""), f"{PAGE}?ladder=main&season=1")
    assert "27.00" in page
    assert "41.00" not in page
    assert "season 1, archived" in page


@pytest.mark.parametrize(
    "query",
    ["ladder=main", "season=1", "ladder=%00&season=1", "ladder=main&season=x"],
)
def test_half_a_choice_is_none(visit: Visit, two_seasons: Season, query: str) -> None:
    assert "41.00" in text(visit(""), f"{PAGE}?{query}")


def test_a_bot_without_a_present_rating_links_to_its_past(
    visit: Visit, show: Show, two_seasons: Season
) -> None:
    Rating.objects.filter(season=two_seasons).delete()

    page = text(visit(""), PAGE)

    assert "no rating in a present season" in page
    assert 'href="?ladder=main&amp;season=1">Main ladder, season 1</a>' in page
    unknown = text(visit(""), f"{PAGE}?ladder=main&season=7")
    assert "no rating in a present season" in unknown


def test_the_chart_marks_the_uploads_and_labels_do_not_overlap() -> None:
    points = [Point(None) for _ in range(101)]
    points[0] = Point(1)
    points[50] = Point(2)
    points[51] = Point(3)
    drawn = chart(points)

    assert drawn is not None
    assert [mark.number for mark in drawn.marks] == [1, 2, 3]
    assert [mark.label for mark in drawn.marks] == ["#1", "#2", ""]


def test_results_are_pictures_and_numbers(visit: Visit, show: Show) -> None:
    page = text(visit(""), PAGE)

    assert page.count('class="meter"') == 2  # one seat, one opponent
    rank = Seat.objects.get(game=show.game, bot=show.anas.bot).rank
    width = "100.0" if rank == 1 else "0.0"
    assert page.count(f'class="part" width="{width}%"') == 2


@pytest.mark.parametrize("who", ["ana", "ben", ""])
def test_forfeits_are_listed_and_details_are_for_the_owner(
    visit: Visit, show: Show, who: str
) -> None:
    seat = Seat.objects.get(game=show.game, bot=show.anas.bot)
    Seat.objects.filter(pk=seat.pk).update(fault="timeout", fault_detail=HOSTILE)

    page = text(visit(who), PAGE)

    assert "Latest forfeits" in page
    assert ">timeout</span>" in page
    assert HOSTILE not in page
    command = f"torres reproduce {show.game.pk} bot.py --seat {seat.number}"
    assert (command in page) is (who == "ana")
    assert ("alert(1)" in page.split("Latest forfeits")[1].split("Versions")[0]) is (
        who == "ana"
    )


def test_only_visible_forfeits_and_the_latest_are_listed(
    show: Show, monkeypatch: pytest.MonkeyPatch
) -> None:
    later = make_match(show.anas, show.bens)
    Seat.objects.filter(bot=show.anas.bot, rank__isnull=False).update(fault="crash")
    monkeypatch.setattr(bot_pages, "MAX_FORFEITS", 1)

    [seat] = bot_pages.latest_forfeits(show.anas.bot)
    assert seat.game.match_id == later.pk
    Match.objects.filter(pk=later.pk).update(embargo=True)
    [seat] = bot_pages.latest_forfeits(show.anas.bot)
    assert seat.game == show.game
