"""Backups: one folder with the database and the uploads, and the way back.

Results and replays are in the database and cannot part from each other. Uploads are
files: after a restore either side may be older, and `reconcile` makes them agree.
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
from ladder.ops.chaos.servers import find

SQLITE, POSTGRES, UPLOADS = "database.sqlite3", "database.pgdump", "uploads"
LOST = "Its files were lost with a restored backup. Upload it again."


@dataclass(frozen=True, slots=True)
class Missing:
    """What is not there after a restore, by name; nothing, if all is well."""

    packages: Sequence[str]
    games_given_back: int


def save(folder: Path) -> int:
    """Write a backup into a new folder while the service runs; return its uploads.

    The uploads are copied after the database, so that no row in it lacks its files.
    """
    folder.mkdir(parents=True)
    if connection.vendor == "sqlite":
        with closing(sqlite3.connect(folder / SQLITE)) as copy:
            connection.ensure_connection()
            connection.connection.backup(copy)
    else:
        _run("pg_dump", "--format=custom", f"--file={folder / POSTGRES}")
    uploads = folder / UPLOADS
    uploads.mkdir()
    storage = storages["bots"]
    packages = set(_packages())
    for package in packages:
        if storage.exists(package):
            target = uploads / package
            target.parent.mkdir(parents=True, exist_ok=True)
            with storage.open(package) as source, target.open("wb") as out:
                shutil.copyfileobj(source, out)
    return len(packages)


def bring_back(folder: Path) -> Missing:
    """Restore a backup in place of everything; the service must not run meanwhile."""
    connection.close()
    if connection.vendor == "sqlite":
        target = Path(connection.settings_dict["NAME"])
        for suffix in ("-wal", "-shm"):
            target.with_name(target.name + suffix).unlink(missing_ok=True)
        shutil.copyfile(folder / SQLITE, target)
    else:
        clean = ("--clean", "--if-exists", "--no-owner", "--single-transaction")
        _run("pg_restore", *clean, str(folder / POSTGRES))
    storage = storages["bots"]
    for path in sorted((folder / UPLOADS).rglob("*")):
        package = path.relative_to(folder / UPLOADS).as_posix()
        if path.is_file() and not storage.exists(package):
            with path.open("rb") as source:
                storage.save(package, File(source))
    return reconcile()


def reconcile() -> Missing:
    """Make rows and files agree, and say what is missing; while no worker runs.

    Games that were running are handed back. A submission without its files can't play
    any more: it is retired under another digest, so that it can be uploaded again.
    """
    storage = storages["bots"]
    lost = [
        submission
        for submission in Submission.objects.exclude(digest__startswith="lost-")
        if not storage.exists(submission.package)
    ]
    gone = Worker.objects.filter(gone_at__isnull=True).values_list("pk", flat=True)
    with transaction.atomic():
        given_back = sum(registry.sign_off(worker, "restored") for worker in list(gone))
        for submission in lost:
            Submission.objects.filter(pk=submission.pk).update(
                status=Submission.Status.RETIRED,
                digest=f"lost-{submission.pk}",
                report={"summary": LOST, "steps": []},
            )
    return Missing([str(submission) for submission in lost], given_back)


def _packages() -> list[str]:
    return [submission.package for submission in Submission.objects.all()]


def _run(program: str, *words: str) -> None:
    db = connection.settings_dict
    env = os.environ | {"PGPASSWORD": str(db["PASSWORD"])}
    place = ("-h", db["HOST"] or "localhost", "-p", str(db["PORT"] or 5432))
    who = ("-U", db["USER"], "-d", db["NAME"])
    subprocess.run([find(program), *place, *who, *words], env=env, check=True)
