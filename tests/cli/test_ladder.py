"""`torres ladder`, run as a person runs it over a folder with real bots."""

import json
import os
import shutil
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.cli.test_match import alive, process_tree, running, wait_until
from torres.cli.completion import HOUSE_BOTS
from torres.rating.ledger import EntryKind, LedgerLine, fold

__all__ = ["running"]
SURE_GAMES = 10
"""A bot that plays on has a seat in one of these games, as good as certainly."""


def add_bot(folder: Path, name: str, house: str = "random") -> Path:
    """Put a copy of a house bot into the folder, as a single file."""
    folder.mkdir(exist_ok=True)
    return Path(shutil.copy(HOUSE_BOTS / house / "bot.py", folder / f"{name}.py"))


def ledger(folder: Path) -> list[dict[str, object]]:
    file = folder / ".torres-ladder" / "ledger.ndjson"
    if not file.exists():
        return []
    lines = file.read_text().splitlines(keepends=True)[1:]
    return [json.loads(line) for line in lines if line.endswith("\n")]


def entries(folder: Path, kind: str) -> list[dict[str, object]]:
    return [entry for entry in ledger(folder) if entry["kind"] == kind]


@pytest.fixture
def bots(tmp_path: Path) -> Path:
    folder = tmp_path / "bots"
    for name, house in (("ann", "random"), ("bob", "banker"), ("cid", "random")):
        add_bot(folder, name, house)
    return folder


def test_the_leaderboard_is_the_fold_of_the_ledger(torres, bots: Path) -> None:
    done = torres("ladder", bots, "--games", 8, "--json", "--with", "house:random")

    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["games"] == 8
    rows = document["leaderboard"]
    assert {row["name"] for row in rows} == {"ann", "bob", "cid", "random"}
    assert [row["rank"] for row in rows] == [1, 2, 3, 4]
    assert rows == sorted(rows, key=lambda row: -row["rating"])
    lines = [
        LedgerLine(seq, EntryKind(entry["kind"]), entry["inputs"])
        for seq, entry in enumerate(ledger(bots), 1)
    ]
    state = fold(lines, set())
    numbers = {e["name"]: e["inputs"]["bot"] for e in entries(bots, "join")}
    for row in rows:
        rated = state.bots[numbers[row["name"]]]
        assert (row["mu"], row["sigma"]) == (rated.skill.mu, rated.skill.sigma)
        assert row["games"] == rated.games > 0


def test_a_ladder_continues_and_shows_what_it_has(torres, bots: Path) -> None:
    torres("ladder", bots, "--games", 3)
    before = ledger(bots)

    again = torres("ladder", bots, "--games", 3)
    more = torres("ladder", bots, "--games", 5, "--json")

    assert "3 games" in again.stdout
    assert "bob" in again.stdout
    assert json.loads(more.stdout)["games"] == 5
    assert ledger(bots)[: len(before)] == before
    numbers = [entry["number"] for entry in entries(bots, "game")]
    assert len(set(numbers)) == 5


def plays(bot: object, games: list[dict[str, Any]]) -> bool:
    """True if a bot has a seat in one of these entries of the ledger."""
    return any(seat["bot"] == bot for game in games for seat in game["inputs"]["seats"])


@pytest.mark.slow
def test_bots_join_change_and_leave_while_the_ladder_runs(running, bots: Path) -> None:
    process = running("ladder", bots, "--json", "--jobs", 2)
    wait_until(lambda: len(entries(bots, "game")) >= 1, 120)

    add_bot(bots, "dora")
    wait_until(lambda: len(entries(bots, "join")) == 4, 120)
    changed = bots / "ann.py"
    changed.write_text(changed.read_text() + "\n# version 2\n")
    wait_until(lambda: len(entries(bots, "new_version")) == 1, 120)
    (bots / "bob.py").unlink()
    bob = next(e["inputs"]["bot"] for e in entries(bots, "join") if e["name"] == "bob")
    wait_until(lambda: not plays(bob, entries(bots, "game")[-SURE_GAMES:]), 120)
    tree = process_tree(process.pid)
    os.killpg(process.pid, signal.SIGINT)
    out, errors = process.communicate(timeout=120)

    assert process.returncode == 0, errors
    rows = {row["name"]: row for row in json.loads(out)["leaderboard"]}
    assert set(rows) == {"ann", "cid", "dora"}
    assert rows["ann"]["version"] == 2
    for word in ("dora joins", "ann plays as version 2", "bob left"):
        assert word in errors
    wait_until(lambda: not alive(tree), 5)


def test_a_file_that_is_no_bot_is_named_once_and_the_others_play(
    torres, bots: Path
) -> None:
    (bots / "notes.txt").write_text("nothing")

    done = torres("ladder", bots, "--games", 2)

    assert done.returncode == 0
    assert done.stderr.count("notes.txt does not play") == 1
    assert "2 games" in done.stdout


def test_a_cut_off_entry_is_forgotten(torres, bots: Path) -> None:
    torres("ladder", bots, "--games", 3)
    file = bots / ".torres-ladder" / "ledger.ndjson"
    file.write_bytes(file.read_bytes()[:-9])

    done = torres("ladder", bots, "--games", 3, "--json")

    assert json.loads(done.stdout)["games"] == 3
    assert len(entries(bots, "game")) == 3


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("nowhere",), "there is no folder nowhere"),
        (("bots", "--state", "x"), "a ladder is stored in its folder"),
    ],
)
def test_a_bad_argument_is_one_line(torres, bots: Path, args, message) -> None:
    done = torres("ladder", *args)

    assert done.returncode == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


def test_another_ruleset_needs_a_fresh_ladder(torres, bots: Path) -> None:
    torres("ladder", bots, "--games", 1)

    other = torres("ladder", bots, "--games", 1, "--limits", "move_ms=99")
    fresh = torres("ladder", bots, "--games", 1, "--limits", "move_ms=99", "--fresh")

    assert other.returncode == 2
    assert "different limits" in other.stderr
    assert fresh.returncode == 0, fresh.stderr
