"""The matchmaker at its ladder: what it reads, and whom it refuses at the end."""

import pytest

from ladder.bots.models import Bot
from ladder.games.models import Game, Match
from ladder.ratings import matchmaking, rater, rebuild
from ladder.ratings.ladders import ensure_default_ladder
from ladder.ratings.matchmaking import MatchmakingSession
from ladder.ratings.models import Ladder, Pairing, Rating, Season
from tests.games import factories
from tests.ratings.factories import make_matches
from tests.ratings.test_simulation import finish

pytestmark = pytest.mark.django_db


@pytest.fixture
def season() -> Season:
    season = ensure_default_ladder().seasons.get()
    factories.bots(5)
    rater.welcome(season.pk)
    return Season.objects.select_related("ladder").get(pk=season.pk)


def sitting() -> set[str]:
    games = Game.objects.filter(status="scheduled")
    return set(games.values_list("seats__submission__bot__slug", flat=True))


def test_a_desk_sees_who_came_and_what_moved(season):
    desk = MatchmakingSession()
    desk.pair(season, 1)
    finish(Game.objects.get(), list(range(1, Match.objects.get().seats + 1)))
    rater.fold(season.pk)
    factories.bot("late")
    rater.welcome(season.pk)

    assert desk.pair(season, 6) == 6
    assert "late" in sitting()


def test_who_was_banned_since_the_last_look_gets_no_seat(season):
    desk = MatchmakingSession()
    desk.pair(season, 1)
    Game.objects.update(status="cancelled")
    Bot.objects.filter(slug="bot-2").update(status="banned")

    for _ in range(10):
        desk.pair(season, 1)

    assert sitting() == {"bot-0", "bot-1", "bot-3", "bot-4"}


def test_a_desk_forgets_who_left_when_it_looks_at_everything(season, monkeypatch):
    monkeypatch.setattr(matchmaking, "RELOAD_S", 0)
    desk = MatchmakingSession()
    desk.pair(season, 1)
    Game.objects.update(status="cancelled")
    Bot.objects.filter(slug="bot-2").update(status="withdrawn")

    assert desk.pair(season, 5) == 5
    assert "bot-2" not in sitting()


def test_a_crashing_bot_whose_game_was_cancelled_plays_on(season):
    Rating.objects.filter(bot__slug="bot-1").update(streak=4)
    desk = MatchmakingSession()
    for _ in range(3):
        desk.pair(season, 3)
        assert "bot-1" in sitting()
        Game.objects.filter(status="scheduled").update(status="cancelled")
        for slug in ("bot-0", "bot-2", "bot-3", "bot-4"):
            player = desk._matchmaker.pool[Bot.objects.get(slug=slug).pk]
            desk._matchmaker.pool.charge(player, 9)


def test_a_new_desk_remembers_who_sat_where(season):
    Ladder.objects.update(tables={"4": 1})
    season.ladder.refresh_from_db()
    for _ in range(20):
        MatchmakingSession().pair(season, 1)

    for bot in Bot.objects.all():
        seats = [
            Game.objects.filter(seats__submission__bot=bot, seats__number=k).count()
            for k in range(4)
        ]
        assert max(seats) - min(seats) <= 2


def test_every_match_keeps_why_it_was_made(season):
    make_matches(season, 1)

    why = Pairing.objects.get().why
    assert why["first"]["bot"] in Bot.objects.values_list("pk", flat=True)
    assert why["reasons"][0].startswith("It was the turn of bot-")


def test_duplicate_matches_rotate_the_seats_and_rate_each_game(season):
    Ladder.objects.update(duplicate=True, tables={"3": 1})
    season.ladder.refresh_from_db()
    make_matches(season, 1)
    match = Match.objects.get()

    games = list(match.games.order_by("index"))
    tables = [
        [seat.submission_id for seat in game.seats.order_by("number")] for game in games
    ]
    assert tables[1] == [*tables[0][1:], tables[0][0]]
    assert tables[2] == [*tables[0][2:], *tables[0][:2]]
    for game in games:
        finish(game, [1, 2, 3])
    assert rater.fold(season.pk) == 3
    season.refresh_from_db()
    assert rebuild.check(season).complaints == []
