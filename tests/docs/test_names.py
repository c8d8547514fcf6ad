"""No class name is used twice, and no package is too large."""

import ast
from collections import defaultdict
from pathlib import Path

from tests.docs.pages import ROOT, files

# Django asks for these names; programs of bots are files of their own.
EXEMPT_NAMES = {"Command"}
EXEMPT_FOLDERS = ("migrations/", "/house/", "/kits/", "/programs/", "/attacks/")


def python_files() -> list[Path]:
    return [
        path
        for path in files(".py")
        if not any(part in path.as_posix() for part in EXEMPT_FOLDERS)
    ]


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
