"""The folder for half-finished work.

It lies in the data folder, so that a finished file can be moved from here to its place
with one rename. Files that a killed process left here can be deleted at any time when
no other process uses the data folder.
"""

import shutil
from pathlib import Path

from django.conf import settings


def scratch_folder() -> Path:
    """Return the folder, created if it is missing."""
    folder = Path(settings.DATA_DIR) / "scratch"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def clear_scratch_folder() -> None:
    """Delete all half-finished work. Call it only if nobody else uses the folder."""
    for leftover in scratch_folder().iterdir():
        if leftover.is_dir():
            shutil.rmtree(leftover, ignore_errors=True)
        else:
            leftover.unlink(missing_ok=True)
