"""Repeat offenders: submissions that get one attempt instead of three."""

import pytest
from django.utils import timezone

from ladder.bots.models import Bot
from ladder.games import attempts, blame
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


def test_a_bot_that_was_blamed_twice_gets_one_attempt(pair):
    """Otherwise it occupies three times the slots of an honest bot in each game."""
    assert attempts_before_blame(pair) == 3
    offend(pair, times=2)

    assert attempts_before_blame(pair) == 1
    assert blame.repeat_offenders(meet(*pair).pk) == {0}


def test_one_offence_may_be_bad_luck(pair):
    offend(pair, times=1)

    assert attempts_before_blame(pair) == 3


def test_a_repeat_offender_does_not_get_the_benefit_of_the_doubt(pair):
    """Otherwise a bot stretches one decision in each game, with its clock in doubt."""
    for _ in range(2):
        game = meet(*pair)
        fail(game)
        finish(game, "timeout")

    assert attempts.doubted_seats(meet(*pair).pk) == {0}


def test_forfeits_without_a_failed_attempt_are_no_offences(pair):
    for _ in range(5):
        finish(meet(*pair), "crash")

    assert attempts.doubted_seats(meet(*pair).pk) == set()


def test_another_version_starts_without_offences(pair):
    offend(pair, times=2)
    factories.submission(pair[0])

    assert attempts_before_blame(pair) == 3


def test_offences_expire_after_a_day(pair):
    offend(pair, times=2)
    Game.objects.update(finished_at=timezone.now() - blame.OFFENCE_WINDOW)

    assert attempts_before_blame(pair) == 3


def test_a_bot_that_plays_very_often_may_have_bad_luck_twice(pair):
    offend(pair, times=2)
    for _ in range(19):
        finish(meet(*pair))

    assert attempts_before_blame(pair) == 3


def test_a_service_that_fails_for_several_owners_treats_all_as_innocent(pair):
    """A sick worker names the bots of many owners; one hostile author is one owner."""
    offend(pair, times=2)
    fail(meet(factories.bot("ben"), pair[1]))
    assert attempts_before_blame(pair) == 1

    fail(meet(factories.bot("cleo"), pair[1]))

    assert attempts_before_blame(pair) == 3


def test_a_service_that_fails_for_a_house_bot_treats_all_as_innocent(pair):
    offend(pair, times=2)
    house = factories.bot("house-x")
    Bot.objects.filter(pk=house.pk).update(house=True, owner=None)
    fail(meet(house, pair[1]))

    assert attempts_before_blame(pair) == 3
