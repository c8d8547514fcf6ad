"""`torres selfplay`, run as a person runs it, and the files that it writes."""

import gzip
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from engine.observation import ACTION_COUNT, OBSERVATION_SIZE
from engine.replay import trace
from engine.replay_format import InvalidReplay
from tests.cli.conftest import torres
from tests.cli.test_match import CRASHER, TORRES, alive, process_tree, wait_until
from torres.learning.samples import Samples, load, sample, sample_files

__all__ = ["torres"]
PAIR = ("selfplay", "house:random", "house:banker")


def contents(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in sample_files(folder)}


def replay_of(folder: Path, number: int) -> dict[str, object]:
    return json.loads((folder / "replays" / f"game-{number}.json").read_text())


def test_the_data_is_what_the_referee_asked_and_the_bots_answered(
    torres, tmp_path: Path
) -> None:
    done = torres(*PAIR, "house:random", "--games", 3, "--out", "data", "--jobs", 2)

    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("3 games in data, ")
    for number, samples in enumerate(load(tmp_path / "data"), 1):
        replay = replay_of(tmp_path / "data", number)
        *steps, last = trace(replay)
        assert samples.seats.tolist() == [step["seat"] for step in steps]
        legal = np.diff(samples.starts)
        assert legal.tolist() == [len(step["legal"]) for step in steps]
        for row, step in enumerate(steps):
            ids = samples.legal[samples.starts[row] : samples.starts[row + 1]]
            played = ids.tolist().index(samples.actions[row])
            assert step["legal"][played] == step["action"]
        heights = samples.observations[:, :64].reshape(-1, 8, 8).transpose(0, 2, 1)
        assert np.array_equal(heights, [step["state"]["heights"] for step in steps])
        ranks = last["result"]["ranks"]
        rewards = [
            (sum(r > x for r in ranks) - sum(r < x for r in ranks)) / 2 for x in ranks
        ]
        assert samples.rank.tolist() == [rewards[seat] for seat in samples.seats]
    assert number == 3


