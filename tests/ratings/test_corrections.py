"""Voided games: taken out in one pass, outside transactions, and for good."""

import subprocess
import sys
import threading
from datetime import timedelta

import pytest
from django.conf import settings
from django.db import connection
from django.db.models.functions import Now

from ladder.common.jobs import JobProcess
from ladder.dispatch.dispatcher import Dispatcher
from ladder.games import services as games
from ladder.games.models import Game, Worker
from ladder.ratings import (
    checkpoints,
    corrections,
    ledger_reader,
    ledger_writer,
    rater,
    rebuild,
)
from ladder.ratings.jobs import FOLD_VOIDS
from ladder.ratings.ladders import ensure_default_ladder
from ladder.ratings.ledger_writer import LedgerConflict
from ladder.ratings.models import Checkpoint, Entry, Pairing, Rating, Season
from tests.games import factories
from tests.games.test_kills import environment
from tests.ratings.factories import (
    Killed,
    finish_in_order,
    make_matches,
    open_games,
    play_games,
    play_some,
    rated_games,
)
from torres.rating import ledger
from torres.rating.ledger import EntryKind

pytestmark = pytest.mark.django_db


@pytest.fixture
def season(monkeypatch) -> Season:
    """A season with 40 rated games and a checkpoint at each tenth entry."""
    monkeypatch.setattr(checkpoints, "CHECKPOINT_EVERY", 10)
    monkeypatch.setattr(rater, "BATCH_GAMES", 3)
    season = ensure_default_ladder().seasons.get()
    factories.bots(6)
    rater.welcome(season.pk)
    play_games(season, 40)
    while rater.fold(season.pk, limit=3):
        pass
    return season


@pytest.fixture
def folded(monkeypatch) -> list[int]:
    """Return a list to which each entry is added that a correction folds."""
    seqs = []
    apply = ledger.apply

    def noted(state, line):
        seqs.append(line.seq)
        apply(state, line)

    monkeypatch.setattr(corrections.ledger, "apply", noted)
    return seqs


def void(game: int) -> None:
    games.void(game, "a test", replay_again=False)


def assert_consistent(season: Season) -> None:
    assert rebuild.check(season).complaints == []


def test_many_voids_are_taken_out_by_one_fold(season, folded):
    """60 voids took 60 folds in one tick: the dispatcher stood still for minutes."""
    victims = rated_games(season)[::3]
    for game in victims:
        void(game)

    assert rater.fold(season.pk) == len(victims)

    assert len(folded) == len(set(folded))
    voids = list(Entry.objects.filter(kind="void").order_by("seq"))
    assert [bool(entry.changes) for entry in voids] == [False] * 13 + [True]
    assert {entry.inputs["corrected_by"] for entry in voids} == {voids[-1].seq}
    assert_consistent(season)
    assert rater.fold(season.pk) == 0


def test_after_the_void_of_an_old_game_a_new_one_is_quick_again(season, folded):
    """The checkpoints after the old game were lost: each void folded everything."""
    first, *_, last = rated_games(season)
    void(first)
    rater.fold(season.pk)
    assert len(folded) > 30
    folded.clear()

    void(last)
    rater.fold(season.pk)

    assert len(folded) < 2 * checkpoints.CHECKPOINT_EVERY
    assert_consistent(season)


@pytest.mark.django_db(transaction=True)
def test_others_can_write_while_voids_are_folded(season, monkeypatch):
    """On SQLite, the fold held the write lock, so that every heartbeat failed."""
    worker = factories.worker("beats")
    void(rated_games(season)[0])
    apply = ledger.apply
    beats = []

    def beat() -> None:
        Worker.objects.filter(pk=worker).update(seen_at=Now() + timedelta(hours=1))
        beats.append(connection.in_atomic_block)
        connection.close()

    def interrupted(state, line):
        assert not connection.in_atomic_block
        if not beats:
            thread = threading.Thread(target=beat)
            thread.start()
            thread.join()
        apply(state, line)

    monkeypatch.setattr(corrections.ledger, "apply", interrupted)
    assert rater.fold(season.pk) == 1
    assert beats


