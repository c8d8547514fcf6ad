"""`python -m tests.fill` makes a database for which all checks of a real one hold."""

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db.models import Count

from ladder.bots import house_bots
from ladder.bots.models import Bot
from ladder.games.models import Game, GameStatus, Seat
from ladder.ops import invariants
from ladder.ratings import checkpoints, rater, rebuild, summaries
from ladder.ratings.ladders import ensure_default_ladder
from ladder.ratings.models import Checkpoint, Membership, Rating, Season
from ladder.tournaments.models import Tournament
from tests.fill.command import Command

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("files")]


@pytest.fixture
def files(data_dir):
    """Keep the packages of the house bots in a folder of the test."""


def fill(**options: object) -> None:
    small = {"bots": 60, "games": 600, "busiest": 100, "seed": "test"}
    call_command(Command(), **(small | options))


def test_a_filled_database_is_consistent(monkeypatch):
    monkeypatch.setattr(checkpoints, "CHECKPOINT_EVERY", 300)
    fill()

    assert not [result for result in invariants.check() if not result.holds]
    season = Season.objects.get()
    report = rebuild.check(season)
    assert report.complaints == []
    assert report.entries > 600
    assert season.status == "frozen"
    assert Rating.objects.count() == Bot.objects.count()
    members = Membership.objects.filter(ladder=season.ladder, status="active")
    assert members.count() == Bot.objects.count()
    assert sorted(Checkpoint.objects.values_list("seq", flat=True)) == [300, 600]
    assert set(Tournament.objects.values_list("status", flat=True)) == {"finished"}
    statuses = set(Game.objects.values_list("status", flat=True))
    assert statuses == {"finished", "dead", "cancelled"}


def test_a_season_that_bots_have_joined_already_is_filled():
    house_bots.ensure_house_bots()
    season = ensure_default_ladder().seasons.get()
    assert rater.welcome(season.pk) == 5
    fill(games=300, tournaments=0)

    assert rebuild.check(Season.objects.get()).complaints == []
    assert not summaries.behind().exists()


def test_the_audit_finds_a_seat_with_a_wrong_tie():
    fill(games=10, busiest=2, tournaments=0)
    game = Game.objects.filter(status=GameStatus.FINISHED).earliest("pk")
    game.seats.filter(number=0).update(tied=True)

    (broken,) = [result for result in invariants.check() if not result.holds]
    assert broken.invariant == "every replay is valid and has the result of its seats"
    assert broken.violation == "1 replays are not"


def test_one_bot_has_as_many_games_as_wanted():
    fill(tournaments=0)

    counts = Seat.objects.values("submission__bot").annotate(games=Count("pk"))
    most, second = sorted((row["games"] for row in counts), reverse=True)[:2]
    assert 100 <= most <= 200
    assert second < most / 2


def test_the_ratings_are_those_of_the_ledger():
    fill(games=300, tournaments=0)
    first = list(Rating.objects.order_by("bot").values_list("mu", "sigma"))
    for model in (Rating, Checkpoint):
        model.objects.all().delete()

    assert len(first) == 65  # 60 bots and 5 house bots
    assert rebuild.rebuild(Season.objects.get()) == 65
    again = list(Rating.objects.order_by("bot").values_list("mu", "sigma"))
    assert again == first


def test_a_database_with_games_is_refused():
    fill(games=1, busiest=0, tournaments=0)

    with pytest.raises(CommandError, match="database has games"):
        fill()

    assert Game.objects.filter(status=GameStatus.FINISHED).count() <= 1


@pytest.mark.parametrize(
    "wrong", [{"bots": 3}, {"games": -1}, {"busiest": 601}, {"busiest": -1}]
)
def test_sizes_that_make_no_sense_are_refused(wrong):
    with pytest.raises(CommandError, match="Use at least"):
        fill(**wrong)
