"""Backup and restore: one folder holds the database and the uploaded packages.

Results and replays are rows of the database, so they always belong together. Uploaded
packages are files: after a restore they may be older or newer than the rows, and
`reconcile` makes both agree.
"""

import os
import shutil
import sqlite3
import subprocess
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from django.core.files.base import File
from django.core.files.storage import storages
from django.core.management.base import CommandError
from django.db import connection, transaction

from ladder.bots.models import LOST_DIGEST, Submission
from ladder.dispatch import leader
from ladder.games.models import Worker
from ladder.games.worker import registry
from ladder.ops.exclusion import alone
from ladder.ops.programs import find_program
from torres.common.pause import pause

SQLITE_FILE = "database.sqlite3"
POSTGRES_FILE = "database.pgdump"
UPLOADS_FOLDER = "uploads"
SESSION_END_TIMEOUT_S = 3.0
FILES_MISSING = "The restored backup does not hold its files. Upload it again."


@dataclass(frozen=True, slots=True)
class RestoreReport:
    """The submissions that lost their files, and the number of games to play again."""

    lost_submissions: Sequence[str]
    games_released: int


def save(folder: Path) -> int:
    """Write a backup into a new folder and return the number of uploaded packages.

    The service may run meanwhile. The packages are copied after the database, so that
    no row of the backup lacks its files.
    """
    folder.mkdir(parents=True)
    with alone("The database is prepared, or saved, meanwhile. Waiting until it is …"):
        _save_database(folder)
    uploads = folder / UPLOADS_FOLDER
    uploads.mkdir()
    storage = storages["bots"]
    packages = {submission.package for submission in Submission.objects.all()}
    for package in packages:
        if storage.exists(package):
            target = uploads / package
            target.parent.mkdir(parents=True, exist_ok=True)
            with storage.open(package) as source, target.open("wb") as out:
                shutil.copyfileobj(source, out)
    return len(packages)


def _save_database(folder: Path) -> None:
    if connection.vendor == "sqlite":
        with closing(sqlite3.connect(folder / SQLITE_FILE)) as copy:
            connection.ensure_connection()
            connection.connection.backup(copy)
    else:
        _run("pg_dump", "--format=custom", f"--file={folder / POSTGRES_FILE}")


class BadBackup(CommandError):
    """The folder is no whole backup of the kind of database that is in use."""


class ServiceRuns(CommandError):
    """A part of the service runs, so its database cannot be replaced."""


def check(folder: Path) -> None:
    """Read the whole backup before anything is replaced. Raises BadBackup."""
    name = SQLITE_FILE if connection.vendor == "sqlite" else POSTGRES_FILE
    shown = str(folder)[:200]
    try:
        whole = (folder / name).is_file() and (folder / UPLOADS_FOLDER).is_dir()
    except (OSError, ValueError):  # a name that the file system does not permit
        whole = False
    if not whole:
        raise BadBackup(
            f"{shown} is not a backup of this kind of database: it lacks {name} or"
            f" {UPLOADS_FOLDER}/. Name a folder that manage.py backup wrote."
        )
    readable = _sqlite_is_whole if connection.vendor == "sqlite" else _dump_is_whole
    if not readable(folder / name):
        raise BadBackup(
            f"The database in {shown} is damaged or of another program. Nothing was"
            " changed. Restore another backup."
        )


def _sqlite_is_whole(path: Path) -> bool:
    try:
        with closing(
            sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)
        ) as db:
            intact = db.execute("PRAGMA quick_check").fetchone() == ("ok",)
            rows = db.execute("SELECT name FROM sqlite_master").fetchall()
    except sqlite3.Error:
        return False
    table = Submission._meta.db_table  # noqa: SLF001 -- the documented way
    return intact and (table,) in rows


