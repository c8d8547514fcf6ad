"""`torres new`: every kit is small, passes its own test, and plays every game."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import engine
from engine.editions import PRESETS
from ladder.bots.house_bots import COSTLY
from tests.conftest import part_missing
from torres.checking.checkup import play_at_home
from torres.checking.files import inspect_files
from torres.checking.forms import TABLE_SIZES, GameForm, every_form
from torres.checking.games import GameSettings
from torres.checking.staging import uploaded_files
from torres.cli.check import Checker, CheckResult
from torres.cli.commands import COMMANDS
from torres.cli.completion import house_bots
from torres.cli.new import KITS, kits, write_kit
from torres.runner import languages
from torres.runner.compiler import home_cache, prepared
from torres.runner.languages import locate
from torres.runner.protocol import Limits
from torres.runner.sandbox import Sandbox

NAMES = list(kits())
MAX_LINES = 150
FAST = Limits(move_ms=50)  # the search kit takes a share of it


def need(kit: str) -> None:
    language = languages.BY_NAME[kit.partition("-")[0]]
    if packages := languages.missing(language):
        part_missing(f"{language.name} needs apt-get install {' '.join(packages)}")


@pytest.fixture(params=NAMES)
def kit(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, Path]:
    """A kit that `torres new` has written."""
    need(request.param)
    folder = tmp_path / "kit"
    write_kit(request.param, folder)
    return request.param, folder


def test_there_is_a_kit_for_each_language() -> None:
    assert {name for name in NAMES if "-" not in name} == set(languages.BY_NAME)
    assert {path.name for path in KITS.iterdir() if path.is_dir()} == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_kit_is_short_and_has_a_test_and_a_readme(name: str, tmp_path: Path) -> None:
    files = write_kit(name, tmp_path / "kit")

    for file in files:
        assert len(file.read_text().splitlines()) <= MAX_LINES, file
    readme = (tmp_path / "kit" / "README.md").read_text()
    assert kits()[name]["test"] in readme
    assert "{" not in readme
    sources = [file.read_text() for file in files]
    assert any(
        "test" in file.name.lower() or "cfg(test)" in text
        for file, text in zip(files, sources, strict=True)
    )


def editor_file(folder: Path, name: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((folder / ".vscode" / name).read_text())
    return document


@pytest.mark.parametrize("name", NAMES)
def test_the_files_for_editors_name_what_exists(name: str, tmp_path: Path) -> None:
    write_kit(name, tmp_path / "kit")
    tasks = editor_file(tmp_path / "kit", "tasks.json")["tasks"]
    launches = editor_file(tmp_path / "kit", "launch.json")["configurations"]

    labels = {task["label"] for task in tasks}
    named = {each["preLaunchTask"] for each in launches if "preLaunchTask" in each}
    named |= {task["dependsOn"] for task in tasks if "dependsOn" in task}
    assert named <= labels
    assert bool(named) == name.startswith("python")
    for task in tasks:
        assert task["command"] == "torres"
        assert task["args"][0] in COMMANDS
    commands = [each["command"] for each in launches if "command" in each]
    assert commands == ["torres play . house:greedy"]


@pytest.mark.parametrize("name", ["python", "executable"])
def test_an_upload_leaves_the_files_for_editors_out(name: str, tmp_path: Path) -> None:
    files = write_kit(name, tmp_path / "kit")

    uploaded = set(uploaded_files(tmp_path / "kit"))

    left_out = {path.relative_to(tmp_path / "kit") for path in set(files) - uploaded}
    assert left_out == {Path(".vscode/launch.json"), Path(".vscode/tasks.json")}


def test_the_tasks_of_an_editor_run(torres, tmp_path: Path) -> None:
    folder = tmp_path / "kit"
    write_kit("python", folder)
    document = editor_file(folder, "tasks.json")
    answers = {f"${{input:{row['id']}}}": row["default"] for row in document["inputs"]}
    tasks = [task for task in document["tasks"] if not task.get("isBackground")]

    for task in tasks:
        words = [answers.get(word, word) for word in task["args"]]
        done = torres(*words, cwd=folder)

        assert done.returncode == 0, (words, done.stderr)
    assert len(tasks) == 4
    assert "recorded:" in done.stdout


@pytest.mark.slow
def test_a_kit_passes_its_own_test(kit: tuple[str, Path]) -> None:
    name, folder = kit
    command = kits()[name]["test"].replace("python3", sys.executable)
    root = str(Path(__file__).parents[2])

    done = subprocess.run(
        ["bash", "-ec", command],
        cwd=folder,
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": root, "HOME": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr


def test_torres_new_writes_a_bot_that_torres_check_accepts(torres, tmp_path) -> None:
    made = torres("new", "python", "mine")
    checked = torres("check", "mine", "--sandbox", "none", "--json")

    assert made.returncode == 0
    assert "torres check ." in made.stdout
    report = json.loads(checked.stdout)
    assert (checked.returncode, report["passed"], report["findings"]) == (0, True, [])
    assert len(report["games"]) == 12
    assert {game["seats"] for game in report["games"]} == set(TABLE_SIZES)
    assert {game["ruleset"] for game in report["games"]} == set(PRESETS)


def test_the_search_kit_has_two_names(torres, tmp_path: Path) -> None:
    assert torres("new", "python", "--search", "one").returncode == 0
    assert torres("new", "python-search", "two").returncode == 0
    assert torres("new", "c", "--search", "three").returncode == 2

    assert (tmp_path / "one/bot.py").read_text() == (
        tmp_path / "two/bot.py"
    ).read_text()


def test_no_file_of_the_author_is_overwritten(torres, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "bot.py").write_text("precious")

    done = torres("new", "python", "mine")

    assert done.returncode == 2
    assert "not empty" in done.stderr
    assert (tmp_path / "mine" / "bot.py").read_text() == "precious"


@pytest.mark.slow
def test_a_kit_has_no_findings(kit: tuple[str, Path], none: Sandbox) -> None:
    name, folder = kit
    result = CheckResult(name)
    forms = [GameForm("yucata", seats, FAST) for seats in TABLE_SIZES]

    Checker(result, none, 2, quiet=True).run(folder, folder.parent / "bot", forms)

    allowed = {"not-repeatable"} if name == "python-search" else set()
    assert {finding.code for finding in result.findings} <= allowed
    assert [game.form for game in result.games] == forms


@pytest.mark.slow
@pytest.mark.parametrize("name", house_bots())
def test_a_house_bot_has_no_findings(name: str, torres) -> None:
    done = torres("check", f"house:{name}", "--seats", 3, "--json", "--jobs", 2)

    report = json.loads(done.stdout)
    # The search of a costly bot stops by the clock, as that of the kit does. Without a
    # compiler the clock stops `searcher`, too.
    by_the_clock = COSTLY if engine.compiled else COSTLY | {"searcher"}
    allowed = {"not-repeatable"} if name in by_the_clock else set()
    assert {finding["code"] for finding in report["findings"]} <= allowed
    assert len(report["games"]) == 4


def games_of(name: str, folder: Path, sandbox: Sandbox, forms: list[GameForm]) -> None:
    program = prepared(locate(folder), sandbox, home_cache())
    settings = GameSettings(program, sandbox)
    assert inspect_files(program) == []
    for number, form in enumerate(forms):
        game = play_at_home(settings, "kits", (form, number % form.seats))
        assert game.passed, (form, game.forfeit)
        assert game.seen.answers > 0


@pytest.mark.slow
def test_a_kit_plays_every_ruleset(kit: tuple[str, Path], none: Sandbox) -> None:
    every = every_form(FAST)
    shift = NAMES.index(kit[0])
    sample = [every[3 * n + (n + shift) % 3] for n in range(len(PRESETS))]

    games_of(*kit, none, sample)


@pytest.mark.deep
@pytest.mark.sandbox
def test_a_kit_plays_every_ruleset_with_every_number_of_seats(
    kit: tuple[str, Path], full: Sandbox
) -> None:
    games_of(*kit, full, every_form(FAST))


@pytest.mark.deep
def test_the_search_kit_beats_greedy(torres, tmp_path: Path) -> None:
    shutil.copytree(KITS / "python-search", tmp_path / "search")

    done = torres(
        "play",
        "search",
        "house:greedy",
        "--games",
        20,
        "--rotate",
        "--json",
        "--seed",
        "kits",
        timeout=3600,
    )

    wins = 0
    for number, line in enumerate(done.stdout.splitlines()):
        game = json.loads(line)
        assert game["forfeits"] == []
        wins += game["ranks"][number % 2] == 1
    assert wins >= 16
