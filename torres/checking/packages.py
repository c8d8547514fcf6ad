"""Python packages that wheels left in the folder of a bot, and what they run on.

A wheel lists its files in `NAME-VERSION.dist-info/RECORD`. Its tags in `WHEEL` name
the Pythons and platforms that it was built for (the binary distribution format of the
Python Packaging User Guide).
"""

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path, PurePosixPath

from packaging.tags import Tag, compatible_tags, cpython_tags, parse_tag
from packaging.utils import canonicalize_name

from torres.checking.findings import Finding, warning
from torres.runner.tool_versions import PythonVersion, version_here

LOCK = "vendored.txt"
"""The file in which `torres vendor` notes what it installed."""
RECORD = "RECORD"
"""The list of the files of a package, one row of CSV for each."""
_TAG = "Tag: "
_SHOWN = 5


@dataclass(frozen=True, slots=True)
class VendoredPackage:
    """A package that a wheel left.

    ``site`` is the folder that it is imported from, ``files`` are paths in it, and
    ``tags`` name what the wheel was built for; they are empty if it does not tell.
    """

    name: str
    version: str
    site: Path
    files: tuple[PurePosixPath, ...]
    tags: frozenset[Tag]

    def modules(self) -> set[str]:
        """Return the names that it occupies in ``site``: folders and single files."""
        tops = {file.parts[0] for file in self.files}
        return {top for top in tops if not top.endswith(".dist-info")}

    def runs_on(self, python: PythonVersion) -> bool:
        """True if this machine's processor and libc, with this Python, can load it."""
        return not self.tags or not self.tags.isdisjoint(_usable_tags(python))


def vendored_packages(folder: Path) -> Iterator[VendoredPackage]:
    """Yield the packages in a folder and in the folders below it, sorted by path."""
    for record in sorted(folder.rglob(f"*.dist-info/{RECORD}")):
        name, _, version = record.parent.name.removesuffix(".dist-info").partition("-")
        yield VendoredPackage(
            canonicalize_name(name),
            version,
            record.parents[1],
            tuple(_listed(record)),
            _tags_of(record.with_name("WHEEL")),
        )


def _listed(record: Path) -> Iterator[PurePosixPath]:
    for row in record.read_text("utf-8", "replace").splitlines():
        path = listed_file(row)
        if path is not None:
            yield path


def listed_file(row: str) -> PurePosixPath | None:
    """Return the file in a row of RECORD; None if it is outside of the folder."""
    if not row or "\0" in row:
        return None
    path = PurePosixPath(next(csv.reader([row]))[0])
    inside = path.parts and not path.is_absolute() and ".." not in path.parts
    return path if inside else None


def _tags_of(wheel: Path) -> frozenset[Tag]:
    if not wheel.is_file():
        return frozenset()
    lines = wheel.read_text("utf-8", "replace").splitlines()
    words = [line.removeprefix(_TAG) for line in lines if line.startswith(_TAG)]
    # A tag is python-abi-platform, and parse_tag raises ValueError for another form.
    whole = [word.strip() for word in words if word.count("-") == 2]
    return frozenset(chain.from_iterable(parse_tag(word) for word in whole))


def _usable_tags(python: PythonVersion) -> Iterator[Tag]:
    interpreter = f"cp{python[0]}{python[1]}"
    yield from cpython_tags(python)
    yield from compatible_tags(python, interpreter)


def files_of_packages(folder: Path) -> set[Path]:
    """Return the modules, as files and folders, that packages occupy in a folder.

    Their authors guard the imports that may fail, often in ways that we cannot see.
    """
    found = {
        package.site / name
        for package in vendored_packages(folder)
        for name in package.modules()
    }
    return found - {folder / "bot.py"}


def package_findings(folder: Path) -> list[Finding]:
    """Return what is wrong with the packages of a bot in Python."""
    packages = list(vendored_packages(folder))
    if not packages and (folder / "requirements.txt").is_file():
        return [
            warning(
                "unread-requirements",
                "It has a requirements.txt, which a ladder does not read.",
                "Put the packages into the bot's folder: torres vendor NAME ...",
                "requirements.txt",
            )
        ]
    python = version_here()
    foreign = [package for package in packages if not package.runs_on(python)]
    if not foreign:
        return []
    names = [f"{package.name} {package.version}" for package in foreign[:_SHOWN]]
    return [
        warning(
            "foreign-wheel",
            "It holds packages that do not run with Python"
            f" {python[0]}.{python[1]} on this system and processor.",
            "Fetch them for the Python of the ladder: torres vendor NAME ...",
            ", ".join(names),
        )
    ]
