"""A worker on which bots fail that do not fail elsewhere is found, and nobody else."""

import pytest

from ladder.games import attempts, worker_health
from ladder.games.attempts import FinishedGame, SeatResult
from ladder.games.models import Game, Worker
from ladder.games.worker import registry
from ladder.games.worker_health import BLAME_THRESHOLD, SubmissionFaults, surprise
from tests.games import factories


def test_bots_that_fail_everywhere_blame_nobody():
    same = {1: SubmissionFaults(50, 50), 2: SubmissionFaults(50, 0)}

    assert surprise({"a": same, "b": same}, "a") < BLAME_THRESHOLD


def test_bots_that_fail_here_alone_blame_this_worker():
    records = {"a": {1: SubmissionFaults(10, 10)}, "b": {1: SubmissionFaults(50, 0)}}

    assert surprise(records, "a") > BLAME_THRESHOLD
    assert surprise(records, "b") == 0


def test_a_few_failures_are_no_proof():
    records = {"a": {1: SubmissionFaults(20, 3)}, "b": {1: SubmissionFaults(50, 0)}}

    assert surprise(records, "a") < BLAME_THRESHOLD


def test_a_bot_that_played_nowhere_else_says_nothing():
    assert (
        surprise(
            {"a": {1: SubmissionFaults(99, 99)}, "b": {2: SubmissionFaults(99, 0)}}, "a"
        )
        == 0
    )


def play(bots, worker: int, fault: str = "") -> Game:
    game = factories.match(bots).games.get()
    places = [SeatResult(0, 40, 1, fault), SeatResult(1, 30, 2, fault)]
    result = FinishedGame("completed", "1", b"r", places)
    assert attempts.finish(attempts.claim(game.pk, worker), result)
    return game


@pytest.mark.django_db
def test_a_sick_worker_is_drained_and_its_games_are_played_again():
    bots = factories.bots(2)
    ill = Worker.objects.create(name="ill#1", host="ill").pk
    fine = Worker.objects.create(name="fine#1", host="fine").pk
    before = play(bots, ill)
    bad = [play(bots, ill, "timeout") for _ in range(10)]
    good = [play(bots, fine) for _ in range(20)]

    voided = worker_health.drain_faulty_workers()

    assert sorted(voided) == [game.pk for game in bad]
    assert Worker.objects.get(pk=ill).drained
    assert not Worker.objects.get(pk=fine).drained
    assert Game.objects.filter(replaces__in=bad, status="scheduled").count() == 10
    left = Game.objects.filter(pk__in=[before.pk, *(game.pk for game in good)])
    assert set(left.values_list("status", flat=True)) == {"finished"}
    registry.undrain(ill)
    assert worker_health.drain_faulty_workers() == []
    assert not Worker.objects.get(pk=ill).drained
