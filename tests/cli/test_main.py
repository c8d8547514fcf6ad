"""The command as a whole: its start, its help, its exit codes, its completion."""

import json
import os
import pty
import re
import select
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.cli.conftest import TORRES
from tests.conftest import part_missing
from torres.cli.commands import COMMANDS
from torres.cli.compiling import compile_advice
from torres.cli.main import torres as group
from torres.common.lazy_import import lazy_import

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/cli.md").read_text()
GAME = ROOT / "tests/engine/golden/devir-2017-2.json"
REPORTING = {
    "play",
    "match",
    "compare",
    "ladder",
    "tournament",
    "verify",
    "rulesets",
    "doctor",
    "submit",
    "status",
    "leaderboard",
    "logs",
    "reproduce",
    "ask",
}
SERVER = ("django", "celery", "rest_framework", "psycopg", "redis")
IMPORTS = """
import sys
sys.argv = ["torres", *sys.argv[1:]]
from torres.cli.main import main
try:
    main()
except SystemExit:
    print("imported:", *sys.modules)
"""


def help_of(command: str) -> str:
    result = CliRunner().invoke(group, [command, "--help"])
    assert result.exit_code == 0
    return result.output


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_has_examples_and_no_marks_of_the_formatter(command: str) -> None:
    text = help_of(command)

    assert re.search(rf"Examples?:\n  .*torres {command}", text)
    assert "\b" not in text
    assert "\\b" not in text


@pytest.mark.parametrize("command", COMMANDS)
def test_the_page_and_the_table_name_every_command(command: str) -> None:
    assert f"`torres {command}`" in PAGE
    assert COMMANDS[command].load().name == command


@pytest.mark.parametrize("command", sorted(REPORTING & set(COMMANDS)))
def test_a_command_that_reports_results_has_json(command: str) -> None:
    assert "--json" in help_of(command)


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_no_command_imports_the_server(command: str) -> None:
    words = [*command.split(), "--help"]
    done = subprocess.run(
        [sys.executable, "-c", IMPORTS, *words],
        capture_output=True,
        text=True,
        check=True,
    )

    imported = done.stdout.partition("imported: ")[2].split()
    assert "click" in imported
    assert [name for name in imported if name.partition(".")[0] in SERVER] == []


def test_help_imports_no_command(torres) -> None:
    done = subprocess.run(
        [sys.executable, "-c", IMPORTS, "--help"],
        capture_output=True,
        text=True,
        check=True,
    )

    imported = done.stdout.partition("imported: ")[2].split()
    assert not {f"torres.{home.module}" for home in COMMANDS.values()} & set(imported)


def test_a_replay_can_be_verified_for_programs(torres, tmp_path: Path) -> None:
    torres("play", "house:random", "house:random", "--replay", "game.json")
    (tmp_path / "no.json").write_text("{}")
    (tmp_path / "bad.json").write_text("{")

    done = torres("verify", "game.json", "no.json", "bad.json", "--json")

    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line["valid"] for line in lines] == [True, False, None]
    assert [line["fault"] is None for line in lines] == [True, False, False]
    assert done.returncode == 2


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["verify", "no.json"], 1),
        (["verify", "missing.json"], 2),
        (["play", "house:random"], 2),
        (["play", "house:nobody", "house:random"], 2),
        (["nonsense"], 2),
        (["analyse", "game.json", "--ply", "99999"], 2),
        (["verify", "words.txt"], 2),
        ([], 2),
        (["rulesets"], 0),
    ],
)
def test_the_exit_codes_are_those_of_the_page(torres, tmp_path, words, code) -> None:
    (tmp_path / "no.json").write_text("{}")
    (tmp_path / "words.txt").write_text("no replay")
    replay = json.loads(GAME.read_text())["replay"]
    (tmp_path / "game.json").write_text(json.dumps(replay))

    assert torres(*words).returncode == code
    assert f"| {code} |" in PAGE


def test_a_mistyped_command_gets_a_suggestion(torres) -> None:
    assert "Did you mean submit?" in torres("submitt").stderr
    assert "See torres --help" in torres("zzz").stderr


def test_an_uncompiled_engine_is_mentioned_on_stderr(torres) -> None:
    words = ("play", "house:random", "house:random", "--json")

    slow = torres(*words, TORRES_PURE="1")

    assert slow.stderr.count("the engine is not compiled") == 1
    assert "not compiled" not in slow.stdout + torres(*words).stderr
    assert "not compiled" not in torres("rulesets", TORRES_PURE="1").stderr


@pytest.mark.parametrize(
    ("platform", "cure"),
    [("linux", "apt-get"), ("darwin", "xcode-select"), ("win32", "Build Tools")],
)
def test_the_cure_for_an_uncompiled_engine_fits_the_system(
    monkeypatch: pytest.MonkeyPatch, platform: str, cure: str
) -> None:
    monkeypatch.delenv("TORRES_PURE", raising=False)
    monkeypatch.setattr("sys.platform", platform)

    assert cure in compile_advice()


# --- completion, in the shells themselves

