"""A worker counts how long its games and their parts took, and reports it."""

import time

import pytest

from ladder.games.models import Worker
from ladder.games.worker import registry
from ladder.games.worker.lifecycle import WorkerReporter
from ladder.games.worker.play import AttemptEnd, RunningGames, play
from ladder.games.worker.timings import BUCKETS_S, TIMINGS, Timing, Timings
from ladder.ops.chaos.scripted_player import ScriptedPlayer
from tests.games import factories
from torres.runner.verdict import BotStart, SeatOutput

MAX_COST_US = 20.0


READY = BotStart(1e9, sandbox_s=0.004, ready_s=0.03)


def test_times_are_counted_in_their_buckets() -> None:
    counted = Timings()
    for seconds in (0.0, 0.001, 0.0011, 900.0, 901.0):
        counted.add(Timing.GAME, seconds)
    game = counted.snapshot()["game"]

    assert [bucket for bucket, count in enumerate(game["counts"]) if count] == [
        0,
        1,
        len(BUCKETS_S) - 1,
        len(BUCKETS_S),
    ]
    assert game["counts"][0] == 2
    assert game["sum"] == pytest.approx(1801.0021)


def test_a_bot_that_never_was_ready_has_a_sandbox_start_only() -> None:
    counted = Timings()
    counted.add_starts([READY, BotStart(1e9, 0.004), None])
    histograms = counted.snapshot()

    assert sum(histograms["sandbox_start"]["counts"]) == 2
    assert sum(histograms["bot_ready"]["counts"]) == 1
    assert histograms["bot_ready"]["sum"] == 0.03


def test_a_snapshot_does_not_change() -> None:
    counted = Timings()
    before = counted.snapshot()
    counted.add(Timing.REFEREE, 1.0)

    assert sum(before["referee"]["counts"]) == 0
    assert sum(counted.snapshot()["referee"]["counts"]) == 1


def test_a_finished_game_costs_little() -> None:
    """Measure what a game with four bots adds: 2 to 3 µs for each bot, and the game."""
    counted = Timings()

    def cost_us(games: int = 500) -> float:
        began = time.thread_time()
        for _ in range(games):
            counted.add_starts([READY] * 4)
            counted.add(Timing.REFEREE, 0.05)
            counted.add(Timing.GAME, 3.0)
        return (time.thread_time() - began) / games * 1e6

    assert min(cost_us() for _ in range(20)) < MAX_COST_US


class Starter(ScriptedPlayer):
    """Says when it started, as a bot in a sandbox does."""

    def output(self) -> SeatOutput:
        return SeatOutput(started=READY)


@pytest.mark.django_db(transaction=True)
def test_a_game_that_was_played_is_in_the_row_of_its_worker(monkeypatch) -> None:
    monkeypatch.setattr(WorkerReporter, "_calibrate", lambda self, worker: None)
    before = TIMINGS.snapshot()
    game = factories.game(seats=3)
    running = RunningGames(lambda bot, limits, *, strict_clock: Starter(bot.digest))
    reporter = WorkerReporter(registry.unlimited(slots=1), ["play"], running=running)

    assert play(game.pk, registry.current_worker(), running) == AttemptEnd.FINISHED
    reporter.report()

    row = Worker.objects.get(pk=registry.current_worker())
    assert row.timings == TIMINGS.snapshot()
    added = {
        name: sum(row.timings[name]["counts"]) - sum(before[name]["counts"])
        for name in map(str, Timing)
    }
    assert added == {"sandbox_start": 3, "bot_ready": 3, "referee": 1, "game": 1}
    cpu_s = row.timings["referee"]["sum"] - before["referee"]["sum"]
    assert 0 < cpu_s < row.timings["game"]["sum"] - before["game"]["sum"]