def test_a_checkpoint_that_is_saved_too_late_is_never_used(season, monkeypatch):
    """Rater A reads its checkpoint, rater B takes a game out, A saves: A's state still
    holds the game. Ratings after later voids were wrong for ever."""
    victim, *_, later = rated_games(season)
    Checkpoint.objects.all().delete()
    read = ledger_reader.snapshot

    def read_then_let_the_other_rater_work(pk):
        stale = read(pk)
        monkeypatch.setattr(ledger_reader, "snapshot", read)
        void(victim)
        assert rater.fold(season.pk) == 1
        return stale

    monkeypatch.setattr(ledger_reader, "snapshot", read_then_let_the_other_rater_work)
    monkeypatch.setattr(checkpoints, "thin", lambda *_: None)
    checkpoints.save_present(season.pk)
    stale = Checkpoint.objects.order_by("-seq").first()
    assert stale.left_out == 0
    play_some(season, 1)

    void(rated_games(season)[-1])
    rater.fold(season.pk)
    assert_consistent(season)
    void(later)
    rater.fold(season.pk)
    assert_consistent(season)


def test_an_interrupted_fold_continues_from_its_checkpoints(season, monkeypatch):
    void(rated_games(season)[0])
    apply = ledger.apply
    seqs = []

    def dies(state, line):
        if len(seqs) == 35:
            raise Killed
        seqs.append(line.seq)
        apply(state, line)

    monkeypatch.setattr(corrections.ledger, "apply", dies)
    with pytest.raises(Killed):
        corrections.fold_voids(season.pk)
    reached = seqs[-1]
    seqs.clear()
    assert corrections.fold_voids(season.pk) == 1
    monkeypatch.setattr(corrections.ledger, "apply", apply)

    assert seqs[0] > reached - checkpoints.CHECKPOINT_EVERY
    assert_consistent(season)


def test_games_that_finish_during_a_fold_are_kept(season, monkeypatch):
    void(rated_games(season)[0])
    apply = ledger.apply
    done = []

    def interrupted(state, line):
        if not done:
            done.append(True)
            monkeypatch.setattr(corrections.ledger, "apply", apply)
            monkeypatch.setattr(corrections, "INLINE_ENTRIES", 0)
            play_some(season, 2)
        apply(state, line)

    monkeypatch.setattr(corrections.ledger, "apply", interrupted)
    assert corrections.fold_voids(season.pk) == 1

    assert Entry.objects.filter(kind="game").count() == Game.objects.count() > 40
    assert_consistent(season)


def test_of_two_folds_at_the_same_time_one_gives_up(season, monkeypatch):
    void(rated_games(season)[0])
    run = corrections.SeasonFold.run

    def slow(self, *, save):
        run(self, save=save)
        monkeypatch.setattr(corrections.SeasonFold, "run", run)
        assert corrections.fold_voids(season.pk) == 1

    monkeypatch.setattr(corrections.SeasonFold, "run", slow)
    with pytest.raises(LedgerConflict):
        corrections.fold_voids(season.pk)
    assert Entry.objects.filter(kind="void").count() == 1
    assert_consistent(season)


def test_a_long_fold_is_not_done_by_the_rater(season, monkeypatch):
    monkeypatch.setattr(corrections, "INLINE_ENTRIES", 5)
    void(rated_games(season)[0])
    assert corrections.needs_long_pass(season.pk)

    assert rater.fold(season.pk) == 0
    play_some(season, 1)

    # The new games are rated although the voided one is still in the ledger.
    finished = Game.objects.filter(status="finished").count()
    assert len(rated_games(season)) == finished
    assert Entry.objects.filter(kind="game").count() == finished + 1
    assert Entry.objects.filter(kind="void").count() == 0
    void(rated_games(season)[-1])
    assert corrections.fold_voids(season.pk) == 2
    assert not corrections.needs_long_pass(season.pk)
    assert_consistent(season)


