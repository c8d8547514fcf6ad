"""docs/rules-coverage.md names the code and the tests of every rule of docs/rules.md.

The table agrees with three other places: with the numbers in docs/rules.md, with the
code, which cites its rules ("rule 44", "rules 10, 44-46"), and with the tests, which
are marked with theirs (`@pytest.mark.rule(44, 45)`).
"""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
RULES = ROOT / "docs/rules.md"
PAGE = ROOT / "docs/rules-coverage.md"
TEST_FILES = sorted((ROOT / "tests/engine").glob("test_*.py"))

NUMBERED = re.compile(r"^(\d+)\. ", re.MULTILINE)
ROW = re.compile(r"^\| (\d+) \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$", re.MULTILINE)
NAME = re.compile(r"`([^`]+)`")
CITATION = re.compile(r"[Rr]ules? (\d+(?:-\d+)?(?:(?:, | and |, and )\d+(?:-\d+)?)*)")


class RuleRow(NamedTuple):
    """One line of the table. The names have the form `file.py::Class.name`."""

    rule: int
    topic: str
    code: list[str]
    tests: list[str]


def rows() -> list[RuleRow]:
    found = ROW.findall(PAGE.read_text())
    return [
        RuleRow(int(rule), topic, NAME.findall(code), NAME.findall(tests))
        for rule, topic, code, tests in found
    ]


def cited(text: str) -> set[int]:
    """Return the numbers of all rules that a text cites."""
    numbers: set[int] = set()
    for citation in CITATION.findall(text):
        for part in re.findall(r"\d+(?:-\d+)?", citation):
            first, _, last = part.partition("-")
            numbers.update(range(int(first), int(last or first) + 1))
    return numbers


def definitions(body: list[ast.stmt], prefix: str = "") -> Iterator[tuple[str, int]]:
    """Yield the names that a module defines, each with its index in its body."""
    for index, node in enumerate(body):
        match node:
            case ast.FunctionDef(name=name):
                yield prefix + name, index
            case ast.ClassDef(name=name):
                yield prefix + name, index
            case ast.Assign(targets=[ast.Name(id=name)]):
                yield prefix + name, index
            case ast.AnnAssign(target=ast.Name(id=name)):
                yield prefix + name, index


def source_of(name: str) -> str | None:
    """Return the source of `file.py::Class.name` with the text that belongs to it.

    The text is the comment directly above, and the string directly below a constant.
    The result is None if the file does not define the name.
    """
    file, _, path = name.partition("::")
    if not (ROOT / file).is_file():
        return None
    lines = (ROOT / file).read_text().splitlines()
    body = ast.parse("\n".join(lines)).body
    node: ast.stmt | None = None
    for part in path.split("."):
        if node is not None:
            body = getattr(node, "body", [])
        index = dict(definitions(body)).get(part)
        if index is None:
            return None
        node = body[index]
    assert node is not None
    start = node.lineno - 1
    while lines[start - 1].strip().startswith("#"):
        start -= 1
    end = node.end_lineno
    after = body[index + 1] if index + 1 < len(body) else None
    if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(after, ast.Expr):
        end = after.end_lineno
    return "\n".join(lines[start:end])


def marked() -> dict[int, set[str]]:
    """Return the tests of tests/engine by the numbers in their `rule` marks."""
    found = defaultdict(set)
    for path in TEST_FILES:
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                name = f"{path.relative_to(ROOT)}::{node.name}"
                for mark in node.decorator_list:
                    if ast.unparse(mark).startswith("pytest.mark.rule("):
                        assert isinstance(mark, ast.Call)
                        for number in mark.args:
                            found[ast.literal_eval(number)].add(name)
    return dict(found)


def test_every_rule_has_one_row() -> None:
    numbers = [int(number) for number in NUMBERED.findall(RULES.read_text())]

    assert numbers == list(range(1, 73))
    assert [row.rule for row in rows()] == numbers


def test_the_code_of_a_rule_exists_and_cites_it() -> None:
    wrong = []
    for row in rows():
        for name in row.code:
            source = source_of(name)
            if source is None:
                wrong.append(f"rule {row.rule}: {name} does not exist")
            elif row.rule not in cited(source):
                wrong.append(f"rule {row.rule}: {name} does not cite it")
        if not row.code:
            wrong.append(f"rule {row.rule}: no code")

    assert wrong == []


def test_the_tests_of_a_rule_are_those_that_are_marked_with_it() -> None:
    listed = {row.rule: set(row.tests) for row in rows()}

    assert listed == marked()
    assert all(listed.values())


def test_citations_are_read_with_lists_and_ranges() -> None:
    text = "Rule 4; rules 10, 44-46 (rules 7 and 9)."

    assert cited(text) == {4, 7, 9, 10, 44, 45, 46}
    assert cited("in 3 rules of 44, ruling D-5") == set()


def test_a_source_has_its_comment_and_nothing_of_its_neighbours() -> None:
    block = source_of("engine/board.py::Board.block")
    blocks = source_of("engine/rulesets.py::BLOCKS")

    assert block
    assert block.strip().startswith("def block(self)")
    assert "under_knight" not in block
    assert blocks == "BLOCKS = 92  # rule 2"
    assert source_of("engine/board.py::Board.castle_of") is None
    assert source_of("engine/nothing.py::Board") is None
