"""The starter of each language is built in the sandbox and plays a whole game."""

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from engine.game import TorresGame
from engine.referee import play
from engine.rulesets import resolve
from engine.setup import derive
from tests.conftest import part_missing
from tests.runner.factories import PROGRAMS, contest, groups_left, player
from torres.cli.new import KITS
from torres.runner import compiler, languages
from torres.runner.compiler import BuildFailed
from torres.runner.languages import EntryNotFound, locate
from torres.runner.process import BotProcess
from torres.runner.protocol import STDERR_TAIL_BYTES, Limits
from torres.runner.sandbox import Program, Sandbox, SandboxUnavailable, landlock
from torres.runner.sandbox.host import Host
from torres.runner.sandbox.landlock import LandlockSandbox

LANGUAGES = sorted(languages.BY_NAME)  # each has a kit of its name
LIMITS = Limits(memory_mb=384)


def need(language: str) -> None:
    if packages := languages.missing(languages.BY_NAME[language]):
        part_missing(f"{language} needs apt-get install {' '.join(packages)}")


def whole_game(program: Program, sandbox: Sandbox) -> list[int]:
    """Let a bot play a game against itself; return the seat of each move."""
    seats = [BotProcess(program, sandbox, LIMITS) for _ in range(2)]
    rules = resolve("yucata", 2)
    game = TorresGame(rules, derive(rules, "languages"))
    outcome = play(game, seats, seed="languages", limits=LIMITS.as_dict())
    assert outcome.forfeits == []
    return [move.seat for move in outcome.moves]


@pytest.mark.sandbox
@pytest.mark.parametrize("language", LANGUAGES)
def test_the_starter_plays_a_game_at_level_full(language, full, tmp_path) -> None:
    need(language)
    program = compiler.prepared(locate(KITS / language), full, tmp_path)

    assert set(whole_game(program, full)) == {0, 1}
    assert groups_left() == []


@pytest.mark.slow
@pytest.mark.sandbox
@pytest.mark.parametrize("language", ["python", "javascript", "cpp", "java"])
def test_a_bot_is_built_and_plays_at_level_isolated(
    language, isolated, tmp_path
) -> None:
    need(language)
    program = compiler.prepared(locate(KITS / language), isolated, tmp_path)

    assert set(whole_game(program, isolated)) == {0, 1}
    assert groups_left() == []


@pytest.mark.slow
@pytest.mark.sandbox
@pytest.mark.parametrize("language", ["python", "javascript", "go", "java"])
def test_a_built_bot_plays_in_a_landlock_sandbox(language, full, tmp_path) -> None:
    need(language)
    if not landlock.is_supported():
        pytest.skip("this kernel has no Landlock, or one that is too old")
    program = compiler.prepared(locate(PROGRAMS / "burn" / language), full, tmp_path)
    reduced = LandlockSandbox(Host.from_environment())

    with pytest.raises(SandboxUnavailable, match="A compiler needs"):
        compiler.build(replace(program, compile=("true",)), reduced, tmp_path / "again")
    game = contest(BotProcess(program, reduced, LIMITS), reduced)
    reduced.close()

    assert (game.fault, game.answers) == (None, 3)


@pytest.mark.slow
@pytest.mark.parametrize("language", LANGUAGES)
def test_the_starter_plays_without_a_sandbox(language, none, tmp_path) -> None:
    need(language)
    program = compiler.prepared(locate(KITS / language), none, tmp_path)

    assert set(whole_game(program, none)) == {0, 1}


@pytest.mark.sandbox
def test_a_static_executable_needs_no_language(full, tmp_path) -> None:
    need("c")
    argv = ["gcc", "-static", "-O1", "-o", tmp_path / "bot", KITS / "c" / "bot.c"]
    subprocess.run(argv, check=True)
    (tmp_path / "bot").chmod(0o755)
    program = locate(tmp_path)
    (tmp_path / "bot").chmod(0o644)  # as archives leave it

    assert program.language == "executable"
    assert set(whole_game(program, full)) == {0, 1}


# --- compiled files are stored, and are untrusted


@pytest.mark.sandbox
def test_a_bot_is_built_once(full, tmp_path) -> None:
    need("c")
    first = compiler.prepared(locate(KITS / "c"), full, tmp_path)
    status = (first.folder / "bot").stat()
    again = compiler.prepared(locate(KITS / "c"), full, tmp_path)

    assert again == first
    assert (first.folder / "bot").stat().st_mtime_ns == status.st_mtime_ns
    assert (first.folder / "bot.c").is_file()


@pytest.mark.sandbox
def test_the_compiler_s_output_is_stored_for_the_owner(full, tmp_path) -> None:
    need("c")
    (tmp_path / "bot.c").write_text("int main(void) { return nothing; }\n")

    with pytest.raises(BuildFailed, match="ended with exit code 1") as caught:
        compiler.build(locate(tmp_path), full, tmp_path / "built")

    assert "undeclared" in caught.value.log
    assert not (tmp_path / "built").exists()


