"""Habits of language that must not come back, in every file of the repository."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs import pages

ROOT = Path(__file__).parents[2]
PROSE = {".py", ".pxd", ".md", ".html", ".js", ".css", ".toml", ".sh", ".yaml"}
HERE = Path(__file__).resolve()

PHRASES = [
    r"[Ww]hoever",
    r"\b[Ss]o (many|much)\b(?! (as|that|more|less|longer))",
    r"\b(come|comes|came) out\b",
    r"\b[Mm]ended\b",
    r"\bdear\b",
    r"\bdeaf\b",
    r"\bfinds it\b",
    r"[Ww]hether who\b",
    r"\bwho starts bots\b",
    r"\b(is|are|was) due\b",
    r"\bhas had its say\b",
]
"""Words and turns that a reader has to translate, with the standard term beside them
in docs/glossary.md or in plain English: fixed, expensive, unresponsive, adds up."""

OPENINGS = re.compile(r"(Who|What|Whether|Where|So|Of|That) ")
"""A docstring that begins so is a clause in place of a sentence."""

DOCUMENT = re.compile(r"(?<![\w/.-])((?:\.{1,2}/)*[\w][\w/.-]*\.md)\b")
FOREIGN = re.compile(r"\b(research|reviews)/\w+|\bDECISIONS(\.md| \d)|\bissue \d+\b")


def files(*suffixes: str) -> list[Path]:
    return [path for path in pages.files(*suffixes) if path.resolve() != HERE]


def docstrings(path: Path) -> Iterator[tuple[ast.AST, str]]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(
            node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
        ):
            text = ast.get_docstring(node)
            if text:
                yield node, text


def name(path: Path, line: int) -> str:
    return f"{path.relative_to(ROOT)}:{line}"


@pytest.mark.parametrize("phrase", PHRASES)
def test_a_phrase_that_needs_translation_is_not_used(phrase: str) -> None:
    pattern = re.compile(phrase)
    places = [
        f"{name(path, number)}: {line.strip()}"
        for path in files(*PROSE)
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if pattern.search(line)
    ]

    assert places == []


def test_a_docstring_is_a_sentence() -> None:
    places = [
        f"{name(path, getattr(node, 'lineno', 1))}: {text.splitlines()[0]}"
        for path in files(".py")
        for node, text in docstrings(path)
        if OPENINGS.match(text)
    ]

    assert places == []


def test_only_a_function_that_returns_says_return() -> None:
    places = [
        f"{name(path, node.lineno)}: {text.splitlines()[0]}"
        for path in files(".py")
        for node, text in docstrings(path)
        if isinstance(node, ast.FunctionDef)
        and text.startswith("Return")
        and isinstance(node.returns, ast.Constant)
        and node.returns.value is None
    ]

    assert places == []


def test_every_document_that_is_cited_is_here() -> None:
    places = []
    for path in files(*PROSE):
        homes = (path.parent, ROOT, ROOT / "docs")
        if path.name == "test_docs_pages.py":  # it makes pages of its own
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            cited = [
                document
                for document in DOCUMENT.findall(line)
                if not any((home / document).exists() for home in homes)
            ]
            if cited or FOREIGN.search(line):
                places.append(f"{name(path, number)}: {line.strip()}")

    assert places == []
