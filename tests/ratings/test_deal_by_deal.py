"""Two bots are compared on the decks that both have played."""

from collections.abc import Mapping

import pytest
from rest_framework.test import APIClient

from ladder.bots.models import Bot
from ladder.games.models import Game, Match, Seat
from ladder.ratings import deal_by_deal, rater, summaries, voids
from ladder.ratings.deal_by_deal import DealComparison, compare_deals
from ladder.ratings.ladders import ensure_default_ladder
from ladder.ratings.models import Season
from tests.games import factories
from tests.ratings.factories import end_probation, finish, make_matches

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("data_dir")]
NAMES = ["a-1", "b-2", "c-3", "d-4"]


def season_with(setting: str, seats: int = 2) -> Season:
    """Return the season of a ladder with a setting, and four bots on it."""
    ladder = ensure_default_ladder()
    ladder.tables = {str(seats): 1}
    if setting:
        setattr(ladder, setting, True)
    ladder.save()
    for name in NAMES:
        factories.bot(name)
    season = ladder.seasons.get()
    rater.welcome(season.pk)
    end_probation(season)
    return season


def play(season: Season, passes: int, strength: Mapping[str, int]) -> None:
    """Play and rate the games of some passes; the stronger bot finishes ahead."""
    for _ in range(passes):
        make_matches(season, 2)
        for game in Game.objects.filter(status="scheduled"):
            slugs = [seat.bot.slug for seat in game.seats.select_related("bot")]
            order = sorted(slugs, key=lambda slug: -strength[slug])
            finish(game, [order.index(slug) + 1 for slug in slugs])
        rater.fold(season.pk)
    summaries.catch_up(season.pk)


def compared(season: Season, one: str = "a-1", other: str = "b-2") -> DealComparison:
    ratings = season.ratings.select_related("bot")
    return compare_deals(
        season, ratings.get(bot__slug=one), ratings.get(bot__slug=other)
    )


STRENGTH = {"a-1": 4, "b-2": 3, "c-3": 2, "d-4": 1}


def test_bots_at_different_tables_of_a_shared_deal_are_compared() -> None:
    season = season_with("shared_deals")
    play(season, 12, STRENGTH)

    found = compared(season)
    for deal in found.deals:
        games = {*deal.one.games, *deal.other.games}
        assert len(games) > 1  # one game of one match is no comparison
        matches = Match.objects.filter(games__in=games)
        assert {match.deal_of_id for match in matches} == {deal.deal}
        assert deal.one.share == 1.0  # the best bot always wins
        ranks = Seat.objects.filter(game__in=deal.other.games, bot__slug="b-2")
        wins = ranks.filter(rank=1).count()
        assert deal.other.share == wins / len(deal.other.games)
    assert any(deal.one.games != deal.other.games for deal in found.deals)
    assert found.ahead == pytest.approx(
        sum(1 - deal.other.share for deal in found.deals) / len(found.deals)
    )
    assert found.low is None


def test_the_games_of_a_duplicate_match_are_one_deal() -> None:
    season = season_with("duplicate", seats=4)
    play(season, 3, STRENGTH)

    found = compared(season)
    assert [len(deal.one.games) for deal in found.deals] == [4] * len(found.deals)
    assert found.deals
    assert found.ahead == pytest.approx(1 / 3)  # beats three of three, and two
    assert found.points == pytest.approx(1)  # the factory gives 50 - rank
    back = compared(season, "b-2", "a-1")
    assert back.ahead == pytest.approx(-1 / 3)
    assert [d.deal for d in found.deals] == sorted(
        (d.deal for d in found.deals), reverse=True
    )


def test_the_interval_is_that_of_independent_deals(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(deal_by_deal, "MIN_DEALS", 2)
    season = season_with("shared_deals")
    play(season, 16, STRENGTH)

    found = compared(season, "a-1", "d-4")
    assert found.ahead == 1.0
    assert (found.low, found.high) == (1.0, 1.0)  # every deal says the same
    mixed = compared(season, "b-2", "c-3")
    assert mixed.low is not None
    assert mixed.high is not None
    assert mixed.ahead is not None
    assert mixed.low < mixed.ahead < mixed.high


def test_a_voided_game_does_not_count() -> None:
    season = season_with("duplicate")
    play(season, 2, STRENGTH)
    one, other = Seat.objects.filter(game=Game.objects.earliest("pk").pk)
    slugs = (one.bot.slug, other.bot.slug)
    before = compared(season, *slugs)

    voids.void(one.game_id, "the worker was broken")
    after = compared(season, *slugs)
    assert len(after.deals) == len(before.deals) - 1  # one game of it is left


def test_only_the_latest_deals_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    season = season_with("duplicate")
    play(season, 12, STRENGTH)
    everything = compared(season)
    assert len(everything.deals) > 1
    monkeypatch.setattr(deal_by_deal, "MAX_DEALS", 1)
    assert [deal.deal for deal in compared(season).deals] == [everything.deals[0].deal]


def test_the_api_and_the_page_show_the_deals(client, anybody: APIClient) -> None:
    season = season_with("shared_deals")
    play(season, 12, STRENGTH)

    answer = anybody.get("/api/v1/ladders/main/bots/a-1/against/b-2/deals/").json()
    expected = compared(season)
    assert [deal["deal"] for deal in answer["deals"]] == [
        deal.deal for deal in expected.deals
    ]
    assert answer["ahead"] == expected.ahead
    page = client.get("/ladders/main/compare/?bot=a-1&other=b-2").content.decode()
    assert "Deal by deal" in page
    assert f'<a href="/matches/{expected.deals[0].deal}/">' in page


def test_a_ladder_with_own_decks_has_no_such_section(client, anybody) -> None:
    season = season_with("")
    play(season, 2, STRENGTH)

    page = client.get("/ladders/main/compare/?bot=a-1&other=b-2").content.decode()
    assert "Deal by deal" not in page
    answer = anybody.get("/api/v1/ladders/main/bots/a-1/against/b-2/deals/").json()
    assert answer["deals"] == []
    assert answer["ahead"] is None


def test_an_unknown_bot_is_not_found(anybody) -> None:
    season_with("duplicate")
    address = "/api/v1/ladders/main/bots/a-1/against/nobody/deals/"
    assert anybody.get(address).status_code == 404
    assert Bot.objects.filter(slug="nobody").count() == 0
