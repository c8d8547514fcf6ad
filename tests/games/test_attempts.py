"""The states of a game and its attempts, on the real database."""

import threading
from dataclasses import replace
from datetime import timedelta

import pytest
from django.db import IntegrityError, connection, transaction
from django.db.models.functions import Now
from django.test.utils import CaptureQueriesContext

from ladder.games import attempts, selectors, services
from ladder.games.attempts import AnswerRecord, FinishedGame, SeatResult
from ladder.games.models import (
    AnswerBatch,
    Attempt,
    Game,
    GameStatus,
    Seat,
    SeatLog,
    Worker,
)
from ladder.games.worker import registry
from tests.games import factories
from torres.runner.verdict import SeatOutput

pytestmark = pytest.mark.django_db

RESULT = FinishedGame(
    reason="completed",
    engine="1",
    replay=b"replay",
    seats=[SeatResult(0, 41, 1), SeatResult(1, 40, 2, "timeout", "too slow")],
    leaf="{}",
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


def test_a_drained_worker_claims_nothing():
    game, ana = factories.game(), factories.worker("ana")
    registry.drain(ana, "its bots time out")

    assert attempts.claim(game.pk, ana) is None


def test_a_result_writes_game_seats_attempt_and_logs():
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
    assert AnswerBatch.objects.count() == 0
    assert SeatLog.objects.get().stderr == "hm"


@pytest.mark.parametrize(
    ("ranks", "tied"),
    [
        ([1, 2], [False, False]),
        ([1, 1], [True, True]),
        ([3, 1, 1], [False, True, True]),
        ([3, 1, 3, 2], [True, False, True, False]),
    ],
)
def test_a_seat_knows_whether_it_shares_its_rank(ranks: list[int], tied: list[bool]):
    game = factories.game(seats=len(ranks))
    claim = attempts.claim(game.pk, factories.worker())
    seats = [SeatResult(number, 40, rank) for number, rank in enumerate(ranks)]
    seats.reverse()

    assert attempts.finish(claim, replace(RESULT, seats=seats))
    rows = Seat.objects.order_by("number").values_list("rank", "tied")
    assert list(rows) == list(zip(ranks, tied, strict=True))


def test_finish_may_be_called_again_if_the_fate_of_the_commit_is_unknown():
    claim = attempts.claim(factories.game().pk, factories.worker())

    assert attempts.finish(claim, RESULT)
    assert attempts.finish(claim, RESULT)


def test_a_result_after_another_worker_has_claimed_the_game_is_refused():
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
    assert AnswerBatch.objects.count() == 1
    assert SeatLog.objects.count() == 0
    outcomes = Attempt.objects.order_by("fence").values_list("outcome", flat=True)
    assert list(outcomes) == ["failed", "open"]


@pytest.mark.django_db(transaction=True)
def test_if_the_database_refuses_part_of_a_result_nothing_is_written():
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
def test_the_hot_path_works_with_prepared_statements():
    """psycopg prepares a statement at its fifth use; PostgreSQL plans it after ten."""
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


def test_a_heartbeat_extends_the_lease():
    game = factories.game()
    claim = attempts.claim(game.pk, factories.worker())
    expire(game.pk)

    assert attempts.renew_lease(claim)
    assert attempts.reap() == []


def test_answers_that_are_stored_twice_exist_once():
    claim = attempts.claim(factories.game().pk, factories.worker())
    answers = [
        AnswerRecord(0, 0, ["enter d4"], 1.5),
        AnswerRecord(1, 1, ["enter a4"], 0.1),
    ]

    attempts.store_answers(claim, answers[:1])
    attempts.store_answers(claim, answers)  # the fate of the first commit was unknown

    first, second = [0, ["enter d4"], 1.5, False], [1, ["enter a4"], 0.1, False]
    rows = AnswerBatch.objects.values_list("first", "end", "answers")
    assert list(rows) == [(0, 2, [first, second])]


@pytest.mark.django_db(transaction=True)
def test_answers_are_stored_without_a_transaction_around_them():
    claim = attempts.claim(factories.game().pk, factories.worker())

    with CaptureQueriesContext(connection) as asked:
        attempts.store_answers(claim, [AnswerRecord(0, 0, ["enter d4"], 1.5)])

    assert not [query["sql"] for query in asked if "BEGIN" in query["sql"]]


def test_the_reaper_fails_only_attempts_whose_lease_has_ended():
    lost = factories.game()
    healthy = factories.game()
    attempts.claim(lost.pk, factories.worker())
    attempts.claim(healthy.pk, factories.worker())
    expire(lost.pk)

    assert attempts.reap() == [lost.pk]
    assert attempts.reap() == []
    assert Attempt.objects.get(game=lost).reason == "lease over: worker lost"


def test_a_worker_that_signs_off_releases_its_games_without_a_failure():
    game, ana = factories.game(), factories.worker("ana")
    attempts.claim(game.pk, ana)

    assert registry.sign_off(ana, "deploy") == 1
    assert registry.sign_off(ana, "deploy") == 0
    game.refresh_from_db()
    assert (game.status, game.failures) == ("scheduled", 0)
    assert Attempt.objects.get().outcome == "released"


def test_killed_predecessors_are_signed_off():
    game = factories.game()
    attempts.claim(game.pk, factories.worker("ana"))
    me = registry.current_worker()

    assert registry.sign_off_predecessors() == 1
    assert Worker.objects.get(pk=me).gone_at is None


def test_only_scheduled_games_are_cancelled_and_only_finished_ones_voided():
    waiting = factories.game()
    done = factories.game()
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


def test_the_tally_adds_up_and_notices_a_lost_game():
    games = [factories.game() for _ in range(4)]
    attempts.finish(attempts.claim(games[0].pk, factories.worker()), RESULT)
    services.void(games[0].pk, "our fault")
    services.cancel(games[1].pk, "")
    attempts.claim(games[2].pk, factories.worker())

    tally = selectors.tally()

    assert tally == selectors.GameTally(
        created=5, scheduled=2, running=1, finished=0, voided=1, dead=0, cancelled=1
    )
    assert tally.missing == 0
    games[3].delete()
    assert selectors.tally().missing == 1


def test_the_tally_of_an_empty_database_adds_up():
    assert selectors.tally().missing == 0


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


def test_texts_that_postgresql_refuses_are_made_storable():
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
def test_of_many_workers_that_claim_at_the_same_moment_one_succeeds():
    game = factories.game()
    workers = [factories.worker(f"worker {k}") for k in range(8)]
    claims = []
    start = threading.Barrier(8)

    def race(worker: int) -> None:
        start.wait()
        claims.append(attempts.claim(game.pk, worker))
        connection.close()

    threads = [threading.Thread(target=race, args=(worker,)) for worker in workers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len([claim for claim in claims if claim]) == 1
    assert Attempt.objects.count() == 1
