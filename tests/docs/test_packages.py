"""The page about packages, followed word for word with the package index of pip."""

import json
import shutil
from pathlib import Path

import pytest

from tests.conftest import need_program, part_missing
from tests.docs.pages import PAGES_FOLLOWED, ROOT, follow, run, steps

PAGE = PAGES_FOLLOWED["packages"]


def need_index(folder: Path) -> None:
    """Skip the test if pip does not reach a package index that has numpy."""
    command = "python -m pip download --quiet --no-deps --dest fetched numpy"
    try:
        run(command, folder)
    except AssertionError as why:
        part_missing(f"needs the package index: {why}")
    shutil.rmtree(folder / "fetched")


@pytest.mark.slow
@pytest.mark.sandbox
def test_a_bot_with_numpy_plays_in_the_sandbox(tmp_path: Path) -> None:
    need_index(tmp_path)

    outputs = {text.split()[1]: out for text, out in follow(PAGE, tmp_path)}

    assert outputs["vendor"].startswith("numpy ")
    assert "12 games, 0 faults, 0 warnings (sandbox: full" in outputs["check"]
    assert "*near" in outputs["play"] or "*random" in outputs["play"]
    checked = json.loads(run("torres check near --seats 2 --json", tmp_path).stdout)
    assert max(game["memory_mb"] for game in checked["games"]) < 100


@pytest.mark.slow
@pytest.mark.sandbox
def test_a_bot_with_a_module_of_npm_plays_in_the_sandbox(tmp_path: Path) -> None:
    need_program("npm", "npm")
    install = next(text for _, text in steps(PAGE) if text.startswith("npm install"))
    run("torres new javascript bot", tmp_path)
    folder = tmp_path / "bot"
    try:
        run(install, folder)
    except AssertionError as why:
        part_missing(f"needs the registry of npm: {why}")
    source = (folder / "bot.js").read_text()
    queue = 'const Queue = require("denque"); new Queue([1]).push(2);'
    (folder / "bot.js").write_text(f"{queue}\n{source}")

    done = run("torres check . --seats 2 --json", folder)

    assert json.loads(done.stdout)["passed"]


def test_the_bot_of_the_page_imports_what_the_page_fetches() -> None:
    texts = [text for file, text in steps(PAGE) if not file]

    assert "torres vendor numpy --into near" in texts
    assert (ROOT / "docs/README.md").read_text().count("(packages.md)") == 1
