"""The state machine of a game, on the real database."""

import threading
from dataclasses import replace
from datetime import timedelta

import pytest
from django.db import IntegrityError, connection, transaction
from django.db.models.functions import Now

from ladder.games import attempts, selectors, services
from ladder.games.attempts import AnswerRecord, FinishedGame, SeatResult
from ladder.games.models import (
    Attempt,
    Game,
    GameStatus,
    Seat,
    SeatLog,
    StoredAnswer,
    Worker,
)
from ladder.games.worker import registry
from ladder.runner.verdict import SeatOutput
from tests.games import factories

pytestmark = pytest.mark.django_db

RESULT = FinishedGame(
    reason="completed",
    engine="1",
    replay=b"replay",
    seats=[SeatResult(0, 41, 1), SeatResult(1, 40, 2, "timeout", "too slow")],
)


def expire(game: int) -> None:
    Game.objects.filter(pk=game).update(lease_until=Now() - timedelta(seconds=1))


def test_a_claim_takes_a_scheduled_game_once():
    game, ana, ben = factories.game(), factories.worker("ana"), factories.worker("ben")

    first = attempts.claim(game.pk, ana)
    second = attempts.claim(game.pk, ben)

    assert first is not None
    assert first.fence == 1
    assert second is None
    assert Attempt.objects.count() == 1


def test_a_drained_worker_takes_nothing():
    game, ana = factories.game(), factories.worker("ana")
    registry.drain(ana, "its bots time out")

    assert attempts.claim(game.pk, ana) is None


def test_a_result_is_written_whole():
    game = factories.game()
    claim = attempts.claim(game.pk, factories.worker())
    attempts.store_answers(claim, [AnswerRecord(0, 0, ["enter d4"], 1.5)])

    written = attempts.finish(claim, RESULT, [SeatOutput(stderr="hm"), SeatOutput()])

    assert written
    game.refresh_from_db()
    assert (game.status, game.lease_until, game.owner) == ("finished", None, None)
    assert bytes(game.replay) == b"replay"
    assert list(Seat.objects.values_list("score", "rank", "fault", "fault_detail")) == [
        (41, 1, "", ""),
        (40, 2, "timeout", "too slow"),
    ]
    assert Attempt.objects.get().outcome == "finished"
    assert StoredAnswer.objects.count() == 0
    assert SeatLog.objects.get().stderr == "hm"


def test_a_result_may_be_posted_again_when_the_commits_fate_is_unknown():
    claim = attempts.claim(factories.game().pk, factories.worker())

    assert attempts.finish(claim, RESULT)
    assert attempts.finish(claim, RESULT)


def test_a_result_that_comes_after_the_lease_was_given_away_is_refused():
    game = factories.game()
    late = attempts.claim(game.pk, factories.worker("ana"))
    attempts.store_answers(late, [AnswerRecord(0, 0, ["enter d4"], 1.5)])
    expire(game.pk)
    attempts.reap()
    now = attempts.claim(game.pk, factories.worker("ben"))

    assert not attempts.finish(late, RESULT, [SeatOutput(stderr="hm")])
    assert not attempts.renew_lease(late)
    assert not attempts.fail(late, "late")
    assert attempts.renew_lease(now)
    assert Seat.objects.filter(rank__isnull=False).count() == 0
    assert StoredAnswer.objects.count() == 1
    assert SeatLog.objects.count() == 0
    outcomes = Attempt.objects.order_by("fence").values_list("outcome", flat=True)
    assert list(outcomes) == ["failed", "open"]


@pytest.mark.django_db(transaction=True)
def test_a_result_of_which_a_part_is_refused_leaves_nothing():
    game = factories.game()
    claim = attempts.claim(game.pk, factories.worker())
    seats = [SeatResult(0, 41, 1), SeatResult(1, 40, rank=9)]

    with pytest.raises(IntegrityError):
        attempts.finish(claim, replace(RESULT, seats=seats), [SeatOutput(stderr="hm")])

    game.refresh_from_db()
    assert game.status == "running"
    assert SeatLog.objects.count() == 0
    assert attempts.finish(claim, RESULT)


@pytest.mark.django_db(transaction=True)
def test_the_hot_path_goes_on_when_its_statements_are_prepared():
    """PostgreSQL is told them after five times, and plans them once after ten."""
    me = factories.worker()
    games = [factories.game(seats=2 + k % 2) for k in range(24)]
    for k, game in enumerate(games):
        seats = [SeatResult(seat, 40 - seat, seat + 1) for seat in range(2 + k % 2)]
        claim = attempts.claim(game.pk, me)
        outputs = [SeatOutput(stderr="hm"), SeatOutput(notes=[{"note": "so"}])]
        assert attempts.finish(claim, replace(RESULT, seats=seats), outputs)

    assert selectors.tally().finished == len(games)
    assert SeatLog.objects.filter(stderr="hm", notes=[]).count() == len(games)
    assert SeatLog.objects.filter(stderr="", notes=[{"note": "so"}]).count() == 24
    assert Seat.objects.filter(rank__isnull=True).count() == 0


def test_a_heartbeat_lengthens_the_lease():
    game = factories.game()
    claim = attempts.claim(game.pk, factories.worker())
    expire(game.pk)

    assert attempts.renew_lease(claim)
    assert attempts.reap() == []


def test_answers_told_twice_are_kept_once():
    claim = attempts.claim(factories.game().pk, factories.worker())
    said = [
        AnswerRecord(0, 0, ["enter d4"], 1.5),
        AnswerRecord(1, 1, ["enter a4"], 0.1),
    ]

    attempts.store_answers(claim, said)
    attempts.store_answers(claim, said)

    assert list(StoredAnswer.objects.values_list("index", "actions")) == [
        (0, ["enter d4"]),
        (1, ["enter a4"]),
    ]


