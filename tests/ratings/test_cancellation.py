"""Bots that may no longer play: the dispatcher cancels their games, and pairs none."""

import pytest
from django.contrib.auth.models import User

from engine.rulesets import resolve
from ladder.bots import services as owner
from ladder.bots.models import Bot
from ladder.dispatch.dispatcher import Dispatcher
from ladder.games.models import Game, Match, Worker
from ladder.ratings import challenges, rater, selectors
from ladder.ratings.cancellation import cancel_unplayable
from ladder.ratings.ladders import ensure_default_ladder
from ladder.ratings.models import Season
from tests.games import factories
from tests.ratings.factories import make_matches

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.usefixtures("data_dir", "scripted_players"),
]


@pytest.fixture
def season() -> Season:
    """A season of four bots of four owners, with three scheduled matches."""
    season = ensure_default_ladder().seasons.get()
    factories.bots(4)
    rater.welcome(season.pk)
    make_matches(season, 3)
    return season


def bot() -> Bot:
    """Return a bot that has a scheduled game."""
    game = Game.objects.filter(status="scheduled").earliest("pk")
    return game.seats.get(number=0).submission.bot


def withdraw(bot: Bot) -> None:
    owner.withdraw(bot)


def ban(bot: Bot) -> None:
    Bot.objects.filter(pk=bot.pk).update(status="banned")


def deactivate_owner(bot: Bot) -> None:
    User.objects.filter(pk=bot.owner_id).update(is_active=False)


def delete_owner(bot: Bot) -> None:
    User.objects.get(pk=bot.owner_id).delete()


def replace_upload(bot: Bot) -> None:
    """A process was killed after the new version, before it cancelled the games."""
    bot.submissions.update(status="retired")


LEAVINGS = [
    withdraw,
    ban,
    deactivate_owner,
    delete_owner,
    replace_upload,
]


def scheduled_games(bot: Bot) -> int:
    seats = Game.objects.filter(status="scheduled", seats__submission__bot=bot)
    return seats.count()


@pytest.mark.parametrize("leave", LEAVINGS)
def test_the_scheduled_games_of_a_bot_that_left_are_cancelled(season, leave):
    gone = bot()
    others = Game.objects.exclude(seats__submission__bot=gone).count()
    leave(gone)

    Dispatcher().tick()

    assert scheduled_games(gone) == 0
    assert Game.objects.filter(status="cancelled").exclude(note="").exists()
    assert Game.objects.filter(status="scheduled").count() >= others


@pytest.mark.parametrize("leave", LEAVINGS)
def test_a_bot_that_left_is_not_paired_again(season, leave):
    """Bots of deleted accounts counted as those of different owners."""
    gone = bot()
    leave(gone)
    cancel_unplayable()
    Worker.objects.all().delete()

    make_matches(season, 3)

    assert scheduled_games(gone) == 0
    eligible = {row.profile.bot for row in selectors.eligible_bots(season)}
    assert gone.pk not in eligible


@pytest.mark.parametrize("leave", [deactivate_owner, delete_owner])
def test_nobody_can_challenge_a_bot_without_an_owner(season, leave):
    gone = bot()
    leave(gone)
    mine = Bot.objects.exclude(pk=gone.pk).first()

    with pytest.raises(challenges.BadChallenge, match="There is no bot"):
        challenges.challenge(mine.owner, season.ladder, [mine.slug, gone.slug])


def test_games_of_tournaments_and_of_finals_stay(season):
    gone = bot()
    Match.objects.update(kind="tournament")
    withdraw(gone)
    assert cancel_unplayable() == 0

    Match.objects.update(kind="ladder")
    owner.bring_back(gone)
    replace_upload(gone)
    Season.objects.update(status="finals")
    assert cancel_unplayable() == 0

    Season.objects.update(status="open")
    assert cancel_unplayable() > 0


def test_a_match_keeps_the_switches_of_its_day(season):
    """A corrected edition must not change a game that is scheduled already."""
    match = Match.objects.first()

    assert match.switches == resolve(match.ruleset, match.seats).switches()
