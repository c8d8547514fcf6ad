"""Name the test files that the changes since the last passed run can touch.

`tests/check.sh` asks this module for `make test FAST=1`. A test file is named if it or
a module that it imports has changed, also through other modules. Processes that tests
start import by name, so that a test counts as an importer of the whole package of its
folder, and a test of the service as one of `ladder.urls`.
A change of another kind of file (a template, a page, a setting) names all tests that
may read it. Without a passed run, all test files are named.
"""

import ast
import hashlib
import json
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PASSED = ROOT / ".pytest_cache" / "passed.json"
WITHOUT_DJANGO = {"checking", "cli", "engine", "learning", "runner", "tlog"}
"""Folders of tests that do not reach the routes of the service."""
READERS = {
    ".md": ("docs", "deploy", "engine", "web"),
    ".css": ("web", "practice", "cli", "docs"),
    ".html": ("web", "practice", "cli", "docs", "accounts"),
    ".js": ("web", "practice", "cli"),
    ".svg": ("web",),
}
"""The folders of tests that read files with an ending; others concern all tests."""


def main() -> None:
    hashes = _hashes()
    if sys.argv[1:] == ["--passed"]:
        PASSED.parent.mkdir(exist_ok=True)
        PASSED.write_text(json.dumps(hashes))
        return
    known = json.loads(PASSED.read_text()) if PASSED.exists() else {}
    changed = {path for path, value in hashes.items() if known.get(path) != value}
    changed |= known.keys() - hashes.keys()
    for test in sorted(tests_for(changed, hashes)):
        print(test)


def tests_for(changed: set[str], files: Iterable[str]) -> set[str]:
    """Return the test files that a change of some files can touch."""
    tests = {path for path in files if Path(path).name.startswith("test_")}
    importers = _importers(files)
    touched = set(changed)
    waiting = list(changed)
    while waiting:
        for importer in importers[waiting.pop()] - touched:
            touched.add(importer)
            waiting.append(importer)
    found = tests & touched
    for path in changed:
        if not path.endswith(".py"):
            folders = READERS.get(Path(path).suffix)
            found |= {
                test for test in tests if folders is None or _folder(test) in folders
            }
    return found


def _folder(test: str) -> str:
    return Path(test).parts[1]


def _hashes() -> dict[str, str]:
    """Return the hash of each file that git knows or could know."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    return {
        path: hashlib.sha256((ROOT / path).read_bytes()).hexdigest()
        for path in listed
        if (ROOT / path).is_file()
    }


def _importers(files: Iterable[str]) -> defaultdict[str, set[str]]:
    """Return, for each file, the files that import it."""
    modules = {_module(path): path for path in files if path.endswith(".py")}
    importers: defaultdict[str, set[str]] = defaultdict(set)
    for importer in modules.values():
        names = [*_imported(importer)]
        if Path(importer).name.startswith("test_"):
            names += _started(importer, modules)
        for name in names:
            # A package's __init__ runs before its modules.
            parts = name.split(".")
            for length in range(1, len(parts) + 1):
                imported = modules.get(".".join(parts[:length]))
                if imported is not None:
                    importers[imported].add(importer)
    return importers


def _module(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _imported(path: str) -> Iterator[str]:
    """Yield the names that a file imports."""
    for node in ast.walk(ast.parse((ROOT / path).read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _started(test: str, modules: Iterable[str]) -> Iterator[str]:
    """Yield the modules that pytest and the processes of a test import."""
    folder = Path(test).parent
    yield "tests.conftest"
    yield ".".join((*folder.parts, "conftest"))
    if folder.name not in WITHOUT_DJANGO:
        yield "ladder.urls"
        yield "ladder.settings"
    wanted = {"docs": "cli"}.get(folder.name, folder.name)
    yield from (name for name in modules if wanted in name.split("."))


if __name__ == "__main__":
    main()