def _dump_is_whole(path: Path) -> bool:
    """True if pg_restore can read all of the dump; its SQL is thrown away."""
    command = [find_program("pg_restore"), "--file=/dev/null", str(path)]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def require_rest() -> None:
    """Raise ServiceRuns if a process of the service runs, on any host.

    With PostgreSQL every other session counts: workers, dispatchers and web servers.
    With SQLite all processes are on this host: the workers hold file locks. The caller
    holds the lock of `up`.
    """
    users = [f"worker {process}" for process in registry.live_processes()]
    if connection.vendor != "sqlite":
        connection.close()
        connection.close_pool()  # type: ignore[attr-defined]
        users += _other_sessions()
    if users:
        raise ServiceRuns(
            f"The database is in use: {', '.join(users[:5])}. Stop all workers,"
            " schedulers and web servers on all hosts, and other programs that use it;"
            " then restore."
        )


def _other_sessions() -> list[str]:
    """Describe the sessions of others. Our own may take a moment to end."""
    deadline = time.monotonic() + SESSION_END_TIMEOUT_S
    with leader.direct_connection() as session:
        while True:
            rows = session.execute(
                "SELECT COALESCE(NULLIF(application_name, ''), 'a program'),"
                " COALESCE(HOST(client_addr), 'this host') FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
                " AND backend_type = 'client backend'"
            ).fetchall()
            if not rows or time.monotonic() > deadline:
                return [f"{program} on {host}" for program, host in rows]
            pause(0.1)


def restore(folder: Path) -> RestoreReport:
    """Replace the database by that of a backup, and add the packages that are missing.

    Nothing is deleted before the whole backup was read. Raises BadBackup and, if the
    service runs, ServiceRuns.
    """
    check(folder)
    require_rest()
    connection.close()
    if connection.vendor == "sqlite":
        _replace_sqlite(folder / SQLITE_FILE, Path(connection.settings_dict["NAME"]))
    else:
        options = ("--clean", "--if-exists", "--no-owner", "--no-privileges")
        _run(
            "pg_restore", "--single-transaction", *options, str(folder / POSTGRES_FILE)
        )
    storage = storages["bots"]
    for path in sorted((folder / UPLOADS_FOLDER).rglob("*")):
        package = path.relative_to(folder / UPLOADS_FOLDER).as_posix()
        if path.is_file() and not storage.exists(package):
            with path.open("rb") as source:
                storage.save(package, File(source))
    return reconcile()


def _replace_sqlite(source: Path, target: Path) -> None:
    """Copy beside the old database first, so that a full disk loses nothing."""
    draft = target.with_name(f".{target.name}.restored")
    try:
        shutil.copyfile(source, draft)
        for suffix in ("-wal", "-shm"):
            target.with_name(target.name + suffix).unlink(missing_ok=True)
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)


def reconcile() -> RestoreReport:
    """Make rows and files agree. No worker may run meanwhile.

    1. Games that were running return to the schedule.
    2. A submission without its files cannot play any more. It is retired, and its
       digest is changed so that the owner can upload the same files again.
    """
    storage = storages["bots"]
    lost = [
        submission
        for submission in Submission.objects.exclude(digest__startswith=LOST_DIGEST)
        if not storage.exists(submission.package)
    ]
    workers = list(
        Worker.objects.filter(gone_at__isnull=True).values_list("pk", flat=True)
    )
    with transaction.atomic():
        released = sum(registry.sign_off(worker, "restored") for worker in workers)
        for submission in lost:
            Submission.objects.filter(pk=submission.pk).update(
                status=Submission.Status.RETIRED,
                digest=f"{LOST_DIGEST}{submission.pk}",
                report={"summary": FILES_MISSING, "steps": []},
            )
    return RestoreReport([str(submission) for submission in lost], released)


def _run(program: str, *arguments: str) -> None:
    """Run a client program of PostgreSQL against the configured database."""
    db = connection.settings_dict
    env = os.environ | {"PGPASSWORD": str(db["PASSWORD"])}
    server = ("-h", db["HOST"] or "localhost", "-p", str(db["PORT"] or 5432))
    database = ("-U", db["USER"], "-d", db["NAME"])
    subprocess.run(
        [find_program(program), *server, *database, *arguments], env=env, check=True
    )