@pytest.mark.deep
@pytest.mark.slow
def test_an_interrupted_run_continues_with_the_same_data(
    torres, tmp_path: Path
) -> None:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    args = (*PAIR, "--games", 24, "--out")
    whole = torres(*args, "whole")
    process = subprocess.Popen(
        [TORRES, *map(str, args), "data", "--jobs", "2"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    signal.signal(signal.SIGINT, before)
    try:
        data = tmp_path / "data"
        wait_until(lambda: data.exists() and len(sample_files(data)) >= 3)
        tree = process_tree(process.pid)
        os.killpg(process.pid, signal.SIGINT)  # what Ctrl-C in a terminal does
        _, errors = process.communicate(timeout=120)
    finally:
        if process.poll() is None:
            process.kill()
            process.communicate()

    assert whole.returncode == 0, whole.stderr
    assert process.returncode == 130
    assert "the same command continues" in errors
    wait_until(lambda: not alive(tree), timeout_s=60)
    written = contents(data)
    assert 3 <= len(written) < 24
    lost = sample_files(data)[0]
    lost.unlink()
    again = torres(*args, "data")
    assert again.returncode == 0, again.stderr
    assert contents(data) == contents(tmp_path / "whole")
    assert written.items() <= contents(data).items()
    assert len(written) < 24 == len(contents(data))


def test_replays_give_the_data_of_their_games_in_both_formats(
    torres, tmp_path: Path
) -> None:
    torres(*PAIR, "--games", 2, "--out", "data")
    npz = torres("selfplay", "--from", "data/replays", "--out", "npz")
    lines = torres(
        *("selfplay", "--from", "data/replays/game-1.json"),
        *("--from", "data/replays/game-2.json"),
        *("--out", "lines", "--format", "ndjson", "--json"),
    )

    assert npz.returncode == lines.returncode == 0, npz.stderr + lines.stderr
    assert contents(tmp_path / "npz") == contents(tmp_path / "data")
    assert json.loads(lines.stdout)["summary"]["files"] == 2
    joined = Samples.join(load(tmp_path / "data"))
    again = Samples.join(load(tmp_path / "lines"))
    for one, other in zip(joined, again, strict=True):
        assert np.array_equal(one, other)
        assert len(one) > 100
    with gzip.open(tmp_path / "lines/game-1.ndjson.gz", "rt") as file:
        row = json.loads(file.readline())
    assert len(row["observation"]) == OBSERVATION_SIZE
    assert row["action"] in row["legal"]


def test_joined_games_keep_their_rows(torres, tmp_path: Path) -> None:
    torres(*PAIR, "--games", 2, "--out", "data")
    first, second = load(tmp_path / "data")
    both = Samples.join([first, second])
    cut = len(first.actions)

    assert len(both.actions) == cut + len(second.actions)
    assert (np.diff(both.turns) >= 0).all()
    assert both.turns[cut - 1] < both.turns[cut]
    assert np.array_equal(both.masks(slice(cut, cut + 5)), second.masks(slice(0, 5)))
    mask = second.masks(slice(3, 4))
    assert mask.shape == (1, ACTION_COUNT)
    assert mask[0, second.actions[3]] == 1
    assert mask.sum() == second.starts[4] - second.starts[3]
    with pytest.raises(ValueError, match="no games"):
        Samples.join([])


def test_what_the_referee_answers_for_a_forfeited_seat_is_left_out(
    torres, tmp_path: Path
) -> None:
    (tmp_path / "crash.py").write_text(CRASHER)
    bots = ("crash.py", "house:random", "house:random")
    done = torres("selfplay", *bots, "--games", 1, "--out", "data")
    replay = replay_of(tmp_path / "data", 1)
    samples = sample(replay)

    assert done.returncode == 0, done.stderr
    assert any("auto" in move for move in replay["moves"])
    assert set(samples.seats) == {1, 2}
    own = [m["actions"] for m in replay["moves"] if "auto" not in m]
    assert len(samples.actions) == sum(map(len, own))


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("house:random",), "2, 3 or 4 seats"),
        (("house:random", "--from", "x"), "not both"),
        ((), "name replays with --from"),
        (("--from", "empty"), "there is no replay"),
        (("--from", "nothing.json"), "No such file"),
        (("--from", "bad.json"), "format is not"),
        (("--from", "bad.json", "--from", "other/bad.json"), "the name bad.json"),
        (("house:random", "house:none"), "there is no house bot"),
    ],
)
def test_wrong_arguments_are_refused_in_one_line(
    torres, tmp_path: Path, args: tuple[str, ...], words: str
) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "other").mkdir()
    for name in ("bad.json", "other/bad.json"):
        (tmp_path / name).write_text("{}")
    done = torres("selfplay", *args, "--out", "data")

    assert done.returncode in (1, 2)
    assert words in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_folder_of_other_data_is_refused_and_fresh_begins_anew(
    torres, tmp_path: Path
) -> None:
    torres(*PAIR, "--games", 2, "--out", "data")
    other = ("selfplay", "house:banker", "house:banker", "--games", 1, "--out", "data")
    refused = torres(*other)
    assert len(contents(tmp_path / "data")) == 2
    fresh = torres(*other, "--fresh")

    assert refused.returncode == 2
    assert "different bots" in refused.stderr
    assert fresh.returncode == 0, fresh.stderr
    assert list(contents(tmp_path / "data")) == ["game-1.npz"]


def test_without_numpy_the_command_names_what_to_install(tmp_path: Path) -> None:
    program = (
        "import sys; sys.modules['numpy'] = None\n"
        "from torres.cli.main import main; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *PAIR, "--out", str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 1
    assert "pip install 'torres-ladder[env]'" in done.stderr


@pytest.mark.parametrize("name", ["x.npz", "x.ndjson.gz"])
@pytest.mark.parametrize(
    "content", [b"", b"PK\x03\x04", b"{}", gzip.compress(b"{}", mtime=0)]
)
def test_files_that_are_no_data_are_refused(
    tmp_path: Path, name: str, content: bytes
) -> None:
    (tmp_path / name).write_bytes(content)

    with pytest.raises(ValueError, match=f"{name}: not a file of"):
        list(load(tmp_path))
    (tmp_path / name).unlink()
    with pytest.raises(ValueError, match="no files"):
        list(load(tmp_path))


def test_games_without_a_result_and_invalid_replays_are_refused(
    torres, tmp_path: Path
) -> None:
    torres(*PAIR, "--games", 1, "--out", "data")
    replay = replay_of(tmp_path / "data", 1)
    unfinished = {k: v for k, v in replay.items() if k != "result"}
    with pytest.raises(InvalidReplay):
        sample(unfinished)
    cut = unfinished | {"moves": replay["moves"][:9], "scoring": []}
    with pytest.raises(ValueError, match="not finished"):
        sample(cut)
