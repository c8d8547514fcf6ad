"""Fetches wheels with pip, and puts their files into the folder of a bot.

pip resolves, downloads, checks hashes and unpacks. It fetches wheels only, so that no
code of a package runs here. The files are checked in a draft folder before any of them
reaches the bot's folder, because a package is the work of a stranger.
"""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import click
from packaging.utils import canonicalize_name

from torres.checking.packages import LOCK, RECORD, listed_file, vendored_packages
from torres.checking.staging import uploaded_files
from torres.common.whole_file import write_whole
from torres.runner.tool_versions import PythonVersion
from torres.upload.checks import (
    DEFAULT_LIMITS,
    check_count,
    check_unpacked_size,
    clean_path,
)

OLDEST_LIBC = 28
"""Wheels may ask for glibc 2.28 (Debian 10, RHEL 8), and not for a newer one."""
RESERVED = sys.stdlib_module_names | {"bot", "engine"}
"""Modules that a package must not replace: all parts of a bot import them."""
_FIRST_LIBC = 5  # of the wheels that any index has
_LEFT_OUT_FOLDERS = {"tests", "__pycache__"}
_LEFT_OUT_SUFFIXES = frozenset(
    {".a", ".c", ".cc", ".cpp", ".h", ".hpp", ".lib", ".pth", ".pxd", ".pyi", ".pyx"}
)
"""Sources, headers, types, and `.pth` files, which have no effect beside a bot."""
_SCRIPTS = "bin"
_REQUESTED = "REQUESTED"
"""The mark of pip for a package that was named. Names and locks give the same files."""


@dataclass(frozen=True, slots=True)
class WheelTarget:
    """The Python and the processor of the Linux machines that load the wheels."""

    python: PythonVersion
    processor: str

    def __str__(self) -> str:
        return f"Python {self.version} on Linux, {self.processor}"

    @property
    def version(self) -> str:
        """The version as pip takes it, for example "3.11"."""
        return f"{self.python[0]}.{self.python[1]}"

    def options(self) -> list[str]:
        """Return the options that let pip choose wheels for this target."""
        platforms = [
            f"manylinux_2_{minor}_{self.processor}"
            for minor in range(OLDEST_LIBC, _FIRST_LIBC - 1, -1)
        ]
        platforms.append(f"manylinux2014_{self.processor}")
        return [
            *("--only-binary=:all:", "--implementation", "cp"),
            *("--python-version", self.version),
            *(f"--platform={platform}" for platform in platforms),
        ]


@dataclass(frozen=True, slots=True)
class FetchedWheel:
    """A wheel that pip installed, with the SHA-256 of its file."""

    name: str
    version: str
    sha256: str

    def lock_line(self) -> str:
        """Return the line for a requirements file of pip."""
        return f"{self.name}=={self.version} --hash=sha256:{self.sha256}"


def vendor_wheels(
    folder: Path, target: WheelTarget, names: Sequence[str]
) -> list[FetchedWheel]:
    """Put packages with what they need into a folder, in place of earlier ones.

    Without names, these are the packages in the lock of the folder. Raises
    ClickException, BadArchive and OSError; the folder is then as it was, unless its
    disk failed.
    """
    lock = folder / LOCK
    wanted = [*names] if names else ["--require-hashes", "--no-deps", "-r", str(lock)]
    # A folder with a leading dot is no part of the bot. It is on the same disk.
    with TemporaryDirectory(dir=folder, prefix=".vendor-") as draft:
        site = Path(draft) / "site"
        report = Path(draft) / "report.json"
        _run_pip([*target.options(), f"--report={report}", f"--target={site}", *wanted])
        wheels = _fetched(report)
        _leave_out(site)
        check_new_files(site, folder)
        remove_packages(folder)
        for new in sorted(site.iterdir()):
            new.rename(folder / new.name)
    if names:
        write_whole(lock, _lock_text(names, target, wheels))
    return wheels


def _run_pip(arguments: Sequence[str]) -> None:
    """Run `pip install`. What it prints is its progress, and goes to stderr."""
    if importlib.util.find_spec("pip") is None:
        raise click.ClickException(
            f"this needs pip in {sys.executable}; run {sys.executable} -m ensurepip"
        )
    command = [sys.executable, "-m", "pip", "install", "--no-input", "--no-compile"]
    done = subprocess.run(
        [*command, "--disable-pip-version-check", *arguments],
        # Packages of the user and packages in a folder exclude each other.
        env=os.environ | {"PIP_USER": "0"},
        stdout=sys.stderr,
        check=False,
    )
    if done.returncode:
        raise click.ClickException(
            "pip could not fetch the packages, and its last lines say why. Correct a"
            " name, allow another version, or name another --python; pip takes wheels"
            " only, and not every package has one"
        )


