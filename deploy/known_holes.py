"""Compare the pinned packages and this Python with the list in known-holes.toml.

The Dockerfile runs this file and the tests import it; it needs the standard library
only. Its exit code is 1 if a package has a hole, or if Python has one and
TORRES_REQUIRE_SAFE_PYTHON is 1. known-holes.toml explains how Python is judged.
"""

import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
DEBIAN_PREFIX = "/usr"


class Hole(NamedTuple):
    """A hole, and the first version without it in each series that got a fix."""

    package: str
    name: str
    what: str
    fixed: list[str]
    source: str
    debian: dict[str, str] = {}


def read_holes() -> list[Hole]:
    text = (HERE / "known-holes.toml").read_text()
    return [Hole(**entry) for entry in tomllib.loads(text)["hole"]]


def pins() -> dict[str, str]:
    """Return the pinned versions by the lower-case names of the packages."""
    lines = (HERE.parent / "constraints.txt").read_text().splitlines()
    pairs = (line.partition("==") for line in lines if line[:1] not in ("#", ""))
    return {name.strip().lower(): version.strip() for name, _, version in pairs}


def numbers(version: str) -> tuple[int, ...]:
    """Return the numbers of a final version: (3, 11, 7)."""
    return tuple(int(word) for word in re.findall(r"\d+", version))


def has_hole(version: str, fixed: Sequence[str]) -> bool:
    """True if a version is older than the fix of its series.

    The series is all numbers but the last one. Without a fix in the same series, the
    version must be newer than the last fix.
    """
    own = numbers(version)
    fixes = sorted(numbers(fix) for fix in fixed)
    for fix in fixes:
        if len(fixes) > 1 and own[: len(fix) - 1] == fix[:-1]:
            return own < fix
    return own < fixes[-1]


def package_findings() -> Iterator[str]:
    """Yield a sentence for each pinned package with a hole."""
    versions = pins()
    for hole in read_holes():
        version = versions.get(hole.package.lower())
        if version and has_hole(version, hole.fixed):
            yield (
                f"{hole.package} {version} has {hole.name}: {hole.what} Pin"
                f" {' or '.join(hole.fixed)} or newer in constraints.txt."
                f" See {hole.source}"
            )


def python_findings(version: str = "") -> Iterator[str]:
    """Yield a sentence for each hole of a Python version; by default of this one."""
    version = version or ".".join(map(str, sys.version_info[:3]))
    package = f"python{'.'.join(version.split('.')[:2])}"
    revision = debian_revision(package)
    for hole in read_holes():
        if hole.package != "python":
            continue
        if revision and package in hole.debian:
            open_hole = is_older(revision, hole.debian[package])
            cure = f"Run apt-get upgrade; {hole.debian[package]} is safe."
        else:
            open_hole = has_hole(version, hole.fixed)
            cure = f"Install {' or '.join(hole.fixed)}, or any newer series."
        if open_hole:
            yield (
                f"Python {revision or version} has {hole.name}: {hole.what} {cure}"
                f" See {hole.source}"
            )


def debian_revision(package: str) -> str:
    """Return the revision of Debian's package if this Python is Debian's, or ""."""
    if sys.base_prefix != DEBIAN_PREFIX:
        return ""
    try:
        done = subprocess.run(
            ["dpkg-query", "--show", "--showformat=${Version}", package],
            capture_output=True,
            text=True,
            check=False,
        )
    except FileNotFoundError:
        return ""
    return done.stdout if done.returncode == 0 else ""


def is_older(revision: str, than: str) -> bool:
    """Compare two revisions of Debian as Debian does."""
    command = ["dpkg", "--compare-versions", revision, "lt", than]
    return subprocess.run(command, check=False).returncode == 0


def python_must_be_safe() -> bool:
    return os.environ.get("TORRES_REQUIRE_SAFE_PYTHON") == "1"


def main() -> int:
    packages = list(package_findings())
    python = list(python_findings())
    for finding in packages + python:
        print(finding, file=sys.stderr)
    return 1 if packages or (python and python_must_be_safe()) else 0


if __name__ == "__main__":
    sys.exit(main())
