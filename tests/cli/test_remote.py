"""The commands that talk to a ladder, with a real service and real bots."""

import inspect
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from threading import Event
from typing import Any
from zipfile import ZipFile

import httpx
import pytest

import engine
from ladder.bots.house_bots import COSTLY
from tests.ops.running import environment
from torres.checking.playback import RecordedAnswer, RepeatedGame, compare
from torres.cli.client import LadderClient
from torres.cli.new import KITS
from torres.cli.play import find_bot
from torres.runner.process import BotProcess
from torres.runner.protocol import Limits
from torres.runner.sandbox import open_sandbox

ROOT = Path(__file__).resolve().parents[2]
TORRES = Path(sys.executable).with_name("torres")
SLOTS = ("--slots", "1")  # a second game would only take processor time
START_TIMEOUT_S = 120
HOUSE = KITS.parent / "house"
GAMES = 20
GAMES_TIMEOUT_S = 300

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """Start `manage.py up --demo`; return LADDER and TOKEN."""
    folder = tmp_path_factory.mktemp("service")
    process = subprocess.Popen(
        [
            sys.executable,
            str(ROOT / "manage.py"),
            "up",
            "--demo",
            "--port",
            "0",
            *SLOTS,
        ],
        env=environment(folder, TORRES_SANDBOX="none"),
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    variables = {}
    for line in process.stdout:
        name, _, value = line.strip().partition("=")
        if name in ("LADDER", "TOKEN"):
            variables[name] = value
        if len(variables) == 2:
            break
    # Nobody reads the rest, and a full pipe would stop the service.
    reader = subprocess.Popen(["cat"], stdin=process.stdout, stdout=subprocess.DEVNULL)
    yield variables
    process.send_signal(signal.SIGTERM)
    process.wait(60)
    reader.wait(60)
    process.stdout.close()


@pytest.fixture
def torres(service: dict[str, str], tmp_path: Path) -> Run:
    """Return a function that runs `torres` as a user who is logged in."""

    def run(
        *args: object, stdin: str | None = None
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [TORRES, *map(str, args)],
            cwd=tmp_path,
            env=os.environ
            | {
                "XDG_CONFIG_HOME": str(tmp_path / "config"),
                "XDG_STATE_HOME": str(tmp_path / "state"),
            },
            input=stdin,
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )

    done = run("login", service["LADDER"], "--token", "-", stdin=service["TOKEN"])
    assert done.returncode == 0, done.stderr
    return run


@pytest.mark.slow
def test_a_login_is_private_and_a_wrong_token_is_refused(
    torres: Run, service: dict[str, str], tmp_path: Path
) -> None:
    file = tmp_path / "config/torres-ladder/ladders.json"
    assert file.stat().st_mode & 0o777 == 0o600

    wrong = torres("login", service["LADDER"], "--token", "torres_wrong")
    nowhere = torres("login", "http://127.0.0.1:9", "--token", "x")
    nonsense = torres("login", "::", "--token", "x")

    assert wrong.returncode == nowhere.returncode == nonsense.returncode == 2
    assert "valid token" in wrong.stderr
    assert "does not answer" in nowhere.stderr
    assert "not the address" in nonsense.stderr
    assert torres("logout").returncode == 0
    assert "not logged in" in torres("status").stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "thing"),
    [
        (["logs", "9999999"], "game 9999999"),
        (["logs", "9999999", "--submission"], "submission 9999999"),
        (["leaderboard", "nowhere"], "ladder nowhere"),
    ],
)
def test_a_number_or_name_that_does_not_exist_is_named(
    torres: Run, words: list[str], thing: str
) -> None:
    done = torres(*words)

    assert done.returncode == 2
    assert f"there is no {thing} on this ladder" in done.stderr


