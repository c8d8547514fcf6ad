"""The locks hold every dependency with its hashes, and no address of an index."""

import os
import re
import subprocess
import sys
import tomllib
import venv
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
LOCKS = sorted((ROOT / "deploy/locks").glob("*.txt"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
ENTRY = re.compile(
    r"([\w.-]+)==([\w.]+)(?: ; .+)?((?: \\\n    --hash=sha256:[0-9a-f]{64})+)\n"
)


def entries(lock: Path) -> dict[str, str]:
    """Return the versions by package; each line must belong to an entry."""
    text = lock.read_text()
    rest = ENTRY.sub("", text.partition("\n")[2])
    assert rest == "", f"{lock.name} has lines that are no entry: {rest[:200]}"
    found = [(match[1], match[2]) for match in ENTRY.finditer(text)]
    assert len(dict(found)) == len(found), f"{lock.name} has a package twice"
    return dict(found)


def needed(*extras: str) -> set[str]:
    """Return the packages that extras name, on any platform."""
    lines = [*PROJECT["dependencies"]]
    for extra in extras:
        lines += PROJECT["optional-dependencies"][extra]
    names = {canonicalize_name(Requirement(line).name) for line in lines}
    for line in lines:
        requirement = Requirement(line)
        if requirement.name == PROJECT["name"]:
            names |= needed(*requirement.extras)
    return names - {PROJECT["name"]}


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.stem)
def test_each_entry_has_a_version_and_hashes_and_no_address(lock: Path) -> None:
    assert len(entries(lock)) > 5
    assert "://" not in lock.read_text()


@pytest.mark.parametrize(
    ("lock", "extras"),
    [
        ("author", []),
        ("service", ["compile", "otel", "s3", "server"]),
        ("pipeline", ["pipeline"]),
        ("dev", list(PROJECT["optional-dependencies"])),
    ],
)
def test_a_lock_holds_every_dependency_of_its_extras(
    lock: str, extras: list[str]
) -> None:
    assert needed(*extras) - entries(ROOT / f"deploy/locks/{lock}.txt").keys() == set()


def test_all_locks_and_the_constraints_have_the_same_versions() -> None:
    every = entries(ROOT / "deploy/locks/dev.txt")
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    constraints = dict(line.split("==") for line in lines if not line.startswith("#"))

    assert constraints == every
    for lock in LOCKS:
        assert entries(lock).items() <= every.items(), lock.name


def test_the_installed_packages_are_in_the_lock() -> None:
    """The environment of the tests has no package that nobody locked."""
    listed = subprocess.run(
        [sys.executable, "-m", "pip", "list", "--format=freeze", "--exclude-editable"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    names = {canonicalize_name(line.split("==")[0]) for line in listed.splitlines()}

    assert names - entries(ROOT / "deploy/locks/dev.txt").keys() - {"pip"} == set()


@pytest.mark.slow
def test_an_empty_environment_takes_the_lock_by_its_hashes(tmp_path: Path) -> None:
    venv.create(tmp_path / "venv", symlinks=True)
    python = tmp_path / "venv/bin/python"
    pip = [sys.executable, "-m", "pip", "--python", str(python)]
    lock = tmp_path / "author.txt"
    text = (ROOT / "deploy/locks/author.txt").read_text()

    def install(content: str) -> subprocess.CompletedProcess[str]:
        lock.write_text(content)
        return subprocess.run(
            [*pip, "install", "--require-hashes", "-r", str(lock)],
            capture_output=True,
            text=True,
            check=False,
        )

    # A changed file is refused: here one whose hashes are those of another package.
    spoilt = install(re.sub(r"sha256:[0-9a-f]{8}", "sha256:00000000", text))
    if "No matching distribution found for" in spoilt.stderr:
        assert os.environ.get("TESTS_REQUIRE_ALL") != "1", spoilt.stderr
        pytest.skip("no package index can be reached")
    assert spoilt.returncode == 1
    assert "DO NOT MATCH THE HASHES" in spoilt.stderr

    done = install(text)

    assert done.returncode == 0, done.stderr
    subprocess.run([python, "-c", "import httpx, msgspec, trueskill"], check=True)
