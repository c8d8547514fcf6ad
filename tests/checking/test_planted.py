"""`torres check` finds each planted mistake, names it, and says what to do."""

import re
from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.checking.planted import PLANTED, Planted, bot
from tests.conftest import need_program
from torres.checking.causes import CAUSES
from torres.checking.forms import GameForm
from torres.cli.check import Checker, CheckResult
from torres.runner.protocol import Limits
from torres.runner.sandbox import Sandbox

SHORT = Limits(start_ms=2_000, move_ms=300, bank_ms=700)
FORMS = [
    *(GameForm("yucata", seats, SHORT) for seats in (2, 3, 4)),
    GameForm("devir-2017", 2, SHORT),
]


def checked(
    files: dict[str, str | bytes], sandbox: Sandbox, folder: Path
) -> CheckResult:
    if "bot.c" in files:
        need_program("gcc", "gcc")
    source = folder / "source"
    source.mkdir()
    for name, content in files.items():
        data = content.encode() if isinstance(content, str) else content
        (source / name).write_bytes(data)
        if data.startswith(b"#!"):
            (source / name).chmod(0o755)
    result = CheckResult("planted", level=sandbox.level)
    Checker(result, sandbox, 1, quiet=True).run(source, folder / "bot", FORMS)
    return result


def assert_explained(planted: Planted, result: CheckResult) -> None:
    codes = [finding.code for finding in result.findings]
    assert planted.code in codes, result.findings
    finding = result.findings[codes.index(planted.code)]
    for sentence in (finding.cause, finding.cure):
        assert sentence[0].isupper() or sentence[0] in "\"'/"
        assert sentence[-1] in ".?"


@pytest.mark.parametrize("planted", PLANTED, ids=str)
def test_a_planted_mistake_is_found_and_explained(
    planted: Planted, none: Sandbox, tmp_path: Path
) -> None:
    assert_explained(planted, checked(planted.files, none, tmp_path))


ENFORCED = {
    "writes-folder",
    "needs-network",
    "too-many-processes",
    "memory",
    "memory-grows",
    "no-flush",
    "ignores-end",
    "closes-stdout",
    "missing-import",
    "depends-on-seats",
    "does-not-compile",
    "exits-early",
}
"""The codes of the mistakes whose effect depends on the sandbox."""


@pytest.mark.sandbox
@pytest.mark.parametrize(
    "planted", [planted for planted in PLANTED if planted.code in ENFORCED], ids=str
)
def test_the_sandbox_of_the_server_gives_the_same_finding(
    planted: Planted, full: Sandbox, tmp_path: Path
) -> None:
    assert_explained(planted, checked(planted.files, full, tmp_path))


def test_packages_of_wheels_are_not_searched_for_mistakes(
    none: Sandbox, tmp_path: Path
) -> None:
    foreign = "import no_such_module_at_all"
    files = {
        "bot.py": bot(head="import vendored"),
        "vendored/__init__.py": "",
        "vendored/__config__.py": foreign,
        "vendored-1.0.dist-info/RECORD": "vendored/__init__.py,,\nbot.py,,\n",
    }

    assert packed_check(files, none, tmp_path).findings == []

    own = packed_check({**files, "own.py": foreign}, none, tmp_path / "second")
    assert [finding.code for finding in own.findings] == ["foreign-import"]


def test_the_cost_of_the_start_is_printed(
    none: Sandbox, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "bot.py").write_text(bot())
    checker = Checker(CheckResult("one", level=none.level), none, 1, quiet=False)

    checker.run(tmp_path / "bot.py", tmp_path / "copy", FORMS[:1])

    assert re.search(r"Its start costs \d+ ms", capsys.readouterr().err)


def packed_check(files: dict[str, str], sandbox: Sandbox, folder: Path) -> CheckResult:
    folder.mkdir(exist_ok=True)
    archive = folder / "bot.zip"
    with ZipFile(archive, "w") as packed:
        for name, content in files.items():
            packed.writestr(name, content)
    result = CheckResult("packed", level=sandbox.level)
    Checker(result, sandbox, 1, quiet=True).run(archive, folder / "bot", FORMS[:1])
    return result


def test_an_archive_is_checked_as_its_upload(none: Sandbox, tmp_path: Path) -> None:
    result = packed_check({"my-bot/bot.py": bot()}, none, tmp_path)

    assert result.language == "python"
    assert [finding.code for finding in result.findings] == []


@pytest.mark.parametrize(
    ("files", "code"),
    [
        ({"../bot.py": ""}, "unsafe-path"),
        ({"main.txt": ""}, "no-entry"),
    ],
)
def test_an_archive_that_a_ladder_refuses_is_a_fault(
    none: Sandbox, tmp_path: Path, files: dict[str, str], code: str
) -> None:
    (finding,) = packed_check(files, none, tmp_path).findings

    assert finding.code == code


def test_there_are_enough_planted_mistakes() -> None:
    assert len({planted.code for planted in PLANTED}) >= 25


def test_every_row_of_the_table_has_a_planted_bot() -> None:
    untested = {"plays-fresh-card"}  # depends on the cards that are drawn

    assert {row.code for row in CAUSES} <= {p.code for p in PLANTED} | untested


def test_a_missing_main_file_is_explained_by_the_files_that_are_there(
    none: Sandbox, tmp_path: Path
) -> None:
    files = {f"part{number}.py": "" for number in range(9)}

    (finding,) = checked(dict(files), none, tmp_path).findings

    assert "it holds part0.py, part1.py" in finding.evidence
    assert "and 3 more" in finding.evidence
