"""Compute and store the fingerprint of each upload, once.

This service packed the packages itself from checked uploads, so their paths and sizes
are known. The content of the files is hostile.
"""

import hashlib
import re
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

import numpy as np
import structlog
from django.conf import settings
from django.core.files.storage import storages
from django.db.models import QuerySet

from ladder.bots.house_bots import HOUSE_FOLDER
from ladder.bots.models import LOST_DIGEST, SourceFingerprint, Submission
from torres.rating.anomalies.source_sketch import Hashes, is_source, run_hashes, sketch

METHOD = 1
"""A change of the method gets the next number. Then all are computed again."""
MAX_SOURCE_BYTES = 2 * 2**20
"""Of the source files of an upload, in the order of their paths."""
MAX_FILES = 64
"""Digests of an upload that are stored: those of its largest files."""
MIN_FILE_BYTES = 256
"""Smaller files are equal by chance."""
DIGEST_CHARS = 16
BATCH = 200
CODE_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
BLOCK_SUFFIXES = {"python": ".py", "javascript": ".js", "c": ".c", "rust": ".rs"}

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class PublicCode:
    """The code that everybody may copy: of kits, house bots and documentation."""

    hashes: Hashes
    files: frozenset[str]


def public_code() -> PublicCode:
    """Return the hashes and digests of the code that this release publishes."""
    hashes = [
        run_hashes(text, BLOCK_SUFFIXES[language])
        for page in sorted((settings.BASE_DIR / "docs").glob("*.md"))
        for language, text in CODE_BLOCK.findall(page.read_text(encoding="utf-8"))
        if language in BLOCK_SUFFIXES
    ]
    digests = set()
    for folder in (HOUSE_FOLDER, HOUSE_FOLDER.parent / "kits"):
        for path in sorted(folder.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                content = path.read_bytes()
                digests.add(_digest(content))
                hashes += _source_hashes(path.name, content)
    return PublicCode(np.unique(np.concatenate(hashes)), frozenset(digests))


def compute_missing(public: PublicCode) -> int:
    """Store the fingerprints that are missing; return how many there were.

    May be killed at any moment; the next run goes on.
    """
    stored = 0
    last = 0
    while batch := list(_missing().filter(pk__gt=last)[:BATCH]):
        rows = [row for each in batch if (row := _fingerprint(each, public))]
        SourceFingerprint.objects.bulk_create(
            rows,
            update_conflicts=True,
            unique_fields=["submission"],
            update_fields=["method", "hashes", "total", "files"],
        )
        stored += len(rows)
        last = batch[-1].pk
    return stored


def _missing() -> QuerySet[Submission]:
    """Return the uploads that played or may play, and have no fingerprint yet."""
    return (
        Submission.objects.filter(bot__house=False, ready_at__isnull=False)
        .exclude(digest__startswith=LOST_DIGEST)
        .exclude(fingerprint__method=METHOD)
        .defer("log", "report")
        .order_by("pk")
    )


def _fingerprint(
    submission: Submission, public: PublicCode
) -> SourceFingerprint | None:
    """Return the fingerprint of an upload: an empty one if its package is lost.

    None if the package cannot be read now. The next run tries it again.
    """
    try:
        contents = _Contents.of(_files(submission), public)
    except FileNotFoundError:
        contents = _Contents([], {})
    except (OSError, zipfile.BadZipFile) as error:
        log.warning("no fingerprint", submission=submission.pk, error=str(error))
        return None
    found = sketch(contents.hashes, public.hashes)
    return SourceFingerprint(
        submission=submission,
        method=METHOD,
        hashes=found.hashes.astype("<u8").tobytes(),
        total=found.total,
        files=contents.files,
    )


@dataclass(frozen=True, slots=True)
class _Contents:
    """The hashes of the source files of an upload, and the paths by digest."""

    hashes: list[Hashes]
    files: dict[str, str]

    @classmethod
    def of(cls, files: Iterable[tuple[str, bytes]], public: PublicCode) -> "_Contents":
        hashes: list[Hashes] = []
        found: list[tuple[int, str, str]] = []
        left = MAX_SOURCE_BYTES
        for path, content in files:
            digest = _digest(content)
            if len(content) >= MIN_FILE_BYTES and digest not in public.files:
                found.append((len(content), digest, path))
            hashes += _source_hashes(path, content[:left])
            left = max(0, left - (len(content) if is_source(_suffix(path)) else 0))
        largest = sorted(found, reverse=True)[:MAX_FILES]
        return cls(hashes, {digest: path for _, digest, path in largest})


def _files(submission: Submission) -> Iterator[tuple[str, bytes]]:
    """Yield the path and the content of each file of an upload."""
    with (
        storages["bots"].open(submission.package) as packed,
        zipfile.ZipFile(packed) as package,
    ):
        for info in package.infolist():
            yield info.filename, package.read(info)


def _source_hashes(path: str, content: bytes) -> list[Hashes]:
    suffix = _suffix(path)
    if not is_source(suffix) or b"\0" in content:
        return []
    return [run_hashes(content.decode("utf-8", "replace"), suffix)]


def _suffix(path: str) -> str:
    return PurePosixPath(path).suffix.lower()


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:DIGEST_CHARS]
