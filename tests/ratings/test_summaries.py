"""The summaries of the ledger agree with it, also after voids and new versions."""

from random import Random

import pytest
from django.db import connection
from django.db.models import Model

from ladder.bots.models import Bot
from ladder.games import services as games
from ladder.games.models import Game, Seat
from ladder.ratings import rater, rebuild, skill_snapshots, statistics, summaries
from ladder.ratings.ladders import ensure_default_ladder
from ladder.ratings.models import (
    MeetingSummary,
    Rating,
    RatingPoint,
    Season,
    SeatSummary,
    SkillSnapshot,
)
from tests.games import factories
from tests.ratings.factories import finish, make_matches

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("data_dir")]


@pytest.fixture
def season() -> Season:
    """Six bots with some games, a void, a new version, and the same code again."""
    rng = Random(5)
    season = ensure_default_ladder().seasons.get()
    bots = [factories.bot(name) for name in "abcdef"]
    rater.welcome(season.pk)
    for number in range(5):
        make_matches(season, 3)
        for game in Game.objects.filter(status="scheduled"):
            ranks = [rng.randint(1, game.seats.count()) for _ in game.seats.all()]
            finish(game, ranks)
        while rater.fold(season.pk):
            pass
        if number == 2:
            games.void(Game.objects.filter(status="finished").earliest("pk").pk, "why")
            factories.submission(bots[0])
            rater.welcome(season.pk)
            while summaries.catch_up(season.pk, limit=4):
                pass
    while summaries.catch_up(season.pk, limit=7):
        pass
    season.refresh_from_db()
    return season


def test_summaries_agree_with_the_ledger(season):
    assert Game.objects.filter(status="voided").count() == 1
    assert season.entries.filter(kind="void").count() == 1
    assert summaries.differences(season.pk) == []
    assert rebuild.check(season).complaints == []
    assert not summaries.behind().exists()


def test_summaries_count_what_the_seats_say(season):
    for rating in Rating.objects.filter(season=season):
        finished = Seat.objects.filter(bot=rating.bot, game__status="finished")
        wins = finished.filter(rank=1).count()
        strength = statistics.strength(season, rating.bot)
        assert sum(cell.games for cell in strength) == rating.games == finished.count()
        assert sum(cell.wins for cell in strength) == wins
        points = RatingPoint.objects.filter(season=season, bot=rating.bot)
        last = points.latest("seq")
        assert (last.mu, last.sigma) == (rating.mu, rating.sigma)


@pytest.mark.parametrize(
    ("model", "change"),
    [
        (RatingPoint, {"mu": 1.0}),
        (SeatSummary, {"wins": 99}),
        (MeetingSummary, {"ties": 99}),
    ],
)
def test_the_check_finds_a_wrong_summary(season, model, change):
    key = model.objects.first().pk
    model.objects.filter(pk=key).update(**change)
    assert len(rebuild.check(season).complaints) == 1

    summaries.rebuild(season.pk)
    assert rebuild.check(season).complaints == []

    model.objects.filter(pk=key).delete()
    assert rebuild.check(season).complaints


def test_the_check_finds_a_wrong_snapshot(season, monkeypatch):
    monkeypatch.setattr(skill_snapshots, "SNAPSHOT_ENTRIES", 6)
    summaries.rebuild(season.pk)
    seqs = list(SkillSnapshot.objects.order_by("seq").values_list("seq", flat=True))
    assert seqs == list(range(6, season.head + 1, 6))
    assert rebuild.check(season).complaints == []

    earlier = SkillSnapshot.objects.get(seq=6)
    SkillSnapshot.objects.filter(seq=12).update(skills=earlier.skills)
    complaints = rebuild.check(season).complaints
    assert complaints == ["summaries: the skills after entry 12 are wrong"]

    summaries.rebuild(season.pk)
    assert rebuild.check(season).complaints == []


def test_snapshots_are_the_same_however_the_ledger_is_read(season, monkeypatch):
    monkeypatch.setattr(skill_snapshots, "SNAPSHOT_ENTRIES", 3)
    summaries.rebuild(season.pk)
    whole = list(SkillSnapshot.objects.order_by("seq").values_list("seq", "skills"))
    SkillSnapshot.objects.all().delete()
    for seq in range(season.head):
        skill_snapshots.keep(season.pk, seq, seq + 1)

    again = SkillSnapshot.objects.order_by("seq").values_list("seq", "skills")
    assert list(again) == whole
    skills = skill_snapshots.skills_at(season.pk, season.head)
    ratings = Rating.objects.filter(season=season).values_list("bot", "mu", "sigma")
    assert {bot: (mu, sigma) for bot, (mu, sigma) in skills.items()} == {
        bot: (mu, sigma) for bot, mu, sigma in ratings
    }


def test_two_processes_add_each_entry_once(season, monkeypatch):
    """The second one has read the cursor before the first one moved it."""
    summaries.rebuild(season.pk)
    before = sorted(MeetingSummary.objects.values_list("bot", "other", "games"))
    rebuilt = summaries._entries

    def overtaken(season_id, **bounds):
        monkeypatch.setattr(summaries, "_entries", rebuilt)
        cursor = summaries.SummaryCursor.objects.filter(season=season_id)
        rows = rebuilt(season_id, after=0)
        cursor.update(seq=season.head - 1)
        return rows

    monkeypatch.setattr(summaries, "_entries", overtaken)
    summaries.SummaryCursor.objects.update(seq=0)
    assert summaries.catch_up(season.pk) == 0
    assert before == sorted(MeetingSummary.objects.values_list("bot", "other", "games"))


def test_a_bot_whose_rating_did_not_change_has_a_point_for_its_upload(season):
    bot = Bot.objects.get(slug="a")
    kinds = RatingPoint.objects.filter(season=season, bot=bot).order_by("seq")
    assert "new_version" in kinds.values_list("kind", flat=True)


@pytest.mark.parametrize("summary", [RatingPoint, SeatSummary, MeetingSummary])
def test_the_database_checks_no_keys_of_summaries(summary: type[Model]) -> None:
    """The first games of a bot cost dozens of checks that the ledger had passed."""
    with connection.cursor() as cursor:
        table = summary._meta.db_table
        assert not connection.introspection.get_relations(cursor, table)