def test_the_reaper_ends_only_attempts_whose_lease_is_over():
    lost, fine = factories.game(), factories.game()
    attempts.claim(lost.pk, factories.worker())
    attempts.claim(fine.pk, factories.worker())
    expire(lost.pk)

    assert attempts.reap() == [lost.pk]
    assert attempts.reap() == []
    assert Attempt.objects.get(game=lost).reason == "lease over: worker lost"


def fail_once(game: Game, name: str) -> str:
    claim = attempts.claim(game.pk, factories.worker(name))
    assert attempts.fail(claim, "the disk is full")
    game.refresh_from_db()
    return game.status


def test_three_failed_attempts_end_a_game_with_the_same_seed_and_seats():
    game = factories.game()
    seats = list(game.seats.values_list("submission", flat=True))

    ends = [fail_once(game, name) for name in ("ana", "ben", "ana")]

    assert ends == ["scheduled", "scheduled", "dead"]
    assert game.note == "the disk is full"
    assert list(game.seats.values_list("submission", flat=True)) == seats
    assert selectors.service_state().failed_attempts == 3


def test_a_game_dies_on_two_workers_where_there_are_two():
    game = factories.game()
    factories.worker("ben")

    ends = [fail_once(game, "ana") for _ in range(3)]

    assert ends[-1] == "scheduled"
    assert fail_once(game, "ben") == "dead"


def test_on_a_single_worker_three_failures_are_enough():
    game = factories.game()

    assert [fail_once(game, "ana") for _ in range(3)][-1] == "dead"


def test_a_worker_that_leaves_hands_its_games_back_uncounted():
    game, ana = factories.game(), factories.worker("ana")
    attempts.claim(game.pk, ana)

    assert registry.sign_off(ana, "deploy") == 1
    assert registry.sign_off(ana, "deploy") == 0
    game.refresh_from_db()
    assert (game.status, game.failures) == ("scheduled", 0)
    assert Attempt.objects.get().outcome == "released"


def test_dead_predecessors_are_buried_at_once():
    game = factories.game()
    attempts.claim(game.pk, factories.worker("ana"))
    me = registry.current_worker()

    assert registry.sign_off_predecessors() == 1
    assert Worker.objects.get(pk=me).gone_at is None


def test_cancelling_and_voiding_count_and_replace():
    waiting, done = factories.game(), factories.game()
    attempts.finish(attempts.claim(done.pk, factories.worker()), RESULT)

    assert services.cancel(waiting.pk, "a newer version is ready")
    assert not services.cancel(done.pk, "too late")
    new = services.void(done.pk, "our fault")

    assert new.replaces_id == done.pk
    assert new.match_id == done.match_id
    assert [seat.submission_id for seat in new.seats.all()] == [
        seat.submission_id for seat in done.seats.all()
    ]
    with pytest.raises(services.NotNow):
        services.void(done.pk, "again")


def test_the_sum_comes_out_and_a_lost_game_is_missed():
    games = [factories.game() for _ in range(4)]
    attempts.finish(attempts.claim(games[0].pk, factories.worker()), RESULT)
    services.void(games[0].pk, "our fault")
    services.cancel(games[1].pk, "")
    attempts.claim(games[2].pk, factories.worker())

    tally = selectors.tally()

    assert tally == selectors.GameTally(
        created=5, scheduled=2, running=1, finished=0, voided=1, dead=0, cancelled=1
    )
    assert tally.adds_up
    games[3].delete()
    assert selectors.tally().missing == 1


def test_an_empty_database_comes_out_too():
    assert selectors.tally().adds_up


@pytest.mark.parametrize(
    "values",
    [
        {"status": GameStatus.RUNNING},
        {"status": GameStatus.FINISHED},
        {"status": "lost"},
        {"lease_until": Now()},
    ],
)
def test_the_database_refuses_states_that_make_no_sense(values):
    game = factories.game()

    with pytest.raises(IntegrityError), transaction.atomic():
        Game.objects.filter(pk=game.pk).update(**values)


def test_what_postgresql_refuses_is_made_storable():
    claim = attempts.claim(factories.game().pk, factories.worker())
    nasty = SeatOutput(stderr="a\0b\ud800", notes=[{"note": "\0\udfff"}])

    assert attempts.finish(claim, RESULT, [nasty])
    assert SeatLog.objects.get().stderr == "a\ufffdb?"


def test_duplicates_share_the_seed_and_rotate_the_seats():
    players = factories.bots(3)
    match = factories.match(players, duplicate=True)

    tables = [
        [seat.submission.bot_id for seat in game.seats.all()]
        for game in match.games.order_by("index")
    ]

    a, b, c = (player.pk for player in players)
    assert tables == [[a, b, c], [b, c, a], [c, a, b]]
    assert match.planned == 3


@pytest.mark.django_db(transaction=True)
def test_of_many_workers_at_the_same_moment_one_gets_the_game():
    game = factories.game()
    crew = [factories.worker(f"worker {k}") for k in range(8)]
    won, start = [], threading.Barrier(8)

    def race(worker: int) -> None:
        start.wait()
        won.append(attempts.claim(game.pk, worker))
        connection.close()

    threads = [threading.Thread(target=race, args=(worker,)) for worker in crew]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len([claim for claim in won if claim]) == 1
    assert Attempt.objects.count() == 1