def _fetched(report: Path) -> list[FetchedWheel]:
    """Read the installation report of pip (its format has the version 1)."""
    rows = json.loads(report.read_bytes())["install"]
    wheels = [
        FetchedWheel(
            row["metadata"]["name"],
            row["metadata"]["version"],
            row["download_info"]["archive_info"]["hashes"]["sha256"],
        )
        for row in rows
    ]
    return sorted(wheels, key=lambda wheel: wheel.name.lower())


def _leave_out(site: Path) -> None:
    """Delete the files of packages that a bot does not need to play."""
    shutil.rmtree(site / _SCRIPTS, ignore_errors=True)
    for parent, folders, names in os.walk(site):
        for name in _LEFT_OUT_FOLDERS.intersection(folders):
            shutil.rmtree(Path(parent, name))
            folders.remove(name)
        for name in names:
            if Path(name).suffix in _LEFT_OUT_SUFFIXES or name == _REQUESTED:
                Path(parent, name).unlink()
    for record in site.glob(f"*.dist-info/{RECORD}"):
        rows = record.read_text("utf-8", "replace").splitlines(keepends=True)
        kept = [row for row in rows if _is_there(site, row)]
        record.write_text("".join(kept), "utf-8", newline="")


def _is_there(site: Path, row: str) -> bool:
    """True if the file in a row of RECORD is in a folder, so that the row is kept."""
    path = listed_file(row)
    return path is not None and (site / path).is_file()


def check_new_files(site: Path, folder: Path) -> None:
    """Check that the new files may go into the folder of the bot, and fit in an upload.

    Raises ClickException, and BadArchive if an upload with them would be refused.
    """
    old = _vendored_files(folder)
    for new in sorted(site.iterdir()):
        if new.name.partition(".")[0] in RESERVED:
            raise click.ClickException(
                f"a package brings {new.name}, which would replace a module of Python,"
                " of the engine, or your bot; do without it"
            )
        own = _own_file(folder / new.name, old)
        if own is not None:
            raise click.ClickException(
                f"a package brings {new.name}, and the folder has"
                f" {own.relative_to(folder)} already; rename or delete it"
            )
    files = list(uploaded_files(site))
    for file in files:
        if file.is_symlink():
            raise click.ClickException(
                f"a package brings the link {file.relative_to(site)}; do without it"
            )
        clean_path(file.relative_to(site).as_posix(), DEFAULT_LIMITS)
    files += [file for file in uploaded_files(folder) if file not in old]
    check_count(len(files), DEFAULT_LIMITS)
    check_unpacked_size(sum(file.stat().st_size for file in files), DEFAULT_LIMITS)


def _own_file(path: Path, old: set[Path]) -> Path | None:
    """Return a file at a path or below it that no package brought; None without one."""
    if path.is_symlink() or path.is_file():
        return None if path in old and not path.is_symlink() else path
    for parent, folders, names in os.walk(path):
        links = [name for name in folders if Path(parent, name).is_symlink()]
        if Path(parent).name == "__pycache__":
            continue
        for name in sorted([*links, *names]):
            file = Path(parent, name)
            if file not in old or file.is_symlink():
                return file
    return None


def remove_packages(folder: Path) -> None:
    """Delete the packages in the lock of a folder, with what Python cached."""
    files = _vendored_files(folder)
    for file in files:
        file.unlink(missing_ok=True)
    inside = {p for file in files for p in file.parents if folder in p.parents}
    for parent in sorted(inside, reverse=True):
        shutil.rmtree(parent / "__pycache__", ignore_errors=True)
        if parent.is_dir() and not any(parent.iterdir()):
            parent.rmdir()


def _vendored_files(folder: Path) -> set[Path]:
    """Return the files of the packages in the lock of a folder.

    A package that somebody else put there may list files of the bot as its own, and a
    link may lead out of the folder.
    """
    lock = folder / LOCK
    lines = lock.read_text("utf-8").splitlines() if lock.is_file() else []
    locked = {canonicalize_name(line.partition("==")[0]) for line in lines}
    files = {
        package.site / file
        for package in vendored_packages(folder)
        if package.site == folder and package.name in locked
        for file in package.files
    }
    return {file for file in files if file.parent.resolve().is_relative_to(folder)}


def _lock_text(
    names: Sequence[str], target: WheelTarget, wheels: Iterable[FetchedWheel]
) -> str:
    lines = [
        f"# Written by `torres vendor {' '.join(names)}` for {target}.",
        "# `torres vendor` without names fetches the same files again.",
        *(wheel.lock_line() for wheel in wheels),
    ]
    return "".join(f"{line}\n" for line in lines)