ATTACKS = {
    "reads_a_secret": ('#include "/etc/shadow"', "No such file"),
    "reads_zeros": ('#include "/dev/zero"', ""),
    "giant_array": ("int x[1u << 31] = {1};\nint main(void) {}", ""),
    "includes_itself": ("#include __FILE__\n#include __FILE__", ""),
}


@pytest.mark.sandbox
@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_on_the_compiler_is_a_failed_build(
    name, full, tmp_path, monkeypatch
) -> None:
    need("c")
    monkeypatch.setattr(compiler, "SECONDS", 2)
    code, message = ATTACKS[name]
    (tmp_path / "bot.c").write_text(code + "\n")

    with pytest.raises(BuildFailed) as caught:
        compiler.build(locate(tmp_path), full, tmp_path / "built")

    assert message in caught.value.log
    assert len(caught.value.log) <= STDERR_TAIL_BYTES
    assert groups_left() == []


def built_by(script: str, sandbox: Sandbox, folder: Path) -> Path:
    """Build with a shell script of an attacker as the compiler; return the folder."""
    (folder / "bot.c").write_text("")
    program = replace(locate(folder), compile=("/bin/sh", "-c", script))
    compiler.build(program, sandbox, folder / "built")
    return folder / "built"


@pytest.mark.sandbox
@pytest.mark.parametrize(
    "script",
    [
        "ln -s /etc/passwd /out/bot",
        "ln -s /etc /out/folder && tar -cf - -C /tmp . > /dev/null",
        "mkdir /out/a && ln /usr/bin/env /out/a/bot",
        "(setsid sh -c 'sleep 60' &) ; true",
    ],
)
def test_links_and_daemons_of_a_compiler_have_no_effect(script, full, tmp_path) -> None:
    try:
        built = built_by(script, full, tmp_path)
    except BuildFailed:
        pass
    else:
        links = [p for p in built.rglob("*") if p.is_symlink()]
        assert links == []
    assert groups_left() == []


@pytest.mark.slow
@pytest.mark.sandbox
@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("dd if=/dev/zero of=/out/x bs=1M count=100", "exit code"),
        ("exec dd if=/dev/zero bs=1M count=200", "it made more than 64 MiB"),
        ("awk 'BEGIN { s = \"x\"; while (1) s = s s }'", "more than"),
        ("cd /out; for i in $(seq 3000); do : > $i; done", "more than 2000 files"),
        ("echo this is no tar >&3; exit 3", "exit code"),
        ("while :; do :; done", "more than 2 s"),
        ("yes 'a warning' >&2", "more than 2 s"),
    ],
)
def test_a_compiler_without_end_is_a_failed_build(
    script, why, full, tmp_path, monkeypatch
) -> None:
    monkeypatch.setattr(compiler, "SECONDS", 2)
    if script.startswith("exec dd"):
        script = "exec dd if=/dev/zero bs=1M count=200 >&9"  # 9: stdout of the sandbox
        monkeypatch.setattr(compiler, "_SHELL", 'exec 9>&1; "$@" >&2')

    with pytest.raises(BuildFailed, match=why):
        built_by(script, full, tmp_path)

    assert groups_left() == []


