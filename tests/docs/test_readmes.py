"""READMEs name all modules, and the names, paths and links of every page exist."""

import ast
import re
from pathlib import Path

import pytest

from tests.docs.pages import PARSER, ROOT, codes, files, links

PRODUCT = ("engine", "torres", "ladder")
# Django finds these by their folder.
EXEMPT_FOLDERS = {"migrations", "management", "commands", "templatetags"}
PAGES = files(".md")
# These describe the past: their names and paths may be gone.
HISTORY = ("CHANGELOG.md", "docs/decisions")
TOLD = [
    page for page in PAGES if not page.relative_to(ROOT).as_posix().startswith(HISTORY)
]
PATH = re.compile(r"(?:engine|torres|ladder|tests|docs|deploy)/[\w./*-]+")
DOTTED = re.compile(
    r"(?!\w+\.py\b)((?:engine|torres|ladder|tests)(?:\.\w+)+)(?:\(.*\))?"
)
NOT_PATHS = {"torres/1", "deploy/.env", "deploy/worker.env"}
"""The bot protocol, and files that an operator writes."""
NOT_MODULES = re.compile(r"torres\.(bot|game|ladder|match|request|submission)")
"""Attributes of the spans in a trace."""


def packages() -> list[Path]:
    """Return the folders of the product that hold modules beside `__init__.py`."""
    found = {
        path.parent
        for path in files(".py")
        if path.relative_to(ROOT).parts[0] in PRODUCT and path.name != "__init__.py"
    }
    return sorted(
        folder
        for folder in found
        if (folder / "__init__.py").exists()
        and not EXEMPT_FOLDERS & set(folder.relative_to(ROOT).parts)
    )


def readme_of(package: Path) -> Path:
    """Return the README of a package, or of the nearest folder above it."""
    folders = [package, *package.parents]
    inside = folders[: folders.index(ROOT)]
    return next(page for folder in inside if (page := folder / "README.md").is_file())


def named_in_tables(page: Path) -> set[str]:
    """Return the code and the links in the tables of a page."""
    inside = False
    cells = []
    for token in PARSER.parse(page.read_text()):
        inside = (inside or token.type == "table_open") and token.type != "table_close"
        if inside:
            cells.append(token)
    return {*codes(cells), *links(cells)}


def defined_in(body: list[ast.stmt]) -> dict[str, list[ast.stmt]]:
    """Return the names that statements define, and the bodies of the classes."""
    found: dict[str, list[ast.stmt]] = {}
    for node in body:
        if isinstance(node, ast.ClassDef):
            found[node.name] = node.body
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found[node.name] = []
        elif isinstance(node, ast.ImportFrom):
            found |= {name.asname or name.name: [] for name in node.names}
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            names = [name for name in ast.walk(node) if isinstance(name, ast.Name)]
            found |= {name.id: [] for name in names if isinstance(name.ctx, ast.Store)}
    return found


def exists(dotted: str) -> bool:
    """True if a name is a package, a module, or defined in a module."""
    path = ROOT
    names = dotted.split(".")
    while names and (path / names[0]).is_dir():
        path /= names.pop(0)
    if names and (path / f"{names[0]}.py").is_file():
        path /= f"{names.pop(0)}.py"
    if not names:
        return True
    source = path if path.suffix else path / "__init__.py"
    body = ast.parse(source.read_text()).body if source.is_file() else []
    for name in names:
        known = defined_in(body)
        if name not in known:
            return False
        body = known[name]
    return True


def ids(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("package", packages(), ids=ids)
def test_the_readme_of_a_package_names_every_module(package: Path) -> None:
    page = readme_of(package)
    modules = {
        module.relative_to(page.parent).as_posix()
        for module in package.glob("*.py")
        if module.name != "__init__.py"
    }

    assert modules - named_in_tables(page) == set()


@pytest.mark.parametrize("package", packages(), ids=ids)
def test_a_readme_names_no_module_that_is_gone(package: Path) -> None:
    page = readme_of(package)
    named = [name for name in named_in_tables(page) if name.endswith(".py")]

    assert [
        name
        for name in named
        if not (page.parent / name).exists() and not (ROOT / name).exists()
    ] == []


@pytest.mark.parametrize("folder", ["torres", "ladder", "ladder/extras"])
def test_the_map_of_a_folder_leads_to_the_readme_of_each_package(folder: str) -> None:
    page = ROOT / folder / "README.md"
    inside = [package for package in packages() if package.parent == page.parent]

    assert {f"{package.name}/README.md" for package in inside} <= named_in_tables(page)
    assert len(inside) > 5


@pytest.mark.parametrize("page", PAGES, ids=ids)
def test_the_links_of_a_page_lead_to_files(page: Path) -> None:
    # An address that begins with a slash is one of the service.
    relative = [
        link
        for link in links(PARSER.parse(page.read_text()))
        if link and not re.match(r"/|\w+:", link)
    ]

    assert [link for link in relative if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("page", TOLD, ids=ids)
def test_the_paths_on_a_page_exist(page: Path) -> None:
    named = [code.split("::")[0] for code in codes(PARSER.parse(page.read_text()))]
    paths = [code for code in named if PATH.fullmatch(code) and code not in NOT_PATHS]

    assert [
        path
        for path in paths
        if not any(ROOT.glob(path)) and not any(page.parent.glob(path))
    ] == []


@pytest.mark.parametrize("page", TOLD, ids=ids)
def test_the_modules_and_names_on_a_page_exist(page: Path) -> None:
    found = [DOTTED.fullmatch(code) for code in codes(PARSER.parse(page.read_text()))]
    names = [match[1] for match in found if match]

    assert [
        name for name in names if not NOT_MODULES.fullmatch(name) and not exists(name)
    ] == []


def test_the_checks_have_something_to_check() -> None:
    told = [code for page in TOLD for code in codes(PARSER.parse(page.read_text()))]

    assert len(packages()) > 30
    assert len([code for code in told if DOTTED.fullmatch(code)]) > 100
    assert len([code for code in told if PATH.fullmatch(code)]) > 40
    assert exists("engine.kernel.Position.legal")
    assert not exists("engine.kernel.Position.no_such_method")
    assert not exists("ladder.no_such_module")
