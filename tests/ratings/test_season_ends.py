"""The end of a season: nothing is made, voided or played again after it."""

import threading
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, transaction

from ladder.bots.models import Bot
from ladder.games import attempts, services, worker_health
from ladder.games.models import Game, Worker
from ladder.games.services import NotNow
from ladder.moderation.audit import Operator
from ladder.moderation.models import AuditEntry
from ladder.ratings import (
    memberships,
    operations,
    rater,
    rebuild,
    seasons,
    voids,
)
from ladder.ratings.ladders import ensure_default_ladder
from ladder.ratings.matchmaking import MatchmakingSession
from ladder.ratings.models import Ladder, Rating, Season
from tests.games import factories
from tests.ratings.factories import finish_in_order, make_matches, play_some

pytestmark = pytest.mark.django_db
Kind = AuditEntry.Kind
OPERATOR = Operator(None, "a test")


@pytest.fixture
def season() -> Season:
    season = ensure_default_ladder().seasons.get()
    factories.bots(6)
    rater.welcome(season.pk)
    play_some(season, 2)
    return Season.objects.select_related("ladder").get(pk=season.pk)


def archive(season: Season) -> None:
    operations.move_season(OPERATOR, season, Kind.ARCHIVE)


def test_no_match_is_made_in_a_season_that_was_archived_meanwhile(season):
    """The dispatcher read the season, the operator archived it, the dispatcher paired:
    three games were played and never rated."""
    session = MatchmakingSession()
    session.pair(season, 1)
    finish_in_order(Game.objects.get(status="scheduled"))
    before = Game.objects.count()
    archive(Season.objects.get(pk=season.pk))
    assert season.status == Season.Status.OPEN  # as the dispatcher has read it

    assert session.pair(season, 3) == 0
    assert Game.objects.count() == before


@pytest.mark.parametrize("status", ["frozen", "finals"])
def test_no_match_is_made_after_a_freeze_or_before_finals(season, status):
    session = MatchmakingSession()
    Season.objects.filter(pk=season.pk).update(status=status)

    assert session.pair(season, 3) == 0


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(connection.vendor == "sqlite", reason="one writer at a time")
def test_an_archive_waits_for_a_match_that_is_being_made(season):
    made = threading.Event()
    archived = threading.Event()

    def end() -> None:
        made.wait()
        with pytest.raises(NotNow, match="1 games that are scheduled"):
            seasons.archive(Season.objects.get(pk=season.pk))
        archived.set()
        connection.close()

    thread = threading.Thread(target=end)
    thread.start()
    with transaction.atomic():
        assert MatchmakingSession().pair(season, 1) == 1
        made.set()
        assert not archived.wait(1)
    thread.join()


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(connection.vendor == "sqlite", reason="one writer at a time")
def test_a_game_that_a_worker_claims_at_this_moment_is_not_cancelled(season):
    """The chaos found it: the end of the season failed with an IntegrityError."""
    MatchmakingSession().pair(season, 1)
    game = Game.objects.get(status="scheduled")
    cancelled = []

    def end() -> None:
        cancelled.append(seasons.close(Season.objects.get(pk=season.pk)))
        connection.close()

    thread = threading.Thread(target=end)
    with transaction.atomic():
        assert attempts.claim(game.pk, factories.worker())
        thread.start()
        thread.join(1)
    thread.join()

    assert cancelled == [0]
    game.refresh_from_db()
    assert game.status == "running"


def test_a_game_of_an_archived_season_is_not_voided(season):
    """The void was accepted, but never folded: the audit failed for ever."""
    archive(season)
    game = Game.objects.filter(status="finished").first()

    with pytest.raises(NotNow, match="archived: its results are final"):
        operations.void(OPERATOR, game.pk)
    with pytest.raises(NotNow, match="archived"):
        operations.rerun(OPERATOR, game.pk)
    with pytest.raises(CommandError, match="archived"):
        call_command("operator", "void", str(game.pk), "--why=x", stdout=StringIO())

    game.refresh_from_db()
    assert game.status == "finished"
    assert rebuild.check(season).complaints == []


def test_a_dead_game_of_an_archived_season_is_not_played_again(season):
    make_matches(season, 1)
    game = Game.objects.get(status="scheduled")
    Game.objects.filter(pk=game.pk).update(status="dead")
    archive(season)

    with pytest.raises(NotNow, match="archived"):
        operations.rerun(OPERATOR, game.pk)