@pytest.mark.slow
def test_a_submitted_bot_is_followed_to_its_first_rated_game(
    torres: Run, tmp_path: Path
) -> None:
    source = (HOUSE / "greedy/bot.py").read_text()
    (tmp_path / "climbing.py").write_text(source)

    done = torres("submit", "climbing.py")

    assert done.returncode == 0, done.stderr
    assert "#1 is ready.\n" in done.stdout
    assert "first rated game" in done.stdout
    game = re.search(r"/games/(\d+)/", done.stdout)
    assert game is not None
    assert "wrote no notes, and nothing to stderr" in torres("logs", game[1]).stdout
    listed = json.loads(torres("status", "--json").stdout)
    assert [row["bot"] for row in listed] == ["climbing"]
    assert listed[0]["newest_upload"] == "#1 ready"
    assert "climbing" in torres("leaderboard").stdout
    again = torres("submit", "climbing.py", "--no-wait", "--json")
    assert json.loads(again.stdout)["submission"]["number"] == 1


@pytest.mark.slow
def test_an_owner_takes_a_bot_off_a_ladder_and_back(
    torres: Run, tmp_path: Path
) -> None:
    (tmp_path / "wanderer.py").write_text((HOUSE / "greedy/bot.py").read_text())
    assert torres("submit", "wanderer.py", "--no-wait").returncode == 0

    left = torres("leave", "main", "wanderer")
    (row,) = json.loads(torres("status", "wanderer", "--json").stdout)
    back = torres("join", "main", "wanderer")
    nowhere = torres("join", "../bots", "wanderer")
    others = torres("leave", "main", "house-greedy")

    assert left.stdout == "wanderer does not play on main now.\n", left.stderr
    assert (row["status"], row["ladders"]) == ("left", {"main": "left"})
    assert back.stdout == "wanderer plays on main now.\n", back.stderr
    assert nowhere.returncode == others.returncode == 2
    assert "Only the owner" in others.stderr


@pytest.mark.slow
def test_an_archive_is_submitted_as_it_is(torres: Run, tmp_path: Path) -> None:
    with ZipFile(tmp_path / "packed.tar.zip", "w") as archive:
        archive.writestr("bot.py", "x = 1")

    done = torres("submit", "packed.tar.zip", "--no-check", "--no-wait")

    assert done.stdout.startswith("packed #1 is uploaded"), done.stderr


