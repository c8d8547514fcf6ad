"""The languages of the workers: for authors, who cannot look at the machines."""

from collections import Counter
from dataclasses import dataclass

from django.db.models import Count

from ladder.bots.models import Submission
from ladder.games import selectors
from ladder.games.models import Worker
from torres.runner.languages import LANGUAGES, Language
from torres.upload.checks import UploadLimits

VERSION_PREFIX = "language:"
"""The versions of a worker's tools have keys with this prefix in `Worker.versions`."""


@dataclass(frozen=True, slots=True)
class InstalledLanguage:
    """One language as authors see it. Commands are those of docs/languages.md.

    ``workers`` is the number of live workers that run it, ``waiting`` the number of
    uploads that wait for a worker that can.
    """

    name: str
    entries: list[str]
    build: str
    run: str
    packages: list[str]
    workers: int
    versions: list[str]
    waiting: int


def installed_languages() -> list[InstalledLanguage]:
    """Return all languages, also those that no worker runs at present."""
    workers = list(selectors.live_workers())
    waiting: Counter[str] = Counter(
        dict(
            Submission.objects.filter(status=Submission.Status.WAITING)
            .values_list("language")
            .annotate(Count("pk"))
        )
    )
    return [
        _described(language, workers, waiting[language.name]) for language in LANGUAGES
    ]


def _described(
    language: Language, workers: list[Worker], waiting: int
) -> InstalledLanguage:
    able = [worker for worker in workers if language.name in worker.languages]
    key = f"{VERSION_PREFIX}{language.name}"
    versions = {str(worker.versions.get(key, "")) for worker in able}
    return InstalledLanguage(
        name=language.name,
        entries=[f"bot{suffix}" for suffix in language.suffixes],
        build=" ".join(language.compile),
        run=" ".join(language.run),
        packages=sorted({package for _, package in language.needs}),
        workers=len(able),
        versions=sorted(versions - {""}),
        waiting=waiting,
    )


def upload_limits(packed_bytes: int) -> dict[str, object]:
    """Return the limits of an upload, in bytes and numbers."""
    limits = UploadLimits(packed=packed_bytes)
    return {
        "packed_bytes": limits.packed,
        "unpacked_bytes": limits.unpacked,
        "files": limits.files,
        "path_bytes": limits.path,
        "path_parts": limits.depth,
    }
