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

OPENINGS = r"(Who|What|Whether|Where|So|Of|That) "
"""A docstring that begins so is a clause in place of a sentence."""

DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
DOCUMENT = re.compile(r"(?<![\w/.-])((?:\.{1,2}/)*[\w][\w/.-]*\.md)\b")
FOREIGN = re.compile(r"\b(research|reviews)/\w+|\bDECISIONS(\.md| \d)|\bissue \d+\b")


def files(*suffixes: str) -> list[Path]:
    return [path for path in pages.files(*suffixes) if path.resolve() != HERE]


def docstrings(opening: str, after: str = "") -> Iterator[tuple[Path, ast.AST, str]]:
    """Yield the docstrings that begin with a pattern.

    To parse all files takes ten seconds, so a file is parsed only if some string in it
    begins so, after another pattern.
    """
    candidate = re.compile(rf"""{after}["']\s*\\?\s*{opening}""")
    for path in files(".py"):
        source = path.read_text()
        if candidate.search(source):
            for node in ast.walk(ast.parse(source)):
                if isinstance(node, DOCUMENTED):
                    text = ast.get_docstring(node)
                    if text and re.match(opening, text):
                        yield path, node, text


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
        for path, node, text in docstrings(OPENINGS)
    ]

    assert places == []


def test_only_a_function_that_returns_says_return() -> None:
    returns_nothing = r"-> None:.*\s+[\"']*"
    places = [
        f"{name(path, node.lineno)}: {text.splitlines()[0]}"
        for path, node, text in docstrings("Return", after=returns_nothing)
        if isinstance(node, ast.FunctionDef)
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
