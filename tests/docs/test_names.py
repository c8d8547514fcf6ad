"""The glossary names what exists, and no class name is used twice."""

import ast
import re
import subprocess
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NAMED = re.findall(
    r"`((?:engine|ladder|tests)(?:\.\w+)+)`", (ROOT / "docs/glossary.md").read_text()
)
# Django asks for these names; programs of bots are files of their own.
EXEMPT_NAMES = {"Command"}
EXEMPT_FOLDERS = ("migrations/", "/house/", "/kits/", "/programs/", "/attacks/")


def python_files() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.py"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    wanted = [
        name for name in listed if not any(part in name for part in EXEMPT_FOLDERS)
    ]
    return [ROOT / name for name in wanted if (ROOT / name).exists()]


def exists(dotted: str) -> bool:
    """True if a name is a module, a package, or a class in the module before it."""
    path = ROOT / dotted.replace(".", "/")
    if path.is_dir() or path.with_suffix(".py").is_file():
        return True
    module, _, name = dotted.rpartition(".")
    source = (ROOT / module.replace(".", "/")).with_suffix(".py")
    if not source.is_file():
        return False
    body = ast.parse(source.read_text()).body
    return any(isinstance(node, ast.ClassDef) and node.name == name for node in body)


@pytest.mark.parametrize("dotted", NAMED)
def test_the_glossary_names_what_exists(dotted: str) -> None:
    assert exists(dotted)


def test_no_class_name_is_defined_twice() -> None:
    homes = defaultdict(list)
    for path in python_files():
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef) and node.name not in EXEMPT_NAMES:
                homes[node.name].append(str(path.relative_to(ROOT)))

    assert {name: where for name, where in homes.items() if len(where) > 1} == {}


def test_no_package_holds_more_than_a_fifth_of_the_lines() -> None:
    lines: dict[str, int] = defaultdict(int)
    for path in python_files():
        package = path.relative_to(ROOT).parts
        if package[0] in ("engine", "ladder", "torres"):
            name = "engine" if package[0] == "engine" else "/".join(package[:2])
            lines[name] += len(path.read_text().splitlines())
    total = sum(lines.values())

    assert {name: n / total for name, n in lines.items() if n > total / 5} == {}
