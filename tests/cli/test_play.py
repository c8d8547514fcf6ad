"""`torres play`, run as a person runs it."""

import json
import os
import shutil
from pathlib import Path
from zipfile import ZipFile

import pytest

from engine.rulesets import resolve
from tests.runner.factories import PROGRAMS
from torres.cli.bot_files import bot_digest
from torres.cli.completion import house_bot
from torres.cli.local_results import LocalGame
from torres.cli.play import GameFiles, GameRunner, find_bot
from torres.runner.clock import Stopwatch
from torres.runner.protocol import Limits
from torres.runner.sandbox import Sandbox

BOT_40_LINES = """\
#!/usr/bin/env perl
use strict; use warnings;
$| = 1;
while (my $line = <STDIN>) {
    if ($line =~ /"type":"hello"/) { print qq({"type":"ready","name":"perl"}\\n); }
    elsif ($line =~ /"type":"decide"/) {
        my ($legal) = $line =~ /"legal":\\[(.*?)\\]/;
        my @actions = $legal =~ /"([^"]+)"/g;
        my ($best) = grep { /^(block|add|score)/ } @actions;
        $best //= $actions[-1];
        print STDERR "I chose $best\\n";
        print qq({"actions":["$best"]}\\n);
    }
    elsif ($line =~ /"type":"end"/) { last; }
}
"""


@pytest.mark.slow
@pytest.mark.parametrize("seats", [2, 3, 4])
def test_games_are_the_same_when_repeated_and_their_replays_verify(
    torres, tmp_path: Path, seats: int
) -> None:
    bots = ["house:random", "house:greedy", "house:random", "house:greedy"][:seats]
    args = [*bots, "--games", 3, "--seed", 1, "--json"]

    first = torres("play", *args, "--replays", "a")
    again = torres("play", *args, "--replays", "b")

    assert first.returncode == 0, first.stderr
    assert first.stdout == again.stdout
    lines = [json.loads(line) for line in first.stdout.splitlines()]
    assert [line["seed"] for line in lines] == ["1", "1/2", "1/3"]
    assert list(lines[0]) == ["seed", "scores", "ranks", "forfeits", "reason"]
    replays = sorted((tmp_path / "a").iterdir())
    assert [path.name for path in replays] == [
        "game-1.json",
        "game-2.json",
        "game-3.json",
    ]
    verdicts = torres("verify", *replays)
    assert verdicts.returncode == 0
    assert verdicts.stdout == "".join(f"{path}: valid\n" for path in replays)


def test_a_printed_seed_plays_that_game_again(torres) -> None:
    three = torres(
        "play", "house:random", "house:random", "--games", 3, "--seed", "x", "--json"
    )
    third = three.stdout.splitlines()[2]

    alone = torres("play", "house:random", "house:random", "--seed", "x/3", "--json")

    assert alone.stdout.strip() == third


@pytest.mark.skipif(not shutil.which("perl"), reason="perl is not installed")
def test_a_bot_in_another_language_plays_a_whole_game(torres, tmp_path: Path) -> None:
    bot = tmp_path / "mine.pl"
    bot.write_text(BOT_40_LINES)
    bot.chmod(0o755)

    done = torres("play", bot, "house:random", "--json", "--logs", "logs")

    assert done.returncode == 0, done.stderr
    game = json.loads(done.stdout)
    assert game["forfeits"] == []
    assert game["reason"] == "completed"
    assert "I chose" in (tmp_path / "logs" / "game-1-seat-0.log").read_text()


