"""In each app only services change rows: views, serializers, forms and pages do not.

The import contracts name folders. This test reads the calls in the modules of all apps.
"""

import ast
import re
from pathlib import Path

import pytest

READERS = re.compile(
    r"/(\w*views|\w*serializers|\w*forms|\w*_pages|selectors|visibility|filters|admin"
    r"|urls|permissions)\.py$|/views/|/web/pages/|/web/api/"
)
ANYWHERE = {"save", "delete", "bulk_create", "bulk_update"}
OF_ROWS = {"create", "update", "get_or_create", "update_or_create"}
MODULES = [
    path
    for path in sorted(Path("ladder").rglob("*.py"))
    if READERS.search(path.as_posix())
]


def writes(path: Path) -> list[str]:
    """Return the calls of a module that change rows of the database.

    A call of a function of an imported module is none: it is a service.
    """
    tree = ast.parse(path.read_text())
    imported = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.name.islower()
    }
    found = []
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
            continue
        receiver = ast.unparse(node.func.value)
        if receiver in imported:
            continue
        is_query = ".objects" in receiver or isinstance(node.func.value, ast.Call)
        name = node.func.attr
        if name in ANYWHERE or (name in OF_ROWS and is_query):
            found.append(f"{path}:{node.lineno}: {ast.unparse(node)[:80]}")
    return found


@pytest.mark.parametrize("path", MODULES, ids=str)
def test_a_module_that_reads_changes_no_rows(path: Path) -> None:
    assert not writes(path)


def test_the_modules_of_every_app_are_read(tmp_path: Path) -> None:
    apps = {path.parent for path in Path("ladder").rglob("models.py")}
    folders = {parent for path in MODULES for parent in path.parents}
    # Readers of events call `stream`, which gives them their numbers.
    assert apps - folders <= {Path("ladder/events")}
    module = tmp_path / "views.py"
    module.write_text("Bot.objects.filter(pk=1).update(name='x')\nbot.save()")
    assert len(writes(module)) == 2
