"""Hostile words for every management command: each error is a CommandError."""

import io
from pathlib import Path
from random import Random

import pytest
from django.core.management import CommandError, call_command

from tests.factories import Show, everything

WORDS = [
    *("", " ", "abc", "-1", "0", "9" * 30, "9" * 5000, "1e9", "nan", "٣", "²", "2=x"),
    *(
        "=",
        "2=0.5,=",
        "a\nb",
        "\x1b[31m",
        "\u202e",
        "../..",
        "/etc/passwd",
        "/nowhere/x",
    ),
    *("grendel", "main", "house-greedy", "ana", "bad name!", "x" * 3000, "é" * 200),
    # A byte that is no UTF-8 reaches a command as a lone surrogate.
    *("\udcff", "w:1:1", "w/", "torres", "olga", "\ufdfa" * 90),
    *("'", "%s", "{}", "1.5", "inf", "-inf", "2=inf", "2=-1", "1=1", "9=1", "2=0"),
]
KINDS = ["bench", "ban", "withdraw", "freeze", "reopen", "finals", "archive"]
KINDS += ["reinstate", "void", "rerun", "start", "merge", "delete-account", "misjudged"]
COMMANDS = {
    "operator": [
        ["--why=x", "?", "?"],
        ["--why=x", "K", "?", "--into", "?"],
        ["K", "?"],
        ["--why=x", "K", "?", "--prizes", "?"],
        ["--why=x", "K", "?", "--by", "?"],
        ["--why", "?", "K", "?"],
        ["misjudged", "?", "--engine", "?"],
        ["--why=x", "join", "?", "--ladder", "?"],
        ["--why=x", "leave", "?", "--ladder", "?"],
        ["--why=x", "invite", "?", "--uses", "?"],
        ["--why=x", "invite", "?", "--days", "?"],
        ["drain", "w:1:1", "--why", "?"],
        ["undrain", "?", "--why", "?"],
    ],
    "token": [["?"]],
    "rebuild_ratings": [["?"], ["--check", "?"]],
    "restore": [["?"]],
    "serve": [["--listen", "?"], ["--inherited", "?"]],
    "up": [["--port", "?"]],
    "status": [["?"]],
    "audit": [["?"]],
    "schedule": [["?"]],
    "practice": [["?"], ["--slots", "?"]],
    "prepare": [["?"]],
    "tidy": [["?"], ["--dry-run", "?"]],
}
# Each of these is refused as the value of every option that is a number. So nothing
# starts, also for commands that start a service.
NO_NUMBERS = ["", "abc", "-1", "nan", "-inf", "9" * 30, "9" * 5000, "²", "1,5", "0x1f"]
NUMBERS = {
    "up": ["--port", "--slots", "--games"],
    "practice": ["--slots"],
    "chaos": ["--games", "--workers", "--seed", "--minutes", "--blows", "--lease"],
    "operator": ["--prizes", "--uses", "--days"],
}
REQUIRED = {
    "operator": ["finals", "main", "--why=x"],
}


def fuzz(rng: Random) -> tuple[str, list[str]]:
    name = rng.choice(sorted(COMMANDS))
    choices = {"K": KINDS, "?": WORDS}
    words = [rng.choice(choices.get(w, [w])) for w in rng.choice(COMMANDS[name])]
    return name, words


@pytest.fixture
def show(transactional_db: None, data_dir) -> Show:
    return everything()


def test_hostile_words_are_refused_clearly(show: Show) -> None:
    rng, failures = Random(20_261_122), []
    for _ in range(400):
        name, words = fuzz(rng)
        if name == "up" and words[-1] == "0":  # valid, and the service would start
            continue
        out, err = io.StringIO(), io.StringIO()
        try:
            call_command(name, *words, stdout=out, stderr=err)
        except (CommandError, SystemExit):
            pass
        except Exception as error:  # noqa: BLE001 - the failure that is looked for
            failures.append(f"{name} {str(words)[:150]}: {error!r:.200}")
        if "Traceback" in out.getvalue() + err.getvalue():
            failures.append(f"{name} {words} prints a traceback")

    assert not failures, "\n".join(sorted(set(failures)))


@pytest.mark.parametrize(
    ("name", "option"), [(name, word) for name in NUMBERS for word in NUMBERS[name]]
)
def test_an_option_refuses_what_is_no_sensible_number(
    db: None, data_dir, name: str, option: str
) -> None:
    if name == "operator":
        everything()
    for word in NO_NUMBERS:
        with pytest.raises(CommandError):
            call_command(name, *REQUIRED.get(name, ()), f"{option}={word}")


@pytest.mark.parametrize("host", ["bad..name", "999.1.1.1", "a\0b", "x" * 3000])
def test_an_impossible_host_is_refused(show: Show, host: str) -> None:
    with pytest.raises(CommandError):
        call_command("up", f"--host={host}", "--port=0")


@pytest.mark.parametrize("folder", ["/proc/nothing", "/dev/null/x", "x" * 3000, "a\0b"])
def test_a_backup_into_an_impossible_folder_is_refused(show: Show, folder: str) -> None:
    with pytest.raises(CommandError):
        call_command("backup", folder)


def test_chaos_does_not_run_in_a_folder_of_strangers(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="--inside"):
        call_command("chaos", f"--inside={tmp_path}")


def test_a_folder_without_a_backup_leaves_the_database_alone(
    show: Show, tmp_path
) -> None:
    """Its journal was deleted before the missing backup was noticed."""
    with pytest.raises(CommandError, match="is not a backup"):
        call_command("restore", str(tmp_path))

    assert show.game.status == "finished"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["operator", "void", "abc", "--why=x"], "not the number of a game"),
        (["token", "bad name!"], "is not a user name"),
    ],
)
def test_a_bad_word_is_explained(db: None, words: list[str], message: str) -> None:
    with pytest.raises(CommandError, match=message):
        call_command(*words)
