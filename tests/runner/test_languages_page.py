"""docs/languages.md says what the code does: authors rely on the page."""

from pathlib import Path

import pytest

from torres.runner import compiler
from torres.runner.languages import LANGUAGES, Language
from torres.runner.protocol import Limits
from torres.runner.sandbox.staging import DEVICES
from torres.runner.sandbox.zygote_sandbox import ENV
from torres.upload.checks import UploadLimits

PAGE = (Path(__file__).parents[2] / "docs/languages.md").read_text()
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in PAGE.splitlines()
    if line.startswith("|")
]
MIB = 1 << 20


def cells_of(name: str) -> str:
    """Return all table rows that are about a language."""
    rows = [row for row in ROWS if f"`{name}`" in row[0]]
    return " ".join(cell for row in rows for cell in row[1:])


def command(language: Language, words: tuple[str, ...]) -> str:
    entry = f"bot{language.suffixes[0]}"
    if words == language.compile:
        entry = f"./{entry}"
    text = " ".join(words).replace("{stem}", "bot")
    return text.replace("{entry}", entry)


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda language: language.name)
def test_every_language_is_described(language: Language) -> None:
    cells = cells_of(language.name)

    assert cells
    for suffix in filter(None, language.suffixes):
        assert f"`bot{suffix}`" in cells
    for _, package in language.needs:
        assert f"`{package}`" in cells
    if language.compile:
        assert f"`{command(language, language.compile)}`" in cells
    if language.name != "executable":
        assert f"`{command(language, language.run)}`" in cells


def test_the_limits_of_uploads_are_those_of_the_code() -> None:
    values = {row[0]: row[1] for row in ROWS}
    limits = UploadLimits()

    assert values["packed size"] == f"{limits.packed // MIB} MiB"
    assert values["unpacked size"] == f"{limits.unpacked // MIB} MiB"
    assert values["entries"] == f"{limits.files:,}"
    assert values["length of a path"] == f"{limits.path} bytes in UTF-8"
    assert values["depth of a path"] == f"{limits.depth} parts"


def test_the_limits_of_compilers_are_those_of_the_code() -> None:
    text = " ".join(PAGE.split())
    limits = compiler.LIMITS

    assert f"{limits.memory_mb:,} MiB of memory" in text
    assert f"`/tmp` of {limits.tmp_mb} MiB" in text
    assert f"{limits.pids} processes and threads" in text
    assert f"files of {compiler.OUT_MB} MiB in all" in text
    assert f"{compiler.SECONDS} s of CPU time" in text


def test_what_a_bot_gets_is_what_the_code_gives() -> None:
    text = " ".join(PAGE.split())
    limits = Limits()

    assert f"{limits.memory_mb} MiB (`memory_mb`)" in text
    assert f"{limits.pids} (`pids`)" in text
    assert f"{limits.tmp_mb} MiB (`tmp_mb`)" in text
    for name in DEVICES:
        assert f"`/dev/{name}`" in text
    for name, value in ENV.items():
        assert f"`{name}={value}`" in text
