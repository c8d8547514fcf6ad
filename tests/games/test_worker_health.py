"""Only a worker that makes bots fail is drained, and its games are played again."""

import pytest

from ladder.bots.models import Bot
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


def records_of(*failed: int) -> dict[str, dict[int, SubmissionFaults]]:
    """Return records of one owner for each number of failures on "a"; none on "b"."""
    return {
        "a": {n: SubmissionFaults(50, k, owner=n) for n, k in enumerate(failed)},
        "b": {n: SubmissionFaults(50, 0, owner=n) for n in range(len(failed))},
    }


def test_two_owners_alone_blame_no_worker_whatever_their_bots_do():
    assert surprise(records_of(50, 50, 0, 0, 0), "a") < BLAME_THRESHOLD


def test_a_chance_failure_of_a_third_owner_does_not_help_two_others():
    assert surprise(records_of(50, 50, 2, 1, 0), "a") < BLAME_THRESHOLD


def test_three_owners_together_blame_a_worker():
    assert surprise(records_of(40, 20, 10), "a") > BLAME_THRESHOLD


def test_a_bot_that_fails_everywhere_neither_helps_nor_hides():
    crashing = {7: SubmissionFaults(50, 50, owner=7), 8: SubmissionFaults(50, 50, 8)}
    honest = records_of(40, 40, 40)
    hostile = records_of(50, 0, 0)

    with_honest = {name: honest[name] | crashing for name in honest}
    with_hostile = {name: hostile[name] | crashing for name in hostile}

    assert surprise(with_honest, "a") > BLAME_THRESHOLD
    assert surprise(with_hostile, "a") < BLAME_THRESHOLD


def play(bots, worker: int, fault: str = "") -> Game:
    game = factories.match(bots).games.get()
    seats = [SeatResult(k, 40 - k, k + 1, fault) for k in range(len(bots))]
    result = FinishedGame("completed", "1", b"r", seats, "{}")
    assert attempts.finish(attempts.claim(game.pk, worker), result)
    return game


@pytest.mark.django_db
def test_a_faulty_worker_is_drained_and_its_games_are_played_again():
    bots = factories.bots(3)
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


def crash_only_on(worker: int, others: list[int], bots: list) -> None:
    """Let each bot crash 5 times on a worker, and play 10 games on each other one."""
    for bot in bots:
        opponent = factories.bot(f"opponent-of-{bot.slug}", "somebody")
        for _ in range(5):
            game = factories.match([bot, opponent]).games.get()
            seats = [SeatResult(0, 0, 2, "crash"), SeatResult(1, 30, 1)]
            result = FinishedGame("last_standing", "1", b"r", seats, "{}")
            assert attempts.finish(attempts.claim(game.pk, worker), result)
        for other in others:
            for _ in range(10):
                play([bot, opponent], other)


@pytest.fixture
def target(db) -> int:
    return Worker.objects.create(name="target#1", host="target").pk


@pytest.fixture
def others(db) -> list[int]:
    names = ("b", "c")
    return [Worker.objects.create(name=f"{n}#1", host=n).pk for n in names]


def test_bots_of_one_owner_drain_no_worker_and_void_no_game(target, others):
    """They know the host by its boot_id, and crash on this one only."""
    crash_only_on(
        target, others, [factories.bot(f"evil-{k}", "mallory") for k in range(5)]
    )

    assert worker_health.drain_faulty_workers() == []
    assert not Worker.objects.filter(drained=True).exists()


def test_bots_of_a_deleted_account_are_not_taken_for_house_bots(target, others):
    bots = [factories.bot(f"evil-{k}", "mallory") for k in range(5)]
    crash_only_on(target, others, bots)
    factories.person("mallory").delete()

    assert worker_health.drain_faulty_workers() == []


def test_house_bots_are_evidence_enough(target, others):
    bots = [factories.bot(f"house-{k}") for k in range(5)]
    Bot.objects.filter(pk__in=[bot.pk for bot in bots]).update(owner=None, house=True)
    crash_only_on(target, others, bots)

    assert len(worker_health.drain_faulty_workers()) == 25
    assert Worker.objects.get(pk=target).drained