def test_an_archive_plays_as_its_upload_would(torres, tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    python_bot = (house_bot("random") / "bot.py").read_text()
    (folder / "bot").write_text(f"#!/usr/bin/env python3\n{python_bot}")
    (folder / "bot").chmod(0o755)
    with ZipFile(tmp_path / "packed.v2.zip", "w") as archive:
        archive.writestr("mine/bot", (folder / "bot").read_text())

    done = torres("play", "packed.v2.zip", "house:random", "--json")

    assert done.returncode == 0, done.stderr
    game = json.loads(done.stdout)
    assert game["forfeits"] == []
    packed = find_bot(str(tmp_path / "packed.v2.zip"))
    assert packed.name == "packed"
    assert bot_digest(packed) == bot_digest(find_bot(str(folder)))


def test_an_archive_that_a_ladder_refuses_does_not_play(torres, tmp_path: Path) -> None:
    (tmp_path / "bot.zip").write_bytes(b"PK\x03\x04 and no more")

    done = torres("play", "bot.zip", "house:random")

    assert (done.returncode, done.stdout) == (2, "")
    assert "Pack it again as zip or tar.gz" in done.stderr


def test_rotate_gives_the_bots_other_seats(torres, tmp_path: Path) -> None:
    torres(
        "play", "house:random", "house:greedy", "--games", 2, "--rotate",
        "--replays", "r", "--json",
    )  # fmt: skip

    names = [
        [
            p["name"]
            for p in json.loads((tmp_path / "r" / f"game-{n}.json").read_text())[
                "players"
            ]
        ]
        for n in (1, 2)
    ]
    assert names == [["random", "greedy"], ["greedy", "random"]]


def test_the_protocol_log_contains_every_line(torres, tmp_path: Path) -> None:
    torres("play", "house:random", "house:random", "--protocol-log", "lines.txt")

    lines = (tmp_path / "lines.txt").read_text().splitlines()
    sent = [json.loads(line[4:]) for line in lines if line.startswith("0 < ")]
    received = [json.loads(line[4:]) for line in lines if line.startswith("0 > ")]
    assert sent[0]["type"] == "hello"
    assert sent[-1]["type"] == "end"
    assert received[0]["type"] == "ready"
    assert len(received) == len(sent) - 1


def test_a_person_reads_who_won(torres) -> None:
    done = torres("play", "house:random", "house:greedy", "--games", 2, "--seed", 5)

    assert done.stdout.startswith("game   1")
    assert "score (95 %)" in done.stdout


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["house:random"], "2, 3 or 4 seats"),
        (["house:random"] * 5, "2, 3 or 4 seats"),
        (
            ["house:random", "house:nobody"],
            "banker, champion, climber, greedy, master, planner, random, searcher",
        ),
        (["house:random", "no/such/file"], "no/such/file"),
        (["house:random"] * 2 + ["--ruleset", "chess"], "yucata"),
        (["house:random"] * 2 + ["--switch", "max_buys"], "NAME=VALUE"),
        (["house:random"] * 2 + ["--switch", "max_buys=many"], "max_buys"),
        (["house:random"] * 2 + ["--games", "0"], "games"),
        (["house:random"] * 2 + ["--games", "2", "--replay", "x.json"], "--replay"),
        (["house:random"] * 2 + ["--sandbox", "steel"], "steel"),
        (["house:random"] * 2 + ["--replay", "no/such/x.json"], "no/such"),
        (["house:random"] * 2 + ["--replays", "/proc/x"], "/proc/x"),
    ],
)
def test_a_bad_argument_is_one_line_and_exit_code_2(torres, args, message) -> None:
    done = torres("play", *args)

    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert message in done.stderr
    assert done.stdout == ""


def test_a_forfeit_is_not_a_failure_of_the_command(torres, tmp_path) -> None:
    (tmp_path / "bot.py").write_text("raise SystemExit(3)\n")

    done = torres("play", "bot.py", "house:random", "--json")

    assert done.returncode == 0
    game = json.loads(done.stdout)
    assert game["forfeits"] == [{"seat": 0, "before_move": 0, "reason": "crash"}]
    assert game["reason"] == "last_standing"


@pytest.mark.sandbox
@pytest.mark.skipif(os.geteuid() != 0, reason="level full needs root here")
def test_full_and_no_sandbox_give_the_same_games(torres) -> None:
    args = ["play", "house:random", "house:greedy", "--games", 2, "--seed", 1, "--json"]

    assert torres(*args).stdout == torres(*args, "--sandbox", "full").stdout


@pytest.mark.parametrize("command", ["trace", "show"])
def test_an_invalid_replay_is_one_line_and_exit_code_1(
    torres, tmp_path: Path, command: str
) -> None:
    (tmp_path / "no-replay.json").write_text("{}")
    (tmp_path / "no-json").write_text("{")

    invalid = torres(command, "no-replay.json")
    unreadable = torres(command, "no-json")

    assert invalid.returncode == 1
    assert len(invalid.stderr.splitlines()) == 1
    assert unreadable.returncode == 2


def test_a_bot_that_makes_the_machine_look_guilty_forfeits(
    none: Sandbox, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each attempt failed, and the command said that this machine failed, not a bot."""
    monkeypatch.setattr(Stopwatch, "may_have_missed_delays", lambda *_: True)
    files = GameFiles(None, None, None, None)
    limits = Limits(move_ms=50, bank_ms=50)
    runner = GameRunner(resolve("yucata", 2), none, files, limits)
    bots = [find_bot(str(PROGRAMS / f"{name}.py")) for name in ("first", "sleep")]

    played = runner.play(LocalGame(1, "s", (0, 1)), bots)

    (forfeit,) = played.forfeits
    assert (forfeit.seat, forfeit.reason) == (1, "timeout")
    assert capsys.readouterr().err.count("is played again") == 1