def test_the_drain_of_a_sick_worker_leaves_archived_seasons_alone(season, monkeypatch):
    archive(season)
    installation = (
        Worker.objects.filter(attempts__isnull=False).distinct().get().installation
    )
    monkeypatch.setattr(worker_health, "dropwhile", lambda _, games: games)

    assert worker_health._void_games_of(installation, voids.void) == []
    assert worker_health._void_games_of(installation, services.void)


def test_an_archive_that_must_wait_succeeds_later(season):
    """It took its own cancelling back, so that each call met the same games again."""
    make_matches(season, 3)
    running = Game.objects.filter(status="scheduled").first()
    claim = attempts.claim(running.pk, factories.worker())

    with pytest.raises(NotNow, match="1 games that are scheduled or running"):
        archive(season)
    assert Game.objects.filter(status="cancelled").count() == 2
    season.refresh_from_db()
    assert season.status == Season.Status.FROZEN
    assert AuditEntry.objects.get(kind=Kind.FREEZE).details == {"cancelled": 2}

    attempts.release(running.pk, claim.fence, "a test")
    archive(season)
    season.refresh_from_db()
    assert season.status == Season.Status.ARCHIVED
    assert rebuild.check(season).complaints == []


def test_a_season_is_not_archived_while_a_voided_game_counts(season, monkeypatch):
    voids.void(
        Game.objects.filter(status="finished").first().pk, "", replay_again=False
    )
    monkeypatch.setattr(rater.corrections, "INLINE_ENTRIES", -1)
    with pytest.raises(NotNow, match="1 voided games that are still counted"):
        archive(season)
    rater.corrections.fold_voids(season.pk)
    archive(season)
    assert rebuild.check(season).complaints == []


def test_finals_end_when_no_finalist_may_play(season):
    seasons.start_finals(season, prizes=2)
    assert not seasons.settle(season)
    Bot.objects.exclude(slug="bot-0").update(status=Bot.Status.WITHDRAWN)

    assert seasons.settle(season)
    assert season.status == Season.Status.FROZEN


def test_finals_end_when_all_finalists_have_one_owner(season):
    seasons.start_finals(season, prizes=2)
    Bot.objects.update(owner=factories.person("ana"))

    assert seasons.settle(season)


def test_finals_are_played_once(season):
    seasons.start_finals(season, prizes=1)
    seasons.freeze(season)

    with pytest.raises(NotNow, match="were played"):
        seasons.start_finals(season, prizes=1)


def test_finals_without_prizes_are_refused(season):
    """`--prizes 0` became 3, silently."""
    with pytest.raises(CommandError, match="1 to 1,000"):
        call_command("operator", "finals", "main", "--prizes=0", "--why=x")


def test_the_next_season_keeps_benched_bots_benched(season):
    """A new season of any ladder let every benched bot of the service play."""
    benched = Rating.objects.get(bot__slug="bot-1")
    uploads = Rating.objects.get(bot__slug="bot-2")
    for rating in (benched, uploads):
        memberships.bench(season, rating, "a test")
    other = Ladder.objects.create(
        slug="other",
        name="Other",
        ruleset="yucata",
        tables={"2": 1},
        limits=factories.LIMITS,
    )
    other_season = seasons.start_season(other)
    memberships.join(benched.bot, other)
    rater.welcome(other_season.pk)
    archive(season)
    rater.welcome(seasons.start_season(season.ladder).pk)
    assert memberships.place(benched.bot, season.ladder).status == "benched"

    factories.submission(uploads.bot)
    rater.welcome(Season.objects.get(ladder=season.ladder, number=2).pk)

    assert memberships.place(uploads.bot, season.ladder).status == "active"
    entry = AuditEntry.objects.get(kind=Kind.REINSTATE)
    assert (entry.target, entry.why) == ("bot bot-2", "it has a new version")


def test_a_new_version_and_the_end_of_its_old_games_are_one_step(season, monkeypatch):
    """A rater that was killed between the two left games of a retired upload."""
    make_matches(season, 4)
    bot = Bot.objects.get(slug="bot-3")
    old = Rating.objects.get(season=season, bot=bot).submission_id
    factories.submission(bot)

    def dies(*_):
        raise RuntimeError

    with monkeypatch.context() as patch:
        patch.setattr(rater.games, "cancel_games_of", dies)
        with pytest.raises(RuntimeError):
            rater.welcome(season.pk)
    assert Rating.objects.get(season=season, bot=bot).submission_id == old

    rater.welcome(season.pk)
    waiting = Game.objects.filter(status="scheduled", seats__submission=old)
    assert not waiting.exists()
