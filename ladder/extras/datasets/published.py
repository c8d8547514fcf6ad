"""The datasets that are complete, and their files. Reads only; needs no pyarrow."""

from pathlib import Path

import msgspec
from django.conf import settings

from torres.common.errors import LadderError
from torres.common.json_object import JsonObject

MANIFEST = "manifest.json"
PARTIAL = ".partial"


class NoDataset(LadderError, code="no-dataset", http_status=404):
    """There is no such dataset, or no such file in it."""


def complete(root: Path) -> list[Path]:
    """Return the folders of the datasets that are complete, newest first."""
    if not root.is_dir():
        return []
    found = [each for each in root.iterdir() if (each / MANIFEST).is_file()]
    whole = [each for each in found if not each.name.endswith(PARTIAL)]
    return sorted(whole, reverse=True)


def days() -> list[str]:
    """Return the days of the datasets, newest first."""
    root = settings.TORRES_DATASETS
    return [folder.name for folder in complete(Path(root))] if root else []


def manifest(day: str) -> JsonObject:
    """Return what a dataset contains. Raises NoDataset."""
    document: dict[str, object] = msgspec.json.decode(
        (_folder(day) / MANIFEST).read_bytes()
    )
    return document


def file_of(day: str, name: str) -> tuple[Path, str]:
    """Return a file of a dataset and its SHA-256. Raises NoDataset.

    Only files that the manifest names are served.
    """
    for table in manifest(day)["tables"].values():
        for entry in table["files"]:
            if entry["path"] == name:
                return _folder(day) / name, entry["sha256"]
    raise NoDataset(f"The dataset of {day} has no such file. See its manifest.")


def _folder(day: str) -> Path:
    if day not in days():
        raise NoDataset("There is no dataset of this day. See /api/v1/datasets/.")
    return Path(settings.TORRES_DATASETS) / day
