"""Only a worker that makes bots fail is drained, and its games are played again."""

import pytest

from ladder.games import attempts, worker_health
from ladder.games.attempts import FinishedGame, SeatResult
from ladder.games.models import Game, Worker
from ladder.games.worker import registry
from ladder.games.worker_health import BLAME_THRESHOLD, SubmissionFaults, surprise
from tests.games import factories


def test_bots_that_fail_everywhere_blame_no_worker():
    same = {1: SubmissionFaults(50, 50), 2: SubmissionFaults(50, 0)}

    assert surprise({"a": same, "b": same}, "a") < BLAME_THRESHOLD


def test_bots_that_fail_on_one_worker_only_blame_this_worker():
    records = {"a": {1: SubmissionFaults(10, 10)}, "b": {1: SubmissionFaults(50, 0)}}

    assert surprise(records, "a") > BLAME_THRESHOLD
    assert surprise(records, "b") == 0


def test_a_few_failures_are_not_enough_evidence():
    records = {"a": {1: SubmissionFaults(20, 3)}, "b": {1: SubmissionFaults(50, 0)}}

    assert surprise(records, "a") < BLAME_THRESHOLD


def test_a_bot_that_played_nowhere_else_is_no_evidence():
    records = {"a": {1: SubmissionFaults(99, 99)}, "b": {2: SubmissionFaults(99, 0)}}

    assert surprise(records, "a") == 0


def play(bots, worker: int, fault: str = "") -> Game:
    game = factories.match(bots).games.get()
    seats = [SeatResult(0, 40, 1, fault), SeatResult(1, 30, 2, fault)]
    result = FinishedGame("completed", "1", b"r", seats)
    assert attempts.finish(attempts.claim(game.pk, worker), result)
    return game


@pytest.mark.django_db
def test_a_faulty_worker_is_drained_and_its_games_are_played_again():
    bots = factories.bots(2)
    faulty = Worker.objects.create(name="faulty#1", host="faulty").pk
    healthy = Worker.objects.create(name="healthy#1", host="healthy").pk
    before = play(bots, faulty)
    bad = [play(bots, faulty, "timeout") for _ in range(10)]
    good = [play(bots, healthy) for _ in range(20)]

    voided = worker_health.drain_faulty_workers()

    assert sorted(voided) == [game.pk for game in bad]
    assert Worker.objects.get(pk=faulty).drained
    assert not Worker.objects.get(pk=healthy).drained
    assert Game.objects.filter(replaces__in=bad, status="scheduled").count() == 10
    left = Game.objects.filter(pk__in=[before.pk, *(game.pk for game in good)])
    assert set(left.values_list("status", flat=True)) == {"finished"}
    registry.undrain(faulty)
    assert worker_health.drain_faulty_workers() == []
    assert not Worker.objects.get(pk=faulty).drained