@pytest.mark.slow
def test_a_rejected_bot_says_why(torres: Run, tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("import no_such_module\n")

    done = torres("submit", "broken.py", "--no-check")

    assert done.returncode == 1
    assert "no_such_module" in done.stdout + done.stderr
    assert "torres logs" in done.stderr


@pytest.mark.slow
def test_a_bot_with_faults_is_explained_and_not_uploaded(
    torres: Run, tmp_path: Path
) -> None:
    (tmp_path / "faulty.py").write_text("import no_such_module\n")

    done = torres("submit", "faulty.py")
    assert done.returncode == 1
    assert "FAULT" in done.stdout
    assert "no_such_module" in done.stdout
    assert "nothing was uploaded; --no-check uploads it" in done.stderr
    as_json = torres("submit", "faulty.py", "--json")
    document = json.loads(as_json.stdout)
    assert (as_json.returncode, document["submission"]) == (1, None)
    assert document["check"]["passed"] is False
    names = [row["bot"] for row in json.loads(torres("status", "--json").stdout)]
    assert "faulty" not in names


@pytest.mark.slow
def test_a_bot_is_checked_with_the_table_sizes_of_the_ladder(
    torres: Run, tmp_path: Path
) -> None:
    (tmp_path / "checked.py").write_text((HOUSE / "random/bot.py").read_text())

    done = torres("submit", "checked.py", "--no-wait")
    assert done.returncode == 0, done.stderr
    for seats in (2, 3, 4):
        assert f"yucata, {seats} seats" in done.stderr
    assert "is uploaded" in done.stdout


def house_games(files: list[Path]) -> Iterator[tuple[Path, Any, int, str]]:
    """Yield replays, with the seat and the name of a house bot, that can be repeated.

    A search that ends by the clock does not choose the same again.
    """
    by_the_clock = COSTLY if engine.compiled else COSTLY | {"searcher"}
    for file in files:
        replay = json.loads(file.read_text())
        seat, name = next(
            (seat, player["bot"].removeprefix("house-"))
            for seat, player in enumerate(replay["players"])
            if player["bot"].startswith("house-")
        )
        if name not in by_the_clock:
            yield file, replay, seat, name


@pytest.mark.slow
def test_server_games_are_reproduced_and_a_changed_bot_differs(
    torres: Run, service: dict[str, str], tmp_path: Path
) -> None:
    """The same bot does the same in 20 games of the server; another one does not."""
    folder = tmp_path / "games"
    # Without a compiler, games take several times as long.
    deadline = time.monotonic() + GAMES_TIMEOUT_S
    while True:
        done = torres("replays", folder, "--last", GAMES)
        assert done.returncode == 0, done.stderr
        if len(list(folder.iterdir())) >= GAMES or time.monotonic() > deadline:
            break
    files = sorted(folder.iterdir())[:GAMES]
    assert len(files) == GAMES
    together = tmp_path / "together"  # all are missing, so one request exports them
    assert torres("replays", together, "--last", 3 * GAMES).returncode == 0
    assert len(list(together.iterdir())) >= GAMES
    for file in set(files) & {folder / each.name for each in together.iterdir()}:
        assert json.loads(file.read_text()) == json.loads(
            (together / file.name).read_text()
        )
    games = list(house_games(files))
    for _, replay, seat, name in games:
        assert comparison(replay, seat, name).difference is None
        other = "banker" if name == "random" else "random"
        difference = comparison(replay, seat, other).difference
        assert difference is not None
        assert isinstance(difference.recorded, RecordedAnswer)
        assert difference.given != difference.recorded.actions

    file = games[-1][0]
    number = file.stem.removeprefix("game-")
    same = torres("reproduce", number, f"house:{name}")
    changed = torres("reproduce", file, f"house:{other}", "--seat", seat)
    assert same.returncode == 0, same.stderr
    assert same.stdout.startswith("No difference: all ")
    assert changed.returncode == 1, changed.stderr
    assert f"First difference: {difference.ask.decision}" in changed.stdout


def comparison(replay: dict[str, Any], seat: int, house_bot: str) -> RepeatedGame:
    with closing(open_sandbox("none")) as sandbox:
        bot = BotProcess(find_bot(f"house:{house_bot}").program, sandbox)
        return compare(replay, seat, bot, Limits().as_dict())


@pytest.mark.slow
def test_a_position_is_put_to_a_bot(torres: Run, tmp_path: Path) -> None:
    torres("replays", "games", "--last", 1)
    (file,) = (tmp_path / "games").glob("*.json")

    done = torres("ask", "house:greedy", file, "--ply", 20)
    beyond = torres("ask", "house:greedy", file, "--ply", 99_999)

    assert done.returncode == 0, done.stderr
    assert "recorded:" in done.stdout
    assert "answer:" in done.stdout
    assert beyond.returncode == 2
    assert "use a number from 0 to" in beyond.stderr


@pytest.mark.slow
def test_the_program_on_the_page_of_the_client_works(
    service: dict[str, str], tmp_path: Path
) -> None:
    page = (ROOT / "docs/client.md").read_text()
    program = "\n".join(re.findall(r"```python\n(.*?)```", page, re.DOTALL))
    bot = (HOUSE / "random/bot.py").read_text()
    (tmp_path / "bot.py").write_text(f"{bot}\n# not the bot of the house\n")
    finished = f"{service['LADDER']}/api/v1/games/?status=finished"
    while not httpx.get(finished, timeout=60).json()["results"]:
        Event().wait(0.2)
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env=os.environ | service,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith("I am ")
    assert lines[1].startswith("ready ")
    assert any("'rank'" in line for line in lines)
    assert any(line.endswith(" moves") for line in lines)


def test_the_page_of_the_client_names_every_method() -> None:
    page = (ROOT / "docs/client.md").read_text()
    named = re.findall(r"`(\w+)\([^`]*\)`", page.partition("## Methods")[2])
    public = {name for name in vars(LadderClient) if not name.startswith("_")}

    assert set(named) == public - {"close"}
    for line in page.partition("## Methods")[2].splitlines():
        for method in re.findall(r"`(\w+\([^`]*\))`", line):
            name, _, rest = method.partition("(")
            wanted = [word.strip() for word in rest.rstrip(")").split(",") if word]
            parameters = inspect.signature(getattr(LadderClient, name)).parameters
            given = [str(p).partition(":")[0] for p in parameters.values()][1:]
            assert wanted == given, name
