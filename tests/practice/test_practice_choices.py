"""Which games by hand may begin, and how long they are kept."""

import pytest
from django.db import IntegrityError
from pytest_django import Settings

from ladder.dispatch import retention
from ladder.extras.practice import selectors, services
from ladder.extras.practice.models import PracticeGame
from ladder.extras.practice.services import BadPracticeGame, PracticeIsOff
from tests import factories as rows
from tests.practice import factories
from torres.common.errors import TooMany

pytestmark = pytest.mark.django_db(transaction=True)


def test_quotas_bound_the_games_of_a_person(settings: Settings) -> None:
    settings.TORRES_PRACTICE_PER_HOUR = 2
    house = factories.make_house()
    first = factories.begin(house)

    with pytest.raises(TooMany, match="Finish it"):
        factories.begin(house)
    services.give_up(first)
    services.give_up(factories.begin(house))
    with pytest.raises(TooMany, match="in an hour"):
        factories.begin(house)
    assert selectors.games_left(factories.person()) == 0


def test_the_database_refuses_a_second_open_game() -> None:
    game = factories.own_game()
    game.pk = None

    with pytest.raises(IntegrityError):
        game.save(force_insert=True)


def test_only_bots_that_may_play_can_be_chosen(settings: Settings) -> None:
    house = factories.make_house()
    closed = rows.make_bot("closed", "ben")
    opened = factories.open_bot("opened", "ben")

    offered = selectors.opponents(factories.person())
    assert [one.pk for one in offered.house] == [house.pk]
    assert [one.pk for one in offered.others] == [opened.pk]
    with pytest.raises(BadPracticeGame, match="does not offer it"):
        factories.begin(closed)
    with pytest.raises(BadPracticeGame, match="no ladder with the ruleset"):
        factories.begin(opened)
    with pytest.raises(BadPracticeGame, match="no ruleset"):
        factories.begin(house, ruleset="chess")
    with pytest.raises(BadPracticeGame, match="another seat"):
        factories.begin(house, seat=2)
    with pytest.raises(BadPracticeGame, match="2 to 4 seats"):
        factories.begin(house, house, house, house)
    settings.TORRES_PRACTICE_SLOTS = 0
    with pytest.raises(PracticeIsOff):
        factories.begin(house)


def test_old_games_are_deleted(settings: Settings) -> None:
    game = factories.own_game()
    services.give_up(game)
    settings.TORRES_KEEP_PRACTICE_DAYS = 0.0

    rule = next(r for r in retention.rules() if r.name == "practice games")

    assert rule.due(10) == 1
    assert rule.delete(10) >= 1
    assert not PracticeGame.objects.exists()


def test_only_so_many_ended_games_of_a_person_are_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(services, "KEPT_GAMES", 2)
    house = factories.make_house()
    for _ in range(4):
        services.give_up(factories.begin(house))

    assert PracticeGame.objects.count() == 2
