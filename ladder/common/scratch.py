"""The folder for half-finished work.

It lies in the data folder, so that a finished file can be moved from here to its place
with one rename. Files that a killed process left here can be deleted at any time when
no other process uses the data folder, and otherwise when they are old enough.
"""

import contextlib
import os
import shutil
import time
from itertools import islice
from pathlib import Path

from django.conf import settings

from ladder.common.retention import RetentionRule


def scratch_folder() -> Path:
    """Return the folder, created if it is missing.

    A worker that is root gives it to the owner of the data folder. Otherwise a web
    server that is not root could unpack no upload.
    """
    folder = Path(settings.DATA_DIR) / "scratch"
    if not folder.is_dir():
        folder.mkdir(parents=True, exist_ok=True)
        if os.geteuid() == 0:
            owner = folder.parent.stat()
            os.chown(folder, owner.st_uid, owner.st_gid)
    return folder


def clear_scratch_folder() -> None:
    """Delete all half-finished work. Call it only if nobody else uses the folder."""
    for leftover in scratch_folder().iterdir():
        _remove(leftover)


def retention_rule() -> RetentionRule:
    """Return the rule that deletes leftovers of killed processes.

    The newest time in a leftover decides. No work takes nearly as long.
    """

    def due(limit: int) -> list[Path]:
        limit_s = settings.TORRES_KEEP_SCRATCH_HOURS * 3600
        oldest = time.time() - limit_s
        old = (path for path in scratch_folder().iterdir() if _newest(path) < oldest)
        return list(islice(old, limit))

    def delete(limit: int) -> int:
        leftovers = due(limit)
        for leftover in leftovers:
            _remove(leftover)
        # Only root deletes files in folders of root. They stay until root runs `tidy`.
        return sum(not leftover.exists() for leftover in leftovers)

    return RetentionRule(
        "half-finished files",
        "TORRES_KEEP_SCRATCH_HOURS",
        lambda: sum(1 for _ in scratch_folder().iterdir()),
        lambda limit: len(due(limit)),
        delete,
    )


def _remove(leftover: Path) -> None:
    if leftover.is_dir():
        shutil.rmtree(leftover, ignore_errors=True)
    else:
        leftover.unlink(missing_ok=True)


def _newest(path: Path) -> float:
    """Return the latest modification time in a file or folder, in seconds."""
    newest = 0.0
    for part in (path, *(path.rglob("*") if path.is_dir() else ())):
        # Its process may remove it now.
        with contextlib.suppress(OSError):
            newest = max(newest, part.lstat().st_mtime)
    return newest
