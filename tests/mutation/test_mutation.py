"""The table of areas follows the code, and a comparison finds mutants that survive."""

import json
from pathlib import Path

import pytest

from tests.mutation.areas import AREAS
from tests.mutation.results import compare

ROOT = Path(__file__).parents[2]


def test_the_table_names_modules_and_tests_that_exist() -> None:
    tables = [area.tests for area in AREAS.values()]
    words = {word for table in tables for tests in table.values() for word in tests}
    files = {word for word in words if word.endswith(".py")}
    files |= {path for table in tables for path in table}
    assert len(files) > len(AREAS)
    assert [path for path in sorted(files) if not (ROOT / path).is_file()] == []


def _file(path: Path, **outcomes: str) -> Path:
    rows = [
        {"id": id_, "area": "engine", "path": "p.py", "line": 7, "outcome": outcome}
        for id_, outcome in outcomes.items()
    ]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


def test_a_mutant_that_survives_now_fails_the_comparison(
    tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    before = _file(tmp_path / "b", a="killed", b="timeout", c="survived", d="killed")
    after = _file(tmp_path / "a", a="killed", b="survived", c="killed")
    assert compare(before, after) == 1
    output = capsys.readouterr().out
    assert "| engine | 3 | 2 | 2 | 1 |" in output
    assert "survives now: b (p.py:7)\nonly before, killed: d\n" in output
    assert compare(before, before) == 0