BASH = """
eval "$(_TORRES_COMPLETE=bash_source torres)"
COMP_WORDS=({words}); COMP_CWORD={cword}; COMP_LINE='{line}'; COMP_POINT=${{#COMP_LINE}}
_torres_completion torres
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
ZSHRC = """
autoload -Uz compinit; compinit -u -d "$ZDOTDIR/dump"
eval "$(_TORRES_COMPLETE=zsh_source torres)"
report() { print -r -- "$BUFFER" > "$ZDOTDIR/report"; }
zle -N report; bindkey '^X' report
print -r -- READY
"""
CASES = {
    "torres to": {"tournament"},
    "torres play --ru": {"--ruleset"},
    "torres play --ruleset devir-2017-s": {"devir-2017-shared-deck"},
    "torres play house:gr": {"house:greedy"},
    "torres play --sandbox f": {"full"},
    "torres play bot.p": {"bot.py"},
}


def environment(folder: Path) -> dict[str, str]:
    (folder / "bot.py").write_text("")
    path = f"{TORRES.parent}:{os.environ['PATH']}"
    home = str(folder)
    return {**os.environ, "PATH": path, "ZDOTDIR": home, "HOME": home, "TERM": "dumb"}


def shell_output(
    shell: list[str], folder: Path, text: str = ""
) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            shell,
            input=text,
            capture_output=True,
            text=True,
            check=False,
            cwd=folder,
            env=environment(folder),
            timeout=60,
        )
    except FileNotFoundError:
        part_missing(f"{shell[0]} is not installed")
        raise


@pytest.mark.parametrize("line", CASES)
def test_bash_completes(line: str, tmp_path: Path) -> None:
    words = [word for part in line.split(" ") for word in re.split("(:)", part)]
    script = BASH.format(
        words=" ".join(words), cword=len(words) - 1, line=line
    ).replace("compopt -o default", 'COMPREPLY+=($(compgen -f -- "$2"))')
    # `compopt` exists only at a real prompt, so the script asks for files by itself.
    stub = 'compopt() { COMPREPLY+=($(compgen -f -- "${COMP_WORDS[COMP_CWORD]}")); }\n'

    done = shell_output(["bash", "--norc", "-c", stub + script], tmp_path)

    wanted = {value.rpartition(":")[2] for value in CASES[line]}
    assert set(done.stdout.split()) == wanted, done.stderr


@pytest.mark.parametrize("line", CASES)
def test_fish_completes(line: str, tmp_path: Path) -> None:
    script = f"_TORRES_COMPLETE=fish_source torres | source; complete -C '{line}'"

    done = shell_output(["fish", "--no-config", "-c", script], tmp_path)

    found = {row.split("\t")[0] for row in done.stdout.splitlines()}
    assert found == CASES[line], done.stderr


@pytest.mark.parametrize("line", CASES)
def test_zsh_completes(line: str, tmp_path: Path) -> None:
    """Only a terminal has completion in zsh: TAB completes, Ctrl-X reports the line."""
    (tmp_path / ".zshrc").write_text(ZSHRC)
    if not shutil.which("zsh"):
        part_missing("zsh is not installed")
    ours, theirs = pty.openpty()
    shell = subprocess.Popen(
        ["zsh", "-i"],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        cwd=tmp_path,
        env=environment(tmp_path),
        start_new_session=True,
    )
    os.close(theirs)
    try:
        until(lambda: b"READY" in os.read(ours, 65_536))
        os.write(ours, f"{line}\t\x18".encode())
        until((tmp_path / "report").is_file)
        until(lambda: (tmp_path / "report").read_text().endswith("\n"))
    finally:
        shell.kill()
        shell.wait()
        os.close(ours)

    (wanted,) = CASES[line]
    completed = (tmp_path / "report").read_text().strip()
    assert completed == " ".join([*line.split()[:-1], wanted])


def until(done: Callable[[], bool], timeout_s: float = 30) -> None:
    """Wait until a condition holds."""
    ends = time.monotonic() + timeout_s
    while not done():
        assert time.monotonic() < ends
        select.select([], [], [], 0.05)


@pytest.mark.parametrize("module", ["client", "reproduce", "submit"])
def test_help_needs_no_http_client(module: str) -> None:
    code = f"import torres.cli.{module}, sys; print('httpx._client' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )

    assert done.stdout.strip() == "False"


def test_a_module_that_is_missing_is_missed_at_once() -> None:
    with pytest.raises(ModuleNotFoundError, match="no_such_module"):
        lazy_import("no_such_module")


def test_threads_that_use_a_lazy_module_first_wait_for_its_import(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A server drew several pictures at once after its start, and five of six failed.
    code = (
        "import sys\nsys.slow_import_entered.set()\nsys.slow_import_ends.wait()\nx = 1"
    )
    (tmp_path / "slow_to_import.py").write_text(code)
    monkeypatch.syspath_prepend(tmp_path)
    entered, ends = threading.Event(), threading.Event()
    monkeypatch.setattr(sys, "slow_import_entered", entered, raising=False)
    monkeypatch.setattr(sys, "slow_import_ends", ends, raising=False)
    module = lazy_import("slow_to_import")

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(getattr, module, "x")
        entered.wait()
        second = pool.submit(getattr, module, "x")
        wait([second], timeout=0.2)  # a half-executed module fails here
        ends.set()

    assert (first.result(), second.result()) == (1, 1)


def test_only_the_processors_of_this_process_count() -> None:
    one = "import os; os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])"
    code = f"{one}; from torres.common.processors import processors as p; print(p())"

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)

    assert done.stdout == b"1\n"
