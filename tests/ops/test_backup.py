"""Backup and restore, also with uploads that are older or newer than the rows."""

import io
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from ladder.bots import services as bots, submissions
from ladder.bots.models import Bot, Submission
from ladder.dispatch import leader
from ladder.games import attempts
from ladder.games.models import Game
from ladder.games.worker import registry
from ladder.games.worker.play import play
from ladder.ops import backup
from ladder.ratings import rater, rebuild
from ladder.ratings.ladders import ensure_default_ladder
from ladder.ratings.models import Season
from tests.games import factories
from tests.ratings.factories import make_matches
from torres.common.locks import locked

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def storages(settings, tmp_path, scripted_players):
    uploads = tmp_path / "submissions"
    stores = {name: dict(store) for name, store in settings.STORAGES.items()}
    stores["bots"]["OPTIONS"] = {"location": uploads}
    settings.STORAGES = stores
    settings.DATA_DIR = tmp_path / "data"
    return uploads


def upload(name: str) -> Submission:
    bot = bots.create_bot(factories.person(f"owner-of-{name}"), name)
    source = io.BytesIO(f"print({name!r})".encode())
    submission = submissions.submit(bot, source, "bot.py")
    Submission.objects.filter(pk=submission.pk).update(status="ready")
    return submission


def play_some(season: Season, count: int) -> None:
    for _ in range(count):
        make_matches(season, 1)
        game = Game.objects.filter(status="scheduled").earliest("pk")
        assert play(game.pk, factories.worker()) == "finished"
        rater.fold(season.pk)


def start() -> Season:
    season = ensure_default_ladder().seasons.get()
    for name in ("ana", "ben", "cleo"):
        upload(name)
    rater.welcome(season.pk)
    return season


def test_a_restored_backup_has_the_ratings_and_uploads_of_its_time(storages, tmp_path):
    season = start()
    play_some(season, 3)
    call_command("backup", str(tmp_path / "backup"))
    head = Season.objects.get().head
    play_some(season, 3)

    call_command("restore", str(tmp_path / "backup"))

    assert Season.objects.get().head == head
    assert rebuild.check(Season.objects.get()).complaints == []
    assert all(storages.joinpath(s.package).exists() for s in Submission.objects.all())


def test_a_game_that_was_finished_but_not_rated_is_rated_after_a_restore(
    storages, tmp_path
):
    """A busy service always has such games, and the check of ratings refuses them."""
    season = start()
    play_some(season, 1)
    make_matches(season, 1)
    game = Game.objects.get(status="scheduled")
    assert play(game.pk, factories.worker()) == "finished"
    head = Season.objects.get().head
    call_command("backup", str(tmp_path / "backup"))

    call_command("restore", str(tmp_path / "backup"))

    assert Season.objects.get().head == head + 1
    assert rebuild.check(Season.objects.get()).complaints == []


def test_a_running_game_is_played_again_after_a_restore(storages, tmp_path):
    season = start()
    make_matches(season, 1)
    attempts.claim(Game.objects.get().pk, factories.worker())

    backup.save(tmp_path / "backup")
    report = backup.restore(tmp_path / "backup")

    assert report.games_released == 1
    assert Game.objects.get().status == "scheduled"


def test_rows_newer_than_the_uploads_are_listed_and_retired(storages, tmp_path, capsys):
    start()
    upload("dora")
    backup.save(tmp_path / "backup")
    gone = Submission.objects.get(bot__slug="dora")
    (tmp_path / "backup" / "uploads" / gone.package).unlink()
    shutil.rmtree(storages)

    call_command("restore", str(tmp_path / "backup"))

    assert "missing: the files of dora #1" in capsys.readouterr().out
    gone.refresh_from_db()
    assert gone.status == "retired"
    again = submissions.submit(gone.bot, io.BytesIO(b"print('dora')"), "bot.py")
    assert again.number == gone.number + 1


def test_uploads_newer_than_the_rows_do_no_harm(storages, tmp_path):
    season = start()
    backup.save(tmp_path / "backup")
    upload("dora")

    report = backup.restore(tmp_path / "backup")

    assert report.lost_submissions == []
    assert not Submission.objects.filter(bot__slug="dora").exists()
    assert rebuild.check(season).complaints == []
    connection.close()


def file_of(folder: Path) -> Path:
    """Return the file of a backup that holds the database."""
    name = backup.SQLITE_FILE if connection.vendor == "sqlite" else backup.POSTGRES_FILE
    return folder / name


def log_size() -> int:
    """Return the size of the write-ahead log of SQLite; PostgreSQL keeps its own."""
    if connection.vendor != "sqlite":
        return 1
    database = Path(connection.settings_dict["NAME"])
    return database.with_name(f"{database.name}-wal").stat().st_size


@pytest.mark.parametrize("wrong", ["nothing", "no uploads", "damaged", "another"])
def test_a_wrong_folder_changes_nothing(storages, tmp_path, wrong):
    """The write-ahead log was deleted before the backup was even opened."""
    start()
    folder = tmp_path / "wrong"
    if wrong != "nothing":
        backup.save(folder)
    file = file_of(folder)
    if wrong == "no uploads":
        shutil.rmtree(folder / backup.UPLOADS_FOLDER)
    if wrong == "damaged":
        file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    if wrong == "another":
        file.unlink()
        with closing(sqlite3.connect(file)) as other:
            other.execute("CREATE TABLE games (name)")
    bots_before = Bot.objects.count()
    assert log_size() > 0

    with pytest.raises(CommandError, match="backup"):
        call_command("restore", str(folder))

    assert log_size() > 0
    assert Bot.objects.count() == bots_before


def test_a_restore_beside_a_running_worker_is_refused(storages, tmp_path):
    start()
    backup.save(tmp_path / "backup")
    with locked(registry._locks_folder() / "1-abc") as acquired:
        assert acquired
        with pytest.raises(CommandError, match=r"in use: worker .*#1-abc"):
            call_command("restore", str(tmp_path / "backup"))

    call_command("restore", str(tmp_path / "backup"))


def test_a_restore_beside_another_session_is_refused(storages, tmp_path):
    """Workers, schedulers and web servers of other hosts all hold sessions."""
    if connection.vendor == "sqlite":
        pytest.skip("SQLite has no sessions; the processes hold file locks")
    start()
    backup.save(tmp_path / "backup")
    with leader.direct_connection() as scheduler:
        scheduler.execute("SET application_name = 'schedule'")
        with pytest.raises(CommandError, match="in use: schedule on"):
            call_command("restore", str(tmp_path / "backup"))

    call_command("restore", str(tmp_path / "backup"))