@pytest.mark.django_db(transaction=True)
def test_the_dispatcher_starts_a_process_for_a_long_fold(season, monkeypatch):
    """A minute of folding in the tick meant a minute without hints and reaping."""
    monkeypatch.setattr(corrections, "INLINE_ENTRIES", 5)
    for name, value in environment().items():
        monkeypatch.setenv(name, value)
    void(rated_games(season)[0])
    folder = JobProcess(FOLD_VOIDS)

    folder.ensure()
    child = folder.child
    folder.ensure()  # starts no second one
    assert folder.child is child
    assert child.wait(60) == 0
    folder.ensure()

    assert Entry.objects.filter(kind="void").count() == 1
    assert folder.child is None
    assert_consistent(season)


@pytest.mark.django_db(transaction=True)
def test_the_command_takes_voided_games_out(season):
    void(rated_games(season)[2])

    subprocess.run(
        [sys.executable, str(settings.BASE_DIR / "manage.py"), "run_job", "fold_voids"],
        env=environment(),
        check=True,
    )

    assert Entry.objects.filter(kind="void").count() == 1
    assert_consistent(season)


def test_a_replacement_is_rated_after_the_void(season):
    victim = rated_games(season)[5]
    again = games.void(victim, "a test")
    assert rater.fold(season.pk) == 1
    assert Pairing.objects.get(match=again.match_id).open

    play_some(season, 1)

    assert Entry.objects.filter(game=again, kind="game").exists()
    assert_consistent(season)


def test_the_number_of_checkpoints_grows_with_the_logarithm_of_the_games():
    """A season of a million games kept 500 checkpoints, 570 MB."""
    million = 1_000_000
    every = checkpoints.CHECKPOINT_EVERY
    seqs = list(range(every, million, every))
    kept = [seq for seq in seqs if checkpoints.is_kept(seq, million)]

    assert len(kept) <= 40
    for age in range(every, million - every, every):
        start = max(seq for seq in [0, *kept] if seq <= million - age)
        assert million - start <= 1.25 * age + 2 * every
    for head in range(every, million, 50 * every):  # nothing is needed again later
        assert {seq for seq in kept if seq <= head} <= {
            seq for seq in seqs if seq <= head and checkpoints.is_kept(seq, head)
        }


def test_a_rater_that_began_before_a_rebuild_writes_nothing(season):
    """It wrote the broken ratings back: a rebuild moves no head."""
    began = Season.objects.get(pk=season.pk)
    bot = Rating.objects.filter(season=season).first()
    Rating.objects.filter(pk=bot.pk).update(mu=0)
    rebuild.rebuild(season)

    def merge_nothing(batch):
        inputs = {"parameters": ledger.asdict(batch.state.parameters)}
        batch.add(EntryKind.PARAMETERS, inputs)

    with pytest.raises(LedgerConflict):
        ledger_writer.append(began, merge_nothing)
    assert_consistent(season)


def test_a_rebuild_uses_no_old_checkpoint(season):
    Rating.objects.filter(season=season).update(mu=0)
    checkpoints.save_present(season.pk)
    rebuild.rebuild(season)

    assert Checkpoint.objects.exists()
    void(rated_games(season)[-1])
    rater.fold(season.pk)

    assert_consistent(season)
    assert open_games() == []


def test_a_backlog_of_games_is_folded_over_several_ticks(season, monkeypatch):
    """After an outage one tick folded everything, and nothing was reaped meanwhile."""
    monkeypatch.setattr("ladder.dispatch.dispatcher.FOLD_BUDGET_S", 0.0)
    make_matches(season, 4)
    waiting = open_games()
    for game in waiting:
        finish_in_order(game)
    monkeypatch.setattr(rater.fold, "__defaults__", (1,))
    monkeypatch.setattr(rater, "BATCH_GAMES", 1)

    result = Dispatcher().tick()

    assert 0 < result.folded < len(waiting)
