"""Repeat offenders: bots that get one attempt instead of three, or are benched."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from ladder.bots.models import Bot
from ladder.games import attempts, blame, sql
from ladder.games.attempts import FinishedGame, SeatResult
from ladder.games.models import Attempt, Game
from tests.games import factories

pytestmark = pytest.mark.django_db


def fail(game: Game, seat: int | None = 0) -> None:
    claim = attempts.claim(game.pk, factories.worker())
    assert attempts.fail(claim, "killed from outside", seat=seat)


def finish(game: Game, fault: str = "") -> None:
    """Let a worker finish a game; the first seat forfeits if there is a fault."""
    claim = attempts.claim(game.pk, factories.worker())
    seats = [SeatResult(0, 0, 2, fault), SeatResult(1, 9, 1)]
    assert attempts.finish(
        claim, FinishedGame("completed", "1", b"replay", seats, "{}")
    )


def doubted(game: Game) -> set[int]:
    """Return the doubted seats of the next attempt at a game."""
    claim = attempts.claim(game.pk, factories.worker())
    assert claim is not None
    return attempts.doubted_seats(claim)


def meet(hostile: Bot, honest: Bot) -> Game:
    return factories.match([hostile, honest]).games.get()


@pytest.fixture
def pair(db: None) -> tuple[Bot, Bot]:
    return factories.bot("mallory"), factories.bot("ana")


def offend(pair: tuple[Bot, Bot], times: int) -> None:
    """Let attempts fail in the first bot's seat until it is blamed, and forfeits."""
    for _ in range(times):
        game = meet(*pair)
        while not game.seats.filter(blamed=True).exists():
            fail(game)
        finish(game, "crash")


def attempts_before_blame(pair: tuple[Bot, Bot]) -> int:
    game = meet(*pair)
    while not game.seats.filter(blamed=True).exists():
        fail(game)
    return Attempt.objects.filter(game=game).count()


def mulligan(pair: tuple[Bot, Bot], times: int) -> None:
    """Let an attempt fail in the first bot's seat, and the next one end normally."""
    for _ in range(times):
        game = meet(*pair)
        fail(game)
        finish(game)


@pytest.mark.parametrize("failures", [offend, mulligan])
def test_a_bot_that_failed_in_three_games_gets_one_attempt(pair, failures):
    """Otherwise it occupies three times the slots of an honest bot in each game."""
    failures(pair, times=3)

    assert attempts_before_blame(pair) == 1
    assert blame.repeat_offenders(meet(*pair).pk) == {0}


def test_two_offences_may_be_bad_luck(pair):
    mulligan(pair, times=2)

    assert attempts_before_blame(pair) == 3


def test_a_repeat_offender_does_not_get_the_benefit_of_the_doubt(pair):
    """Otherwise a bot stretches one decision in each game, with its clock in doubt."""
    for _ in range(3):
        game = meet(*pair)
        fail(game)
        finish(game, "timeout")

    assert doubted(meet(*pair)) == {0}


def test_a_seat_in_which_an_attempt_failed_is_doubted(pair):
    game = meet(*pair)
    fail(game, seat=None)
    fail(game)

    assert doubted(game) == {0}


def test_forfeits_without_a_failed_attempt_are_no_offences(pair):
    for _ in range(5):
        finish(meet(*pair), "crash")

    assert doubted(meet(*pair)) == set()


def test_another_version_does_not_start_anew(pair):
    """One more line of comment made a new version, which had three attempts again."""
    offend(pair, times=3)
    factories.submission(pair[0])

    assert attempts_before_blame(pair) == 1


def test_offences_expire_after_a_day(pair):
    offend(pair, times=3)
    a_day_later()

    assert attempts_before_blame(pair) == 3


def a_day_later() -> None:
    # SQLite's clock has milliseconds, and this one has microseconds.
    before = timezone.now() - blame.OFFENCE_WINDOW - timedelta(seconds=1)
    Game.objects.update(finished_at=before)
    Attempt.objects.filter(ended_at__isnull=False).update(ended_at=before)


def test_a_bot_that_plays_very_often_may_have_bad_luck_three_times(pair):
    offend(pair, times=3)
    for _ in range(28):
        finish(meet(*pair))

    assert attempts_before_blame(pair) == 3


def test_a_bot_that_fails_in_few_of_many_games_is_benched_all_the_same(pair):
    """Whatever the share: at 1 % it played 79 of the service's attempts again."""
    hostile, honest = pair
    mulligan(pair, times=3)
    factories.submission(hostile)
    mulligan(pair, times=2)
    for _ in range(30):
        finish(meet(*pair))
    assert blame.failures_reason(hostile) == ""

    mulligan(pair, times=1)

    assert "failed in its seat" in blame.failures_reason(hostile)
    assert blame.failures_reason(honest) == ""
    a_day_later()
    assert blame.failures_reason(hostile) == ""


def test_all_bots_of_an_owner_count_together(pair):
    hostile, honest = pair
    others = [factories.bot(f"mallory-{number}") for number in range(4)]
    innocent = factories.bot("mallory-innocent")
    mine = [hostile, *others, innocent]
    Bot.objects.filter(pk__in=[bot.pk for bot in mine]).update(owner=hostile.owner)
    for bot in others[:3]:
        mulligan((bot, honest), times=3)
    mulligan((others[3], honest), times=2)
    assert blame.failures_reason(others[3]) == ""

    mulligan((hostile, honest), times=1)

    for bot in (hostile, *others):
        bot.refresh_from_db()
        assert "failed in the seats of your bots" in blame.failures_reason(bot)
    innocent.refresh_from_db()
    assert blame.failures_reason(innocent) == ""


def fetch_all_unprepared(text: str, values: list[object]) -> list[tuple]:
    """Run a statement so that it is captured: PostgreSQL's prepared ones are not."""
    with connection.cursor() as cursor:
        cursor.execute(text, values)
        return cursor.fetchall()


def test_the_count_of_a_bot_reads_only_its_failures_of_a_day(pair, monkeypatch):
    """It is read at each claim of a game."""
    monkeypatch.setattr(sql, "fetch_all", fetch_all_unprepared)
    mulligan(pair, times=3)
    game = meet(*pair)
    with CaptureQueriesContext(connection) as queries:
        sql.offences(game.pk, 86_400)
        blame.failures_reason(pair[0])

    plans = []
    for query in queries:
        with connection.cursor() as cursor:
            if connection.vendor == "postgresql":
                cursor.execute("SET LOCAL enable_seqscan = off")
                cursor.execute(f"EXPLAIN {query['sql']}")
            else:
                cursor.execute(f"EXPLAIN QUERY PLAN {query['sql']}")
            plans.append(str(cursor.fetchall()))
    counts = [plan for plan in plans if "attempt" in plan]
    assert len(counts) == 3
    assert all("attempt_failed_of_bot" in plan for plan in counts), counts


def test_a_service_that_fails_for_several_owners_treats_all_as_innocent(pair):
    """A sick worker names the bots of many owners; one hostile author is one owner."""
    offend(pair, times=3)
    fail(meet(factories.bot("ben"), pair[1]))
    assert attempts_before_blame(pair) == 1

    fail(meet(factories.bot("cleo"), pair[1]))

    assert attempts_before_blame(pair) == 3


def test_a_service_that_fails_for_a_house_bot_treats_all_as_innocent(pair):
    offend(pair, times=3)
    house = factories.bot("house-x")
    Bot.objects.filter(pk=house.pk).update(house=True, owner=None)
    fail(meet(house, pair[1]))

    assert attempts_before_blame(pair) == 3
