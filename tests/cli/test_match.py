"""`torres match`, run as a person runs it."""

import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ladder.ratings.ladders import ensure_default_ladder

TORRES = Path(sys.executable).with_name("torres")
PAIR = ("match", "house:random", "house:banker")
CRASHER = """\
import sys
print('{"type":"ready"}', flush=True)
sys.stdin.readline()
sys.stdin.readline()
raise SystemExit(3)
"""


def wait_until(condition: Callable[[], bool], timeout_s: float = 60) -> None:
    ends = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < ends, "the condition did not come true"
        select.select([], [], [], 0.02)


def stored_results(state: Path) -> list[dict[str, object]]:
    lines = (state / "results.ndjson").read_text().splitlines()[1:]
    return [json.loads(line) for line in lines]


def process_tree(root: int) -> set[int]:
    """Return the ids of a process and all its descendants."""
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                after_name = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            parents[int(entry.name)] = int(after_name[1])
    tree = {root}
    while more := {pid for pid, parent in parents.items() if parent in tree} - tree:
        tree |= more
    return tree


def alive(pids: set[int]) -> set[int]:
    return {pid for pid in pids if Path(f"/proc/{pid}/exe").exists()}


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Return a function that starts `torres` in a session of its own."""
    started = []
    # A background job of a shell ignores SIGINT, and its children would inherit that.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)

    def start(*args: object) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [TORRES, *map(str, args)],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        started.append(process)
        return process

    yield start
    signal.signal(signal.SIGINT, before)
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate()


@pytest.mark.slow
def test_two_workers_give_the_same_results_in_the_same_order_as_one(
    torres, tmp_path: Path
) -> None:
    args = (*PAIR, "house:random", "--games", 6, "--json")

    one = torres(*args, "--jobs", 1, "--state", "a", "--replays", "one")
    two = torres(*args, "--jobs", 2, "--state", "b", "--replays", "two")

    assert one.returncode == two.returncode == 0, one.stderr + two.stderr
    *games, summary = one.stdout.splitlines()
    assert games == two.stdout.splitlines()[:-1]
    rows = [json.loads(line) for line in games]
    assert [row["game"] for row in rows] == list(range(1, 7))
    assert [row["seed"] for row in rows[:4]] == ["torres/1"] * 3 + ["torres/2"]
    assert [row["bots"] for row in rows[:3]] == [[0, 1, 2], [1, 2, 0], [2, 0, 1]]
    assert json.loads(summary)["summary"]["played"] == 6

    def moves(folder: str, number: int) -> list[list[str]]:
        replay = json.loads((tmp_path / folder / f"game-{number}.json").read_text())
        return [move["actions"] for move in replay["moves"]]

    for number in range(1, 7):
        assert moves("one", number) == moves("two", number)


@pytest.mark.slow
def test_an_interrupted_match_continues_and_leaves_no_process(
    torres, running, tmp_path: Path
) -> None:
    whole = torres(*PAIR, "--games", 30, "--json", "--state", "whole")
    args = (*PAIR, "--games", 30, "--json", "--jobs", 2, "--state", "state")
    process = running(*args)
    state = tmp_path / "state"
    wait_until((state / "results.ndjson").exists)
    wait_until(lambda: len(stored_results(state)) >= 3)
    tree = process_tree(process.pid)
    assert len(tree) >= 4  # the command, two workers, and bots

    os.killpg(process.pid, signal.SIGINT)  # what Ctrl-C in a terminal does
    _, errors = process.communicate(timeout=120)

    assert process.returncode == 130
    assert "the same command continues" in errors
    wait_until(lambda: not alive(tree), timeout_s=60)
    before = stored_results(state)
    assert 3 <= len(before) < 30

    continued = torres(*args)

    assert continued.returncode == 0, continued.stderr
    assert stored_results(state)[: len(before)] == before
    assert len(stored_results(state)) == 30
    assert continued.stdout.splitlines()[:-1] == whole.stdout.splitlines()[:-1]


def test_a_result_that_was_cut_off_is_played_again(torres, tmp_path: Path) -> None:
    args = (*PAIR, "--games", 4, "--json", "--state", "state")
    first = torres(*args)
    file = tmp_path / "state" / "results.ndjson"
    file.write_bytes(file.read_bytes()[:-40])

    again = torres(*args)

    assert again.stdout.splitlines()[:-1] == first.stdout.splitlines()[:-1]
    assert sorted(row["game"] for row in stored_results(tmp_path / "state")) == [
        1, 2, 3, 4,
    ]  # fmt: skip


def test_more_games_only_add_to_the_match(torres, tmp_path: Path) -> None:
    torres(*PAIR, "--games", 2, "--state", "state")
    before = stored_results(tmp_path / "state")

    more = torres(*PAIR, "--games", 4, "--state", "state", "--json")

    assert stored_results(tmp_path / "state")[:2] == before
    assert json.loads(more.stdout.splitlines()[-1])["summary"]["played"] == 4


@pytest.mark.slow
def test_a_killed_worker_costs_no_game(torres, running, tmp_path: Path) -> None:
    whole = torres(*PAIR, "--games", 8, "--json", "--state", "whole")
    process = running(*PAIR, "--games", 8, "--json", "--jobs", 2, "--state", "state")
    state = tmp_path / "state"
    wait_until((state / "results.ndjson").exists)
    wait_until(lambda: len(stored_results(state)) >= 1)
    command_lines = {
        pid: (Path(f"/proc/{pid}/cmdline").read_bytes())
        for pid in alive(process_tree(process.pid))
    }
    worker = next(pid for pid, line in command_lines.items() if b"spawn_main" in line)

    os.kill(worker, signal.SIGKILL)
    out, errors = process.communicate(timeout=120)

    assert process.returncode == 0, errors
    assert out.splitlines()[:-1] == whole.stdout.splitlines()[:-1]


def test_the_table_has_the_costs_and_the_reasons_of_forfeits(
    torres, tmp_path: Path
) -> None:
    (tmp_path / "crasher.py").write_text(CRASHER)

    done = torres("match", "crasher.py", "house:random", "--games", 4, "--json")
    shown = torres("match", "crasher.py", "house:random", "--games", 4)

    crasher, winner = json.loads(done.stdout.splitlines()[-1])["summary"]["bots"]
    assert crasher["forfeits"] == {"crash": 4}
    assert crasher["wins"] == 0
    assert winner["score"] == 1.0
    assert winner["score_interval"][0] < 0.9  # two deals are little evidence
    assert winner["memory_peak"] > 1_000_000
    assert "4 × crash" in shown.stdout
    assert "crasher forfeits before move 0: crash: exit code 3" in shown.stdout


@pytest.mark.slow
def test_a_decision_costs_what_the_bot_computed(torres, tmp_path: Path) -> None:
    busy = (
        "import time\n"
        "def work():\n"
        "    ends = time.process_time() + 0.03\n"
        "    while time.process_time() < ends: pass\n"
        "import json, sys\n"
        "for line in sys.stdin:\n"
        "    message = json.loads(line)\n"
        "    if message['type'] == 'hello':\n"
        '        print(\'{"type":"ready"}\', flush=True)\n'
        "    elif message['type'] == 'decide':\n"
        "        work()\n"
        "        print(json.dumps({'index': 0}), flush=True)\n"
        "    else: break\n"
    )
    (tmp_path / "busy.py").write_text(busy)

    done = torres("match", "busy.py", "house:random", "--games", 2, "--json")

    row = json.loads(done.stdout.splitlines()[-1])["summary"]["bots"][0]
    assert 29 < row["ms_mean"] < 60
    assert row["ms_mean"] <= row["ms_p99"] <= row["ms_max"]


def test_the_rules_and_limits_of_a_ladder_are_used(
    torres, live_server, tmp_path: Path
) -> None:
    ladder = ensure_default_ladder()
    ladder.limits = {**ladder.limits, "move_ms": 777}
    ladder.save()

    for address in (live_server.url, f"{live_server.url}/ladders/{ladder.slug}/"):
        done = torres(
            "match", "house:random", "house:random", "--games", 2, "--sandbox", "none",
            "--ladder", address, "--state", "state",
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
    identity = json.loads(
        (tmp_path / "state" / "results.ndjson").read_text().splitlines()[0]
    )
    assert identity["limits"]["move_ms"] == 777
    assert identity["ruleset"] == ladder.ruleset


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("match", "house:random"), "a game has 2, 3 or 4 seats"),
        ((*PAIR, "--limits", "speed=3"), "'speed' is no limit; the limits are"),
        ((*PAIR, "--limits", "move_ms=fast"), "'move_ms=fast' is not NAME=NUMBER"),
        ((*PAIR, "--ladder", "ftp://x"), "'ftp://x' is not the address of a ladder"),
        ((*PAIR, "--ladder", "http://127.0.0.1:9"), "does not answer"),
    ],
)
def test_a_bad_argument_is_one_line(torres, args, message: str) -> None:
    done = torres(*args)

    assert done.returncode == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_folder_of_another_match_is_refused(torres, tmp_path: Path) -> None:
    torres(*PAIR, "--games", 1, "--state", "state")

    other = torres(*PAIR, "--games", 1, "--state", "state", "--seed", "x")

    assert other.returncode == 2
    assert "holds a match with different seed" in other.stderr
    fresh = torres(*PAIR, "--games", 1, "--state", "state", "--seed", "x", "--fresh")
    assert fresh.returncode == 0, fresh.stderr
