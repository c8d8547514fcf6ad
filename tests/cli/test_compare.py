"""`torres compare`, run as a person runs it with real bots."""

import json
import os
import signal
from pathlib import Path

import pytest

from tests.cli.test_match import alive, process_tree, running, wait_until

__all__ = ["running"]


def report(done) -> dict[str, object]:
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.slow
def test_a_better_bot_is_found_to_be_better(torres, tmp_path: Path) -> None:
    shown = torres("compare", "house:random", "house:greedy")
    stored = torres("compare", "house:random", "house:greedy", "--json")

    assert shown.returncode == 0, shown.stderr
    assert shown.stdout.startswith("greedy is better than random.")
    assert "Expected games: 256 if the effect is 0 nElo, 419 at worst" in shown.stderr
    result = report(stored)
    assert result["verdict"] == "better"
    assert result["llr"] >= result["llr_bounds"][1]
    assert 16 <= result["blocks"] <= 40
    assert result["effect"]["interval"][0] > 0.5
    assert result["e_value"]["better"] > 20


@pytest.mark.slow
def test_a_worse_bot_is_found_to_be_worse(torres, tmp_path: Path) -> None:
    result = report(torres("compare", "house:greedy", "house:random", "--json"))

    assert result["verdict"] == "worse"
    assert result["effect"]["interval"][1] < 0.5
    replays = [Path(path) for path in result["hurt_by"][0]["replays"]]
    assert len(replays) == 2
    verified = torres("verify", *replays)
    assert verified.returncode == 0, verified.stdout


@pytest.mark.slow
def test_a_bot_does_not_differ_from_itself(torres) -> None:
    args = ("compare", "house:random", "house:random", "--bounds", "0,100")

    done = torres(*args)

    assert "Both versions have the same files." in done.stderr
    assert done.stdout.startswith(
        "No difference: random (new) is not better than random (old) by 100 nElo."
    )
    result = report(torres(*args, "--json"))
    assert set(result["scores"]) == {0.5}
    assert result["e_value"]["better"] == pytest.approx(1)


@pytest.mark.parametrize(
    "options",
    [
        ("--seats", 3),
        ("--seats", 4),
        ("--against", "house:banker"),
        ("--against", "house:banker,house:random,house:banker", "--seats", 3),
    ],
)
def test_blocks_have_two_games_with_one_deal(torres, tmp_path, options) -> None:
    done = torres(
        "compare", "house:random", "house:banker", "--max-blocks", 2, "--json",
        "--state", "state", *options,
    )  # fmt: skip

    result = report(done)
    assert result["verdict"] == "undecided"
    assert result["blocks"] == 2
    lines = (tmp_path / "state" / "results.ndjson").read_text().splitlines()[1:]
    games = sorted((json.loads(line) for line in lines), key=lambda row: row["game"])
    assert [game["seed"] for game in games] == ["torres/1"] * 2 + ["torres/2"] * 2
    for one, other in zip(games[::2], games[1::2], strict=True):
        exchanged = [{0: 1, 1: 0}.get(bot, bot) for bot in one["bots"]]
        if "--against" in options:
            assert one["bots"].count(0) == other["bots"].count(1) == 1
        assert other["bots"] == exchanged


@pytest.mark.deep
def test_the_number_of_workers_does_not_change_the_verdict(torres) -> None:
    args = ("compare", "house:banker", "house:greedy", "--json", "--bounds", "0,200")

    one = report(torres(*args, "--jobs", 1, "--state", "a"))
    two = report(torres(*args, "--jobs", 2, "--state", "b"))

    del one["hurt_by"], two["hurt_by"]  # the replays are in other folders
    assert one == two


@pytest.mark.slow
def test_an_interrupted_test_continues(torres, running, tmp_path: Path) -> None:
    args = ("compare", "house:random", "house:random", "--bounds", "0,150", "--json")
    whole = report(torres(*args, "--state", "whole"))
    process = running(*args, "--state", "state", "--jobs", 2)
    file = tmp_path / "state" / "results.ndjson"
    wait_until(lambda: file.exists() and len(file.read_text().splitlines()) > 4)
    tree = process_tree(process.pid)

    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=120)

    assert process.returncode == 130
    assert "the same command continues" in errors
    wait_until(lambda: not alive(tree), timeout_s=60)
    continued = report(torres(*args, "--state", "state"))
    assert continued["scores"] == whole["scores"]
    assert continued["verdict"] == whole["verdict"] == "no_difference"


@pytest.mark.deep
def test_more_blocks_change_the_evidence_and_not_the_verdict(torres) -> None:
    args = ("compare", "house:random", "house:greedy", "--json")
    first = report(torres(*args))

    more = report(torres(*args, "--blocks", first["blocks"] + 3))

    assert more["blocks"] == first["blocks"] + 3
    assert more["llr"] == first["llr"]
    assert more["scores"][: first["blocks"]] == first["scores"]
    assert more["e_value"]["better"] > first["e_value"]["better"]


def test_a_gate_lets_only_a_better_version_through(torres) -> None:
    args = ("--gate", "--max-blocks", 1)

    assert torres("compare", "house:random", "house:greedy", *args).returncode == 3


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("--bounds", "50,0"), "write two numbers of nElo"),
        (("--bounds", "fast"), "write two numbers of nElo"),
        (("--against", "house:banker", "--seats", 4), "4 seats need 3 bots"),
        (("--error", "0.7"), "0.7 is not in the range"),
    ],
)
def test_a_bad_argument_is_one_line(torres, args, message: str) -> None:
    done = torres("compare", "house:random", "house:greedy", *args)

    assert done.returncode == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
