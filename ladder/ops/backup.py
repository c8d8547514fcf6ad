"""Backup and restore: one folder holds the database and the uploaded packages.

Results and replays are rows of the database, so they always belong together. Uploaded
packages are files: after a restore they may be older or newer than the rows, and
`reconcile` makes both agree.
"""

import os
import shutil
import sqlite3
import subprocess
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from django.core.files.base import File
from django.core.files.storage import storages
from django.db import connection, transaction

from ladder.bots.models import Submission
from ladder.games.models import Worker
from ladder.games.worker import registry
from ladder.ops.programs import find_program

SQLITE_FILE = "database.sqlite3"
POSTGRES_FILE = "database.pgdump"
UPLOADS_FOLDER = "uploads"
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
    if connection.vendor == "sqlite":
        with closing(sqlite3.connect(folder / SQLITE_FILE)) as copy:
            connection.ensure_connection()
            connection.connection.backup(copy)
    else:
        _run("pg_dump", "--format=custom", f"--file={folder / POSTGRES_FILE}")
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


def is_backup(folder: Path) -> bool:
    """True if the folder holds a backup of the kind of database that is in use."""
    name = SQLITE_FILE if connection.vendor == "sqlite" else POSTGRES_FILE
    try:
        return (folder / name).exists()
    except (OSError, ValueError):  # a name that the file system does not permit
        return False


def restore(folder: Path) -> RestoreReport:
    """Replace the database by that of a backup, and add the packages that are missing.

    The service must not run meanwhile.
    """
    connection.close()
    if connection.vendor == "sqlite":
        target = Path(connection.settings_dict["NAME"])
        for suffix in ("-wal", "-shm"):
            target.with_name(target.name + suffix).unlink(missing_ok=True)
        shutil.copyfile(folder / SQLITE_FILE, target)
    else:
        options = ("--clean", "--if-exists", "--no-owner", "--single-transaction")
        _run("pg_restore", *options, str(folder / POSTGRES_FILE))
    storage = storages["bots"]
    for path in sorted((folder / UPLOADS_FOLDER).rglob("*")):
        package = path.relative_to(folder / UPLOADS_FOLDER).as_posix()
        if path.is_file() and not storage.exists(package):
            with path.open("rb") as source:
                storage.save(package, File(source))
    return reconcile()


def reconcile() -> RestoreReport:
    """Make rows and files agree. No worker may run meanwhile.

    1. Games that were running return to the schedule.
    2. A submission without its files cannot play any more. It is retired, and its
       digest is changed so that the owner can upload the same files again.
    """
    storage = storages["bots"]
    lost = [
        submission
        for submission in Submission.objects.exclude(digest__startswith="lost-")
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
                digest=f"lost-{submission.pk}",
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
