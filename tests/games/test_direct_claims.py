"""Workers take games from the database while the broker is away."""

from datetime import timedelta

import pytest
from django.utils import timezone

from ladder.games import selectors
from ladder.games.models import Game
from ladder.games.worker import direct_claims
from ladder.games.worker.direct_claims import (
    NO_HINT_S,
    RECONNECTED_S,
    BrokerWatch,
    DirectClaims,
)
from ladder.games.worker.play import RunningGames
from tests.games import factories


class Broker:
    """A broker that answers or not, and a clock that the test moves."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.answers = True
        self.asked = 0
        self.now = 1000.0
        monkeypatch.setattr(direct_claims, "_answers", self._answer)
        monkeypatch.setattr(direct_claims.time, "monotonic", lambda: self.now)

    def _answer(self) -> bool:
        self.asked += 1
        return self.answers


@pytest.fixture
def broker(monkeypatch: pytest.MonkeyPatch) -> Broker:
    return Broker(monkeypatch)


def test_the_broker_is_asked_only_if_no_hint_arrives(broker: Broker) -> None:
    running = RunningGames()
    watch = BrokerWatch(running)
    running.hinted_at = broker.now
    broker.answers = False

    broker.now += NO_HINT_S - 1
    watch.check()
    assert not watch.is_away
    assert broker.asked == 0

    broker.now += 2
    watch.check()
    assert watch.is_away


def test_the_absence_lasts_until_a_hint_arrives(broker: Broker) -> None:
    """The worker's connection comes back up to half a minute after the broker."""
    running = RunningGames()
    watch = BrokerWatch(running)
    running.hinted_at = broker.now - NO_HINT_S
    broker.answers = False
    watch.check()
    broker.answers = True
    broker.now += 30
    watch.check()
    broker.now += 30
    watch.check()
    assert watch.is_away

    running.hinted_at = broker.now
    watch.check()

    assert not watch.is_away


def test_a_worker_that_stays_without_hints_leaves_them_to_its_reporter(
    broker: Broker,
) -> None:
    running = RunningGames()
    watch = BrokerWatch(running)
    running.hinted_at = broker.now - NO_HINT_S
    broker.answers = False
    watch.check()
    broker.answers = True
    watch.check()
    broker.now += RECONNECTED_S

    watch.check()

    assert not watch.is_away


@pytest.mark.django_db
def test_a_hint_of_the_last_seconds_may_still_arrive() -> None:
    factories.worker()
    old, new = factories.game(), factories.game()
    now = timezone.now()
    hinted = Game.objects.filter(pk=old.pk)
    hinted.update(sent_at=now - timedelta(seconds=NO_HINT_S + 1), sent_to="play")
    Game.objects.filter(pk=new.pk).update(sent_at=now, sent_to="play")
    claims = DirectClaims(None, 2, RunningGames())  # type: ignore[arg-type]

    assert [due.game for due in claims._due(2)] == [old.pk]
    assert selectors.due(2) == []
