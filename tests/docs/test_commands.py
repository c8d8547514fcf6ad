"""Every command in the pages: those of `torres` run, the others exist and parse."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import get_commands, load_command_class
from markdown_it import MarkdownIt

import engine
from tests.docs.pages import PAGES_FOLLOWED, PARSER, codes, files
from torres.cli.commands import COMMANDS

ROOT = Path(__file__).parents[2]
# The steps of some pages need each other; tests of their own follow them.
PAGES = sorted(set(files(".md")) - set(PAGES_FOLLOWED.values()))
MANAGE = re.compile(r"(?:^|[\s/])python3? manage\.py (.*)")
SMALLEST_BOT = re.search(
    r"```python\n(.*?)```", (ROOT / "docs/protocol.md").read_text(), re.DOTALL
)


def commands(page: Path) -> list[str]:
    """Return the command lines of a page, continued lines joined, comments removed."""
    blocks = [
        token.content
        for token in MarkdownIt().parse(page.read_text())
        if token.type == "fence" and token.info in ("", "sh", "console", "shell")
    ]
    lines = [
        line.strip()
        for block in blocks
        for line in block.replace("\\\n", " ").splitlines()
    ]
    return [re.sub(r"\s+#.*", "", line) for line in lines if line and line[0] != "#"]


ALL = [
    (page.relative_to(ROOT).as_posix(), line)
    for page in PAGES
    for line in commands(page)
]
COMMAND = re.compile(r"(\.venv/bin/)?torres ")
TARGET = re.compile(r"make (\w+)")
# These need a ladder. Tests in tests/cli and tests/public_log run them.
REMOTE = re.compile(
    r"(\.venv/bin/)?torres"
    r" ((login|logout|submit|status|join|leave|leaderboard|logs|replays|watch"
    r"|reproduce|audit|witness|self-check|verify \S+ --receipt)\b.*)"
)
TORRES = [
    (page, line) for page, line in ALL if COMMAND.match(line) and not REMOTE.match(line)
]
FOR_A_LADDER = [(page, found[2]) for page, line in ALL if (found := REMOTE.match(line))]
MANAGEMENT = [(page, found[1]) for page, line in ALL if (found := MANAGE.search(line))]
TARGETS = [(page, found[1]) for page, line in ALL if (found := TARGET.match(line))]
# Decisions and the changelog describe the past: their commands may be gone.
IN_SENTENCES = [
    (page.relative_to(ROOT).as_posix(), code)
    for page in sorted(files(".md"))
    if page.name != "CHANGELOG.md" and page.parent.name != "decisions"
    for code in codes(PARSER.parse(page.read_text()))
]
NAMED = re.compile(
    r"(?:\.venv/bin/)?(?:python )?(torres|manage\.py|make) ([a-z][\w-]+)"
)


@pytest.fixture(scope="module")
def author_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder as an author has one: a bot, a replay, a tournament, the command."""
    folder = tmp_path_factory.mktemp("author")
    assert SMALLEST_BOT
    (folder / "bot.py").write_text(SMALLEST_BOT[1])
    (folder / ".venv").symlink_to(Path(sys.executable).parents[1])
    page = MarkdownIt().parse((ROOT / "docs/tournaments.md").read_text())
    example = next(token for token in page if token.info == "toml")
    (folder / "cup.toml").write_text(example.content)
    (folder / "bots").mkdir()
    torres = Path(sys.executable).with_name("torres")
    game = [torres, "play", "bot.py", "house:random", "--replay", "game.json"]
    subprocess.run(game, cwd=folder, check=True, capture_output=True)
    (folder / "data/replays").mkdir(parents=True)
    shutil.copy(folder / "game.json", folder / "data/replays")
    return folder


def prepare_first_bot(folder: Path, line: str) -> None:
    """Do what the lines before this one do, which another process may be testing."""
    bot = folder / "first-bot"
    if "torres new" in line:
        shutil.rmtree(bot, ignore_errors=True)
    elif bot.name in line and not bot.exists():
        new = [".venv/bin/torres", "new", "python", bot.name]
        subprocess.run(new, cwd=folder, check=True, capture_output=True)


def with_few_games(line: str) -> str:
    """Let a command play two games: more games show no more of the command."""
    if "torres analyse" in line:
        return f"{line} --games 2"
    return re.sub(r"--games \d+", "--games 2", line)


@pytest.mark.slow
@pytest.mark.parametrize(("page", "line"), TORRES)
def test_a_torres_command_runs(page: str, line: str, author_folder: Path) -> None:
    words = with_few_games(line if line.startswith(".venv") else f".venv/bin/{line}")
    if "torres analyse" in line and not engine.compiled:
        pytest.skip("the kernel is not compiled, so this takes minutes")
    prepare_first_bot(author_folder, line)

    done = subprocess.run(
        ["bash", "-ec", words.replace("&& torres", "&& .venv/bin/torres")],
        cwd=author_folder,
        env=os.environ | {"XDG_STATE_HOME": str(author_folder / "state")},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )

    # `torres doctor` ends with 1 if this machine is below level `full`.
    assert done.returncode in ((0, 1) if "doctor" in line else (0,)), (
        page,
        done.stderr,
    )


@pytest.mark.parametrize(("page", "line"), FOR_A_LADDER)
def test_a_torres_command_for_a_ladder_parses(page: str, line: str) -> None:
    name, *words = shlex.split(line)

    assert COMMANDS[name].load().make_context(name, words), page


@pytest.mark.parametrize(("page", "line"), MANAGEMENT)
def test_a_management_command_parses(page: str, line: str) -> None:
    name, *words = shlex.split(re.split(r"[|;&>]", line)[0])
    words = [re.sub(r"^(N|SECONDS|PORT)$", "1", word) for word in words]
    app = get_commands()[name]
    command = app if not isinstance(app, str) else load_command_class(app, name)

    assert command.create_parser("manage.py", name).parse_args(words), page


@pytest.mark.parametrize(("page", "target"), TARGETS)
def test_a_make_target_exists(page: str, target: str) -> None:
    makefile = (ROOT / "Makefile").read_text()

    assert re.search(rf"^{target}:", makefile, re.MULTILINE), page


def test_the_commands_that_sentences_name_exist() -> None:
    makefile = (ROOT / "Makefile").read_text()
    known = {
        "torres": set(COMMANDS),
        "manage.py": set(get_commands()),
        "make": set(re.findall(r"^([\w-]+):", makefile, re.MULTILINE)),
    }
    named = [
        (page, code, found[2] in known[found[1]])
        for page, code in IN_SENTENCES
        if (found := NAMED.match(code))
    ]

    assert len(named) > 100
    assert [(page, code) for page, code, exists in named if not exists] == []
