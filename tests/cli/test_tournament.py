"""`torres tournament`, run as a person runs it, and killed in the middle."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tomllib
from dataclasses import asdict, fields
from pathlib import Path
from random import Random
from threading import Event

import pytest

from torres.cli.new import KITS
from torres.cli.tournament_folder import IDENTITY_FILE, OWN_KEYS, load
from torres.formats.config import Config, TieBreak, read_config
from torres.runner.protocol import Limits

TORRES = Path(sys.executable).with_name("torres")
PROGRAMS = Path(__file__).parent.parent / "runner" / "programs"
PAGE = (Path(__file__).parents[2] / "docs" / "tournaments.md").read_text()
EXAMPLES = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
FILE = """
name = "Friday cup"
bots = "bots"
entrants = ["house:greedy", "house:random"]
format = "{form}"
seed = "friday"
{more}
"""


def write(folder: Path, form: str, more: str = "", bots: tuple[str, ...] = ()) -> Path:
    """Write cup.toml and a folder of bots; return the path of the file."""
    (folder / "bots").mkdir(exist_ok=True)
    for name in bots:
        source = (PROGRAMS / f"{name}.py").read_text()
        (folder / "bots" / f"{name}.py").write_text(source)
    (folder / "cup.toml").write_text(FILE.format(form=form, more=more))
    return folder / "cup.toml"


def run(file: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [TORRES, "tournament", file, *options],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


def standings(file: Path, *options: str) -> dict[str, object]:
    done = run(file, "--json", *options)
    assert done.returncode == 0, done.stderr
    document: dict[str, object] = json.loads(done.stdout)
    return document


@pytest.mark.slow
@pytest.mark.parametrize("form", ["swiss", "double_elimination", "round_robin"])
def test_a_folder_of_bots_plays_with_a_crashing_one_among_them(
    tmp_path: Path, form: str
) -> None:
    file = write(tmp_path, form, bots=("first", "exit_after_answer", "illegal"))
    done = run(file, "--jobs", "2")
    replays = sorted((tmp_path / "cup").glob("round-*.json"))
    verdicts = subprocess.run(
        [TORRES, "verify", *replays], capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stderr
    assert "Friday cup" in done.stdout
    for name in ("greedy", "random", "first", "exit_after_answer", "illegal"):
        assert name in done.stdout
    assert verdicts.returncode == 0, verdicts.stdout


def test_a_finished_tournament_is_printed_and_a_changed_one_is_refused(
    tmp_path: Path,
) -> None:
    file = write(tmp_path, "round_robin")
    first = standings(file)
    assert first["over"] is True
    assert standings(file) == first

    write(tmp_path, "round_robin", 'ruleset = "rio-grande-1999"')
    refused = run(file)
    assert refused.returncode == 2
    assert "holds a tournament with different ruleset" in refused.stderr
    assert len(refused.stderr.splitlines()) == 1


def test_a_bot_with_a_changed_second_source_is_another_tournament(
    tmp_path: Path,
) -> None:
    bot = tmp_path / "bots" / "mine"
    bot.mkdir(parents=True)
    (bot / "bot.py").write_text("import plan\n")
    (bot / "plan.py").write_text("raise SystemExit(3)\n")
    file = write(tmp_path, "round_robin", "duplicate = false")
    first = standings(file)
    (bot / "__pycache__").mkdir()
    (bot / "__pycache__" / "plan.pyc").write_bytes(b"not a source")
    assert standings(file) == first

    (bot / "plan.py").write_text("raise SystemExit(4)\n")
    refused = run(file)

    assert refused.returncode == 2
    assert "holds a tournament with different bots" in refused.stderr


def test_the_help_keeps_the_lines_of_its_examples() -> None:
    done = subprocess.run(
        [TORRES, "tournament", "--help"], capture_output=True, text=True, check=True
    )
    lines = [line.strip() for line in done.stdout.splitlines()]

    assert "torres tournament friday.toml --jobs 4 --sandbox full" in lines
    assert "\\b" not in done.stdout


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ("rounds = -1", "rounds: -1"),
        ("colour = 3", "unknown key: 'colour'"),
        ('ruleset = "chess"', "chess"),
        ("limits = 3", "limits: 3; it must be a table"),
        ("[limits]\nmove_ms = 0", "move_ms: 0"),
        ("= 3", "Invalid"),
    ],
)
def test_a_bad_file_is_one_line_and_exit_code_2(
    tmp_path: Path, more: str, why: str
) -> None:
    refused = run(write(tmp_path, "swiss", more))

    assert refused.returncode == 2
    assert why in refused.stderr
    assert len(refused.stderr.splitlines()) == 1


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    refused = run(tmp_path / "nothing.toml")

    assert refused.returncode == 2
    assert "nothing.toml" in refused.stderr


# What docs/tournaments.md promises.


def test_every_key_is_explained_on_the_page() -> None:
    rows = [field.name for field in fields(Config)]
    rows += [name for name in OWN_KEYS if name not in ("switches", "limits")]
    for name in [*rows, "[switches]", "[limits]", *TieBreak]:
        assert f"| `{name}` |" in PAGE
    flat = " ".join(PAGE.split())
    for name, value in asdict(Limits()).items():
        assert f"`{name} = {value}`" in flat


@pytest.mark.parametrize("example", EXAMPLES)
def test_every_example_of_the_page_is_accepted(tmp_path: Path, example: str) -> None:
    file = tmp_path / "example.toml"
    file.write_text(example)

    if "entrants" in example:
        assert load(file).bots
    else:
        assert read_config(tomllib.loads(example))


def test_the_first_example_ends_as_on_the_page(tmp_path: Path) -> None:
    (tmp_path / "cup.toml").write_text(EXAMPLES[0])
    done = run(tmp_path / "cup.toml")
    rows = [line.split() for line in done.stdout.splitlines()]

    assert rows[0] == ["House", "cup"]
    assert len(rows) == 7
    for row in rows:
        assert row in [line.split() for line in PAGE.splitlines()]


def kill_when(file: Path, count: int) -> bool:
    """Run it, and kill it after ``count`` games; False if it ends before."""
    folder = file.with_suffix("")
    never = Event()
    process = subprocess.Popen(
        [TORRES, "tournament", file, "--json", "--jobs", "2"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    while process.poll() is None:
        if len(list(folder.glob("round-*.json"))) >= count:
            process.send_signal(signal.SIGKILL)
            process.wait()
            return True
        never.wait(0.002)
    return False


@pytest.mark.deep
def test_a_double_elimination_of_64_bots_survives_ten_kills(tmp_path: Path) -> None:
    """Killed with SIGKILL at ten random moments, the bracket is that of a quiet run."""
    bots = ", ".join(["'house:random'"] * 64)
    text = (
        f"format = 'double_elimination'\nentrants = [{bots}]\nseed = '64'\n"
        "duplicate = false\n"
    )
    for name in ("quiet", "killed"):
        (tmp_path / f"{name}.toml").write_text(text + "name = 'cup'\n")
    quiet = standings(tmp_path / "quiet.toml", "--jobs", "2")
    games = len(list((tmp_path / "quiet").glob("round-*.json")))
    moments = sorted(Random(64).sample(range(1, games), 10))
    kills = [kill_when(tmp_path / "killed.toml", at) for at in moments]

    assert all(kills)
    assert standings(tmp_path / "killed.toml", "--jobs", "2") == quiet
    for path in sorted((tmp_path / "quiet").glob("round-*.json")):
        one = json.loads(path.read_text())
        two = json.loads((tmp_path / "killed" / path.name).read_text())
        assert one["result"] == two["result"]
        assert one["players"] == two["players"]


def test_a_compiled_bot_is_compiled_and_plays(tmp_path: Path) -> None:
    if not shutil.which("gcc"):
        assert os.environ.get("TESTS_REQUIRE_ALL") != "1", "gcc is not installed"
        pytest.skip("gcc is not installed")
    file = write(tmp_path, "round_robin")
    shutil.copytree(KITS / "c", tmp_path / "bots" / "compiled")

    done = run(file)

    assert done.returncode == 0, done.stderr
    replays = list((tmp_path / "cup").glob("round-*.json"))
    games = [json.loads(path.read_text()) for path in replays]
    own = [game for game in games if "compiled" in str(game["players"])]
    assert own
    assert not any(game["forfeits"] for game in own)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ('name = ["a"]', "name: ['a']; it must be a text"),
        ("seed = 1.5", "seed: 1.5; it must be a text"),
    ],
)
def test_a_value_of_a_wrong_type_is_explained(
    tmp_path: Path, words: str, message: str
) -> None:
    (tmp_path / "cup.toml").write_text(
        f'{words}\nentrants = ["house:greedy", "house:random"]\n'
    )
    done = run(tmp_path / "cup.toml")

    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("name", [".", "..", "/", "cup"])
def test_a_file_without_a_suffix_is_explained(tmp_path: Path, name: str) -> None:
    """`.` printed a traceback, and `cup` could not be both file and folder."""
    (tmp_path / "cup").write_text('entrants = ["house:greedy", "house:random"]\n')
    done = subprocess.run(
        [TORRES, "tournament", name],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 2
    assert "Is a directory" in done.stderr or "--replays" in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("text", ["[]", "7", "{}", '"x"'])
def test_a_strange_folder_is_explained(tmp_path: Path, text: str) -> None:
    file = write(tmp_path, "swiss")
    (tmp_path / "cup").mkdir()
    (tmp_path / "cup" / IDENTITY_FILE).write_text(text)
    done = run(file)

    assert done.returncode == 2
    assert "was not written by this command" in done.stderr