@pytest.mark.sandbox
def test_the_processes_of_a_compiler_can_lock_each_other_out(full, tmp_path) -> None:
    """A bot that plays cannot: its locks have no effect."""
    with pytest.raises(BuildFailed, match="exit code 1"):
        built_by("flock -n /tmp/lock flock -n /tmp/lock true", full, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("language", ["c", "cpp", "java"])
def test_a_source_file_is_not_read_as_options(language: str, none, tmp_path) -> None:
    """A compiler that is given @x.c reads its options from the file x.c."""
    need(language)
    suffix = languages.BY_NAME[language].suffixes[0]
    folder = shutil.copytree(KITS / language, tmp_path / "bot")
    (folder / f"@x{suffix}").write_text("")
    (folder / f"x{suffix}").write_text("--no-such-option\n")
    (folder / "bot.toml").write_text(
        f'language = "{language}"\nentry = "bot{suffix}"\n'
        f'sources = ["bot{suffix}", "@x{suffix}"]\n'
    )

    compiler.build(locate(folder), none, tmp_path / "built")


FORGED = """
import io, os, sys, tarfile
tar = tarfile.open(fileobj=os.fdopen(9, "wb"), mode="w|", format=tarfile.FORMAT)
def add(name, size=0, **pax):
    info = tarfile.TarInfo(name)
    info.size = size
    info.pax_headers = pax
    tar.addfile(info, io.BytesIO(bytes(size)))
CODE
tar.close()
"""
MIB = 1 << 20
FORGERIES = {
    "a sparse file of a gigabyte": (
        "PAX",
        'add("bot", 0, **{"GNU.sparse.map": "0,0", "GNU.sparse.size": "1073741824"})',
        "more than 64 MiB",
    ),
    "a name that is not UTF-8": (
        "GNU",
        'add(b"b\\xff".decode("utf-8", "surrogateescape"))',
        "not UTF-8",
    ),
    "a deep package": ("GNU", 'add("a/" * 1400 + "A.class")', "too long or too deep"),
    "long names": ("GNU", '[add("a" * 5000 + str(n)) for n in range(300)]', "too long"),
    "no file": ("GNU", "", "made no file"),
    "another file": ("GNU", 'add("other")', "did not make the program bot"),
    "a file in the place of a folder": ("GNU", 'add("lib")', "rename the one"),
    "a file below a file": ("GNU", 'add("bot.c/x")', "rename the one"),
    "a path that leads out": ("GNU", 'add("../bot")', "outside of its folder"),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forged_output_of_a_build_is_a_failed_build(
    name: str, none, tmp_path, monkeypatch
) -> None:
    form, code, why = FORGERIES[name]
    forge = FORGED.replace("FORMAT", f"{form}_FORMAT").replace("CODE", code)
    monkeypatch.setattr(compiler, "_SHELL", 'exec 9>&1; "$@" >&2')
    (tmp_path / "bot" / "lib").mkdir(parents=True)
    (tmp_path / "bot" / "bot.c").write_text("")
    (tmp_path / "bot" / "lib" / "a.h").write_text("")
    program = locate(tmp_path / "bot")
    program = replace(program, compile=("/usr/bin/python3", "-c", forge))

    with pytest.raises(BuildFailed, match=why) as caught:
        compiler.build(program, none, tmp_path / "built")

    assert len(str(caught.value)) < 300
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bot"]


# --- which file is the bot


def test_the_entry_may_be_in_the_only_top_folder(tmp_path) -> None:
    (tmp_path / "__MACOSX").mkdir()
    (tmp_path / ".git").mkdir()
    shutil.copytree(KITS / "javascript", tmp_path / "mine")

    program = locate(tmp_path)

    assert (program.folder, program.entry, program.language) == (
        tmp_path / "mine",
        "bot.js",
        "javascript",
    )


def test_all_sources_in_the_entry_s_folder_are_compiled(tmp_path) -> None:
    for name in ("bot.cpp", "search.cpp", "notes.txt"):
        (tmp_path / name).write_text("")

    assert "./search.cpp" in locate(tmp_path).compile
    assert "./notes.txt" not in locate(tmp_path).compile


def test_a_manifest_can_name_another_entry(tmp_path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "main.py").write_bytes((PROGRAMS / "first.py").read_bytes())
    manifest = 'language = "python"\nentry = "src/main.py"\n'
    (tmp_path / "bot.toml").write_text(manifest)

    program = locate(tmp_path)

    assert program.argv[-1] == "src/main.py"


@pytest.mark.parametrize(
    ("manifest", "why"),
    [
        ("language = 'cobol'\nentry = 'x'", "no language 'cobol'"),
        ("language = 'c'\nentry = '../x.c'", "does not stay"),
        ("language = 'c'\nentry = '/etc/passwd'", "does not stay"),
        ("language = 'c'\nentry = '-wrapper.c'", "does not stay"),
        ("language = 'c'\nentry = 'nothing.c'", "no file"),
        ("entry = 'x'", "language"),
        ("language = 'c'\nentry = 'x'\nrun = 'rm -rf /'", "run"),
        ("[" * 5000, "not valid"),
        ("x = 1\n" * 5000, "longer than"),
    ],
)
def test_a_wrong_manifest_is_refused_with_the_reason(manifest, why, tmp_path) -> None:
    (tmp_path / "bot.toml").write_text(manifest)

    with pytest.raises(EntryNotFound, match=why):
        locate(tmp_path)


def test_a_folder_without_a_bot_is_refused_with_the_names_of_entries(tmp_path) -> None:
    (tmp_path / "main.py").write_text("")
    with pytest.raises(EntryNotFound, match=r"bot\.py, bot\.js"):
        locate(tmp_path)


def test_a_language_names_the_packages_that_are_missing() -> None:
    language = languages.Language(
        "brainfuck", (".bf",), ("bf",), needs=(("bf", "bf-tools"),)
    )

    assert languages.missing(language) == ["bf-tools"]


def test_a_python_bot_may_import_the_engine(sandbox) -> None:
    game = contest(player(PROGRAMS / "imports_engine.py", sandbox), sandbox)

    assert game.fault is None, game.stderr
