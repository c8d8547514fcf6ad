"""Every area of the benchmarks runs, and the command fails if a figure is missed."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.bench import __main__ as command
from tests.bench.areas import AREAS, AreaFailed, Row, rows_of
from tests.browser import CHROMIUM
from tests.conftest import part_missing

SERVERS = ("execution", "public log", "game writes")

Measure = Callable[[str], list[Row]]


@pytest.fixture
def _parts(area: str, request: pytest.FixtureRequest) -> None:
    """Skip an area that needs a part which this machine does not have."""
    if area == "sandbox":
        request.getfixturevalue("full")
    if area == "pages" and CHROMIUM is None:
        part_missing("needs Chromium: apt-get install chromium")
    postgres = shutil.which("initdb") or Path("/usr/lib/postgresql").is_dir()
    if area in SERVERS and not (postgres and shutil.which("redis-server")):
        part_missing("needs servers: apt-get install postgresql redis-server")


@pytest.mark.slow
@pytest.mark.usefixtures("_parts")
@pytest.mark.parametrize("area", AREAS)
def test_each_area_runs_in_its_short_form(area: str) -> None:
    rows = rows_of(area, short=True)
    assert rows
    assert all(row.what for row in rows)


def test_an_area_that_cannot_run_says_why() -> None:
    with pytest.raises(AreaFailed, match="KeyError: 'no such area'"):
        rows_of("no such area")


def _result(
    measure: Measure, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> tuple[int, str]:
    """Return the exit code and the output of the command for two areas."""
    monkeypatch.setattr(command, "rows_of", measure)
    code = command.main(["engine", "cli"])
    return code, capsys.readouterr().out


@pytest.mark.parametrize(
    ("row", "failure"),
    [
        (Row("ms of a page", 60.0, "≤ 50", False), "ms of a page: 60.00, target ≤ 50"),
        (Row("ratio", None, "≥ 2", True), "ratio: no peer to compare with"),
    ],
)
def test_the_command_fails_after_all_areas(
    row: Row,
    failure: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture,
) -> None:
    rows = {"engine": [row], "cli": [Row("ms of a start", 90.0, "≤ 300", True)]}
    code, output = _result(rows.__getitem__, monkeypatch, capsys)
    assert code == 1
    assert "ms of a start" in output
    assert output.endswith(f"\nFailures: 1\n- engine, {failure}\n")


def test_an_area_that_cannot_run_fails_the_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    def measure(area: str) -> list[Row]:
        if area == "engine":
            raise AreaFailed("It took more than 900 s.")
        return [Row("ms of a start", 90.0, "≤ 300", True)]

    code, output = _result(measure, monkeypatch, capsys)
    assert code == 1
    assert "ms of a start" in output
    assert "- engine was not measured: It took more than 900 s.\n" in output


def test_figures_without_targets_fail_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    rows = [Row("chess, moves a second", None, "-", True), Row("τ", 0.9, "", True)]
    code, _ = _result(lambda _: rows, monkeypatch, capsys)
    assert code == 0
