"""From finished games to the ledger and the ratings, on the real database."""

import threading
from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, transaction
from django.db.models.functions import Now
from django.utils import timezone
from structlog.testing import capture_logs

from ladder.bots.models import Bot, Submission
from ladder.games import attempts, blame, services as games
from ladder.games.models import Attempt, Game, Match
from ladder.games.worker import registry
from ladder.moderation.models import AuditEntry
from ladder.ratings import checkpoints, memberships, rater, rebuild, selectors
from ladder.ratings.ladders import ensure_default_ladder
from ladder.ratings.models import (
    Checkpoint,
    Entry,
    Membership,
    Pairing,
    Rating,
    Season,
)
from tests.games import factories
from tests.ratings.factories import (
    finish_in_order as finish,
    make_matches,
    open_games,
    play_some,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def season() -> Season:
    return ensure_default_ladder().seasons.get()


def board(season: Season) -> list[tuple]:
    rows = Rating.objects.filter(season=season).order_by("bot")
    return list(rows.values_list("bot", "mu", "sigma", "games", "forfeits", "seq"))


def assert_the_ledger_says_the_same(season: Season) -> None:
    assert rebuild.check(season).complaints == []


def test_bots_join_with_their_first_ready_submission(season):
    ana = factories.bot("ana")
    factories.bot("ben", ready=False)

    assert rater.welcome(season.pk) == 1
    assert rater.welcome(season.pk) == 0
    rating = Rating.objects.get()
    assert (rating.bot, rating.mu, rating.sigma) == (ana, 25.0, 25 / 3)
    assert rating.rating == pytest.approx(0)


def test_a_finished_game_moves_its_bots_once(season):
    factories.bots(4)
    rater.welcome(season.pk)
    make_matches(season, 1)
    game = open_games()[0]
    finish(game)

    assert rater.fold(season.pk) == 1
    assert rater.fold(season.pk) == 0
    entry = Entry.objects.get(game=game)
    assert entry.seq == Season.objects.get().head
    assert {change["bot"] for change in entry.changes} == {
        seat.submission.bot_id for seat in game.seats.all()
    }
    assert not Pairing.objects.get().open
    assert_the_ledger_says_the_same(season)


def test_the_ledger_is_dense_and_folds_to_the_same_bits(season):
    factories.bots(6)
    rater.welcome(season.pk)
    play_some(season)

    seqs = list(Entry.objects.values_list("seq", flat=True))
    assert seqs == list(range(1, len(seqs) + 1))
    assert_the_ledger_says_the_same(season)


def test_a_slow_game_holds_no_other_game_up(season):
    factories.bots(6)
    rater.welcome(season.pk)
    make_matches(season, 3)
    slow, *others = open_games()
    for game in others:
        finish(game)

    assert rater.fold(season.pk) == 2
    finish(slow)
    assert rater.fold(season.pk) == 1
    assert_the_ledger_says_the_same(season)


def test_a_new_version_keeps_the_mean_and_cancels_scheduled_games(season):
    ana, *_ = factories.bots(4)
    rater.welcome(season.pk)
    play_some(season, 12)
    before = Rating.objects.get(bot=ana)
    make_matches(season, 4)
    factories.submission(ana)

    assert rater.welcome(season.pk) == 1

    after = Rating.objects.get(bot=ana)
    assert after.mu == before.mu
    assert after.sigma == max(before.sigma, 25 / 3 / 4)
    assert after.games == before.games
    assert Game.objects.filter(status="cancelled").exists()
    assert not Game.objects.filter(
        status="scheduled", seats__submission__status="retired"
    ).exists()
    assert_the_ledger_says_the_same(season)


def test_an_identical_upload_changes_nothing(season):
    ana, *_ = factories.bots(3)
    rater.welcome(season.pk)
    play_some(season, 8)
    before = Rating.objects.get(bot=ana)
    Rating.objects.filter(bot=ana).update(digest="the same")
    last = factories.newest(ana)
    Submission.objects.filter(pk=last.pk).update(digest="x" * 64)
    Rating.objects.filter(bot=ana).update(digest="y" * 64)
    factories.submission(ana, digest="y" * 64)

    rater.welcome(season.pk)

    after = Rating.objects.get(bot=ana)
    assert (after.mu, after.sigma) == (before.mu, before.sigma)
    assert after.submission_id != before.submission_id


def test_a_void_undoes_one_game_everywhere_and_its_replacement_counts(season):
    factories.bots(5)
    rater.welcome(season.pk)
    play_some(season)
    victim = Entry.objects.filter(kind="game").order_by("seq")[2]

    new = games.void(victim.game_id, "a worker was broken")
    assert rater.fold(season.pk) == 1
    assert_the_ledger_says_the_same(season)
    correction = Entry.objects.get(kind="void")
    assert len(correction.changes) >= 2
    assert Entry.objects.filter(game=victim.game_id, kind="game").count() == 1

    finish(new)
    assert rater.fold(season.pk) == 1
    assert_the_ledger_says_the_same(season)


def test_voids_in_any_order_fold_as_if_the_games_were_never_rated(season):
    factories.bots(5)
    rater.welcome(season.pk)
    play_some(season)
    checkpoints.save_present(season.pk)
    rated = list(Entry.objects.filter(kind="game").order_by("seq"))
    for entry in (rated[-1], rated[1], rated[6]):
        games.void(entry.game_id, "", replay_again=False)
        rater.fold(season.pk)
        play_some(season, 1)
        checkpoints.save_present(season.pk)

    assert Checkpoint.objects.exists()
    assert_the_ledger_says_the_same(season)


def test_a_rebuild_gives_the_same_ratings(season):
    factories.bots(5)
    rater.welcome(season.pk)
    play_some(season)
    before = board(season)
    Rating.objects.filter(season=season).update(mu=0)
    with pytest.raises(CommandError):
        call_command("rebuild_ratings", "--check", stderr=StringIO())

    call_command("rebuild_ratings", stdout=StringIO())

    assert board(season) == before
    call_command("rebuild_ratings", "--check", stdout=StringIO())


@pytest.mark.parametrize("damage", ["missing", "changed", "unnumbered"])
def test_the_check_finds_damage(season, damage):
    factories.bots(4)
    rater.welcome(season.pk)
    play_some(season, 2)
    last = Entry.objects.order_by("-seq")
    if damage == "missing":
        last[2].delete()
    elif damage == "changed":
        Entry.objects.filter(pk=last[1].pk).update(changes=[])
    else:
        Season.objects.update(head=1000)

    assert rebuild.check(season).complaints


def test_a_bot_that_forfeits_in_a_row_is_benched_until_its_next_version(season):
    ana, _ben = factories.bots(2)
    rater.welcome(season.pk)
    for _ in range(rater.BENCH_AFTER):
        make_matches(season, 1)
        game = open_games()[0]
        seats = [seat.submission.bot_id for seat in game.seats.all()]
        loser = seats.index(ana.pk)
        finish(game, [1 - loser, loser], fault="crash")
        rater.fold(season.pk)

    assert place(season, ana).status == Membership.Status.BENCHED
    assert make_matches(season, 1) == 0
    factories.submission(ana)
    rater.welcome(season.pk)
    assert place(season, ana).status == Membership.Status.ACTIVE


def place(season: Season, bot: Bot) -> Membership:
    return Membership.objects.get(ladder=season.ladder, bot=bot)


def lose(
    season: Season, loser: Bot, fault: str = "", *, after_failure: bool = False
) -> None:
    """Make, finish and fold a match that a bot loses, by a forfeit if there is one.

    An attempt may have failed in the loser's seat before.
    """
    make_matches(season, 1)
    (game,) = open_games()
    bots = [seat.submission.bot_id for seat in game.seats.all()]
    last = bots.index(loser.pk)
    others = [seat for seat in range(len(bots)) if seat != last]
    if after_failure:
        claim = attempts.claim(game.pk, factories.worker())
        assert attempts.fail(claim, "killed from outside", seat=last)
    finish(game, [*others, last], fault=fault)
    rater.fold(season.pk)


def test_a_bot_that_forfeits_half_of_its_games_is_benched_and_told_why(season):
    """A bot that forfeits only when it is behind never forfeits four times in a row."""
    ana, _ben = factories.bots(2)
    rater.welcome(season.pk)
    for fault in ["timeout", ""] * 3:
        lose(season, ana, fault)
    assert place(season, ana).status == Membership.Status.ACTIVE

    lose(season, ana, "timeout")

    assert place(season, ana).status == Membership.Status.BENCHED
    entry = AuditEntry.objects.get(kind="bench")
    assert entry.why.startswith("4 of its latest 10 games with this version ended with")
    assert place(season, ana).why == entry.why


@pytest.mark.parametrize("after_failure", [True, False])
def test_a_bot_that_forfeits_again_and_again_is_benched(season, after_failure):
    """A bot that kills itself only when it loses forfeited 8 of 119 games in a day."""
    ana, _ben = factories.bots(2)
    rater.welcome(season.pk)
    for number in range(rater.BENCH_AFTER_IN_A_DAY * 4 - 3):  # the last is a forfeit
        if number % 4:
            lose(season, ana)
        else:
            assert place(season, ana).status == Membership.Status.ACTIVE
            lose(season, ana, "crash", after_failure=after_failure)

    assert place(season, ana).status == Membership.Status.BENCHED
    why = AuditEntry.objects.get(kind="bench").why
    assert why.startswith("This bot forfeited 4 of its 13 games of the last day")


def mulligan(season: Season, bot: Bot, times: int) -> None:
    """Let the bot lose games, each after a failed attempt in its seat."""
    for _ in range(times):
        lose(season, bot, after_failure=True)


def test_a_bot_whose_attempts_fail_is_benched_until_they_no_longer_count(season):
    """A new version, or its owner, ended the bench, and it played on at once."""
    ana, _ben = factories.bots(2)
    rater.welcome(season.pk)
    for _ in range(10):
        lose(season, ana)
    mulligan(season, ana, blame.MAX_FAILED_GAMES - 1)
    factories.submission(ana)
    rater.welcome(season.pk)
    assert place(season, ana).status == Membership.Status.ACTIVE

    with capture_logs() as lines:
        mulligan(season, ana, 1)

    assert place(season, ana).status == Membership.Status.BENCHED
    assert "failed in its seat" in place(season, ana).why
    (alarm,) = [line for line in lines if line["event"].startswith("bot benched for")]
    assert (alarm["log_level"], alarm["bot"]) == ("critical", ana.slug)
    factories.submission(ana)
    rater.welcome(season.pk)
    assert place(season, ana).status == Membership.Status.BENCHED
    with pytest.raises(memberships.MembershipRefused, match="failed in its seat"):
        memberships.join(ana, season.ladder)
    a_day_ago = timezone.now() - blame.OFFENCE_WINDOW
    # The clock of SQLite is cut to milliseconds, so it may still be a moment before.
    Attempt.objects.update(ended_at=a_day_ago - timedelta(minutes=1))
    assert memberships.join(ana, season.ladder).status == Membership.Status.ACTIVE


def test_a_bot_that_left_does_not_come_back_while_its_failures_count(season):
    ana, _ben = factories.bots(2)
    rater.welcome(season.pk)
    mulligan(season, ana, blame.MAX_FAILED_GAMES)
    memberships.leave(ana, season.ladder)

    with pytest.raises(memberships.MembershipRefused):
        memberships.join(ana, season.ladder)


def test_a_version_that_forfeits_rarely_is_not_benched_for_older_ones(season):
    ana, _ben = factories.bots(2)
    rater.welcome(season.pk)
    for _ in range(rater.BENCH_AFTER - 1):
        lose(season, ana, "crash")
    factories.submission(ana)
    rater.welcome(season.pk)
    for _ in range(40):
        lose(season, ana)

    lose(season, ana, "timeout")

    assert place(season, ana).status == Membership.Status.ACTIVE


@pytest.mark.parametrize(
    ("forfeits", "games", "benched"),
    [(3, 3, False), (4, 4, True), (4, 133, True), (4, 134, False), (30, 1_000, True)],
)
def test_few_forfeits_among_many_games_bench_nobody(forfeits, games, benched):
    assert bool(rater.day_reason(forfeits, games)) is benched


def test_a_bot_that_is_benched_leaves_no_game_behind(season):
    ana, ben = factories.bots(2)
    rater.welcome(season.pk)
    for _ in range(rater.BENCH_AFTER - 1):
        lose(season, ana, "crash")
    make_matches(season, 1)
    (last_game,) = open_games()
    waiting = factories.match([ana, ben]).games.get()
    running = factories.match([ben, ana]).games.get()
    others = Match.objects.filter(games__in=[waiting, running])
    others.update(ladder=season.ladder.slug)
    assert attempts.claim(running.pk, registry.current_worker())
    loser = [seat.submission.bot_id for seat in last_game.seats.all()].index(ana.pk)

    finish(last_game, [1 - loser, loser], fault="crash")
    rater.fold(season.pk)

    waiting.refresh_from_db()
    assert (waiting.status, waiting.note) == ("cancelled", "bot-0 is benched")
    running.refresh_from_db()
    assert (running.status, running.owner) == ("cancelled", None)
    assert AuditEntry.objects.get(kind="bench").details["cancelled"] == 2


def test_forfeits_of_an_older_version_count_in_the_rule_of_a_day(season):
    """Otherwise each upload starts anew: one more line of comment is enough."""
    ana, _ben = factories.bots(2)
    rater.welcome(season.pk)
    for _ in range(rater.BENCH_AFTER - 1):
        lose(season, ana, "crash")
    factories.submission(ana)
    rater.welcome(season.pk)
    assert place(season, ana).status == Membership.Status.ACTIVE

    lose(season, ana, "crash")

    assert place(season, ana).status == Membership.Status.BENCHED


def test_a_bot_that_its_owner_brought_back_is_judged_at_its_next_forfeit(season):
    ana, _ben = factories.bots(2)
    rater.welcome(season.pk)
    for _ in range(rater.BENCH_AFTER):
        lose(season, ana, "crash")
    entry = AuditEntry.objects.get(kind="bench")
    assert entry.why.startswith("Each of its latest 4 games with this version ended")
    memberships.join(ana, season.ladder)

    lose(season, ana)
    assert place(season, ana).status == Membership.Status.ACTIVE
    lose(season, ana, "crash")
    assert place(season, ana).status == Membership.Status.BENCHED


def test_two_bots_of_one_owner_never_meet(season):
    factories.bot("one", owner="ana")
    factories.bot("two", owner="ana")
    rater.welcome(season.pk)

    assert make_matches(season, 3) == 0
    factories.bot("three", owner="ben")
    rater.welcome(season.pk)
    make_matches(season, 6)
    for game in open_games():
        owners = [seat.submission.bot.owner_id for seat in game.seats.all()]
        assert len(set(owners)) == len(owners)


def test_the_leaderboard_is_sorted_by_the_shown_rating(season):
    factories.bots(6)
    rater.welcome(season.pk)
    play_some(season, 6)

    ratings = [row.mu - 3 * row.sigma for row in selectors.ratings_best_first(season)]
    assert ratings == sorted(ratings, reverse=True)


@pytest.mark.django_db(transaction=True)
def test_raters_at_the_same_time_rate_every_game_once():
    season = ensure_default_ladder().seasons.get()
    factories.bots(6)
    rater.welcome(season.pk)
    for _ in range(12):
        make_matches(season, 2)
        for game in open_games():
            finish(game)
    start = threading.Barrier(4)

    def run() -> None:
        start.wait()
        for _ in range(30):
            rater.fold(season.pk, limit=2)
        connection.close()

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert Entry.objects.filter(kind="game").count() == 24
    assert_the_ledger_says_the_same(season)


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(connection.vendor == "sqlite", reason="one writer at a time")
def test_a_pairing_that_gets_another_game_at_this_moment_stays_open():
    """The rater decided by what it saw before it waited for the row of the pairing.

    The replacement of a voided game was played, and never rated.
    """
    season = ensure_default_ladder().seasons.get()
    factories.bots(3)
    rater.welcome(season.pk)
    make_matches(season, 1)
    game = open_games()[0]
    finish(game)
    rater.fold(season.pk)
    Pairing.objects.update(open=True)  # as after the void of another of its games

    def fold() -> None:
        rater.fold(season.pk)
        connection.close()

    thread = threading.Thread(target=fold)
    with transaction.atomic():
        new = games.void(game.pk, "our fault")
        Pairing.objects.update(open=True)
        thread.start()
        thread.join(1)
    thread.join()

    assert Pairing.objects.get().open
    finish(new)
    while rater.fold(season.pk):
        pass
    assert_the_ledger_says_the_same(season)


def test_a_pairing_that_was_closed_too_early_is_opened(season):
    """Its game would be played and never rated, without an alarm."""
    factories.bots(3)
    rater.welcome(season.pk)
    make_matches(season, 2)
    assert rater.open_closed_pairings(season.pk) == 0
    game = open_games()[0]
    Pairing.objects.filter(match=game.match_id).update(open=False)

    assert rater.open_closed_pairings(season.pk) == 1

    finish(game)
    assert rater.fold(season.pk) == 1
    assert_the_ledger_says_the_same(season)


def test_a_dead_game_that_is_revived_counts(season):
    factories.bots(3)
    rater.welcome(season.pk)
    make_matches(season, 1)
    game = open_games()[0]
    Game.objects.filter(pk=game.pk).update(status="dead")
    rater.fold(season.pk)

    games.revive(game.pk)
    finish(game)  # before the rater has looked at it again

    assert rater.fold(season.pk) == 1
    assert not Pairing.objects.get().open
    assert_the_ledger_says_the_same(season)


def test_a_game_that_is_voided_before_it_was_rated_never_was(season):
    factories.bots(3)
    rater.welcome(season.pk)
    make_matches(season, 1)
    game = open_games()[0]
    finish(game)
    new = games.void(game.pk, "our fault")

    assert rater.fold(season.pk) == 0
    finish(new)
    assert rater.fold(season.pk) == 1
    assert_the_ledger_says_the_same(season)


def test_most_looks_for_new_versions_read_only_what_became_ready_lately(season):
    """Each second, all submissions of the service were read: 50 to 110 ms."""
    ana, *_ = factories.bots(3)
    lately = timedelta(minutes=1)
    assert rater.welcome(season.pk, ready_within=lately) == 3
    old = factories.submission(ana)
    Submission.objects.filter(pk=old.pk).update(ready_at=Now() - 2 * lately)
    Membership.objects.update(changed_at=Now() - 2 * lately)

    assert rater.welcome(season.pk, ready_within=lately) == 0
    assert rater.welcome(season.pk) == 1
    older = ana.submissions.get(number=1)
    Submission.objects.filter(pk=old.pk).update(status="retired")
    Submission.objects.filter(pk=older.pk).update(status="ready", ready_at=Now())
    assert rater.welcome(season.pk, ready_within=lately) == 1
    assert Rating.objects.get(bot=ana).submission_id == older.pk


def test_a_bot_that_joins_is_found_by_the_quick_look(season):
    """Its upload may have been ready for months."""
    ana, *_ = factories.bots(3)
    lately = timedelta(minutes=1)
    rater.welcome(season.pk)
    memberships.leave(ana, season.ladder)
    new = factories.submission(ana)
    Submission.objects.filter(pk=new.pk).update(ready_at=Now() - 2 * lately)
    assert rater.welcome(season.pk, ready_within=lately) == 0

    memberships.join(ana, season.ladder)

    assert rater.welcome(season.pk, ready_within=lately) == 1
    assert Rating.objects.get(bot=ana).submission_id == new.pk


def test_a_finished_game_without_a_rank_does_not_stop_the_others(season: Season):
    """A worker that was taken over can write such a result (`ops.worker_access`)."""
    for number in range(8):
        factories.bot(f"bot-{number}")
    rater.welcome(season.pk)
    make_matches(season, 4)
    spoiled, *others = open_games()
    for game in [spoiled, *others]:
        finish(game)
    spoiled.seats.update(rank=None, score=None, tied=False)

    assert rater.fold(season.pk) == len(others)
    assert rater.fold(season.pk) == 0
    assert list(rater.unrated(season.pk)) == [spoiled]
