"""A person's own bots on macOS and Windows: without a sandbox, and without POSIX."""

import json
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.runner.test_languages import need
from torres.cli.new import KITS

LAUNCHER = Path(__file__).with_name("portable_launcher.py")
ROOT = Path(__file__).parents[2]
SYSTEMS = ["darwin", "win32"]
SILENT = """
import os, sys
open("pid", "w").write(str(os.getpid()))
for line in sys.stdin:
    pass
"""
UNFLUSHED = """
import sys
sys.stdout = open(1, "w", buffering=65536)
for line in sys.stdin:
    print('{"type":"ready"}')
"""


def run(system: str, *words: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, LAUNCHER, system, *map(str, words)],
        cwd=cwd,
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT), "HOME": str(cwd)},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_game_is_the_same_as_on_linux(system: str, tmp_path: Path) -> None:
    words = ["play", KITS / "python", "house:climber", "--seed", 1, "--json"]

    here = subprocess.run(
        [Path(sys.executable).with_name("torres"), *map(str, words)],
        capture_output=True,
        text=True,
        check=True,
    )
    there = run(system, *words, "--logs", "logs", cwd=tmp_path)

    assert there.returncode == 0, there.stderr
    assert there.stdout == here.stdout
    assert json.loads(there.stdout)["forfeits"] == []


@pytest.mark.parametrize("kit", ["c", "go", "java", "javascript", "typescript"])
def test_kits_are_built_and_play(kit: str, tmp_path: Path) -> None:
    """Only macOS has compilers whose names end as here, without .exe."""
    need(kit)

    done = run("darwin", "play", KITS / kit, "house:random", "--json", cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["forfeits"] == []


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_bot_can_be_written_and_checked(system: str, tmp_path: Path) -> None:
    made = run(system, "new", "python", "mine", cwd=tmp_path)
    done = run(system, "check", "mine", "--json", "--jobs", 2, cwd=tmp_path)

    assert made.returncode == 0, made.stderr
    report = json.loads(done.stdout)
    assert (report["sandbox"], report["findings"]) == ("none", [])
    assert len(report["games"]) == 12


def test_a_match_is_played_by_several_processes(tmp_path: Path) -> None:
    """As on macOS. Processes of Windows cannot be imitated."""
    words = ("match", "house:random", "house:banker", "--games", 4, "--jobs", 2)

    done = run("darwin", *words, "--state", "match", cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    assert "95 %" in done.stdout


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_replay_is_read_as_on_linux(system: str, tmp_path: Path) -> None:
    pair = ("house:random", "house:banker")
    for words in (
        ("play", *pair, "--replay", "game.json"),
        ("verify", "game.json"),
        ("show", "game.json"),
        ("trace", "game.json"),
        ("render", "game.json", "--output", "game.svg"),
        ("ask", "house:random", "game.json", "--ply", 20),
        ("reproduce", "game.json", "house:random", "--seat", 0),
    ):
        done = run(system, *words, cwd=tmp_path)
        assert done.returncode == 0, (words, done.stderr)


HELD = """
import sys
from pathlib import Path
from torres.common.locks import locked
with locked(Path("lock")) as first, locked(Path("lock")) as second:
    print(first, second)
with locked(Path("lock")) as third:
    print(third)
"""


@pytest.mark.parametrize("system", SYSTEMS)
def test_only_one_process_holds_a_lock(system: str, tmp_path: Path) -> None:
    (tmp_path / "held.py").write_text(HELD)
    program = "import portable_launcher, runpy; runpy.run_path('held.py')"

    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env={"PYTHONPATH": f"{ROOT}:{LAUNCHER.parent}", "IMITATED_SYSTEM": system},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.stdout.split() == ["True", "False", "True"], done.stderr


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_bot_leaves_no_process_behind(system: str, tmp_path: Path) -> None:
    """On macOS its process group ends with it; on Windows the process itself does."""
    (tmp_path / "bot.py").write_text(SILENT)

    done = run(system, "play", "bot.py", "house:random", cwd=tmp_path)

    assert "timeout: " in done.stdout, done.stderr
    assert not Path(f"/proc/{(tmp_path / 'pid').read_text()}").exists()


@pytest.mark.parametrize("system", SYSTEMS)
def test_an_archive_is_opened_or_refused_with_the_reason(
    system: str, tmp_path: Path
) -> None:
    with ZipFile(tmp_path / "bot.zip", "w") as archive:
        archive.write(KITS / "python/bot.py", "bot.py")

    done = run(system, "check", "bot.zip", "--seats", 2, "--json", cwd=tmp_path)

    if system == "win32":
        assert done.returncode == 1
        assert "unpack the archive yourself" in done.stderr
    else:
        assert json.loads(done.stdout)["findings"] == []


FAULTS = {
    "crash": ("import sys; sys.exit(3)", "exit code 3"),
    "protocol": (
        "import sys\nprint('hi', flush=True)\nfor line in sys.stdin: pass",
        "hi",
    ),
    "output": ("import sys\nwhile True: sys.stderr.write('x' * 65536)", "on stderr"),
}


@pytest.mark.parametrize("reason", FAULTS)
def test_faults_are_those_of_linux(reason: str, tmp_path: Path) -> None:
    source, detail = FAULTS[reason]
    (tmp_path / "bad.py").write_text(source)

    done = run("darwin", "play", "bad.py", "house:random", cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    assert f"{reason}: " in done.stdout
    assert detail in done.stdout


def test_an_answer_in_a_buffer_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "bot.py").write_text(UNFLUSHED)

    done = run("win32", "check", ".", "--json", "--seats", 2, cwd=tmp_path)

    codes = [finding["code"] for finding in json.loads(done.stdout)["findings"]]
    assert (done.returncode, codes) == (1, ["no-flush"])


def test_a_sandbox_is_refused_with_the_reason(tmp_path: Path) -> None:
    words = ("play", "house:random", "house:random", "--sandbox", "full")

    done = run("win32", *words, cwd=tmp_path)

    assert done.returncode == 2
    assert "The sandbox needs Linux" in done.stderr
