"""The map of the code names functions that exist; the hooks run the linters."""

import ast
import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
READING = (ROOT / "docs/reading-the-code.md").read_text()
ITEM = re.compile(r"^(\d+)\. `([^`]+)`: ((?:`\w+`(?:, )?)+)\.", re.MULTILINE)


def test_ten_files_are_to_be_read() -> None:
    items = ITEM.findall(READING)

    assert [int(number) for number, _, _ in items] == list(range(1, 11))
    lines = sum(len((ROOT / file).read_text().splitlines()) for _, file, _ in items)
    assert f"{round(lines, -3):,} lines" in READING


@pytest.mark.parametrize(("number", "file", "names"), ITEM.findall(READING))
def test_the_names_to_look_for_are_defined(number: str, file: str, names: str) -> None:
    defined = {
        node.name
        for node in ast.walk(ast.parse((ROOT / file).read_text()))
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
    }

    assert set(re.findall(r"\w+", names)) <= defined


def test_the_hooks_before_a_commit_are_the_linters_of_make_test() -> None:
    config = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())
    hooks = [hook for repo in config["repos"] for hook in repo["hooks"]]
    linters = re.findall(
        r'^"\$bin/([\w-]+)"(.*)$', (ROOT / "tests/check.sh").read_text(), re.MULTILINE
    )

    assert {repo["repo"] for repo in config["repos"]} == {"local"}
    assert [hook["entry"] for hook in hooks] == [
        f".venv/bin/{program}{arguments}" for program, arguments in linters
    ]
