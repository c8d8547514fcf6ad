"""A worker process reports, and notices when it is unresponsive."""

import pytest

from ladder.games import attempts, selectors, services
from ladder.games.models import Game, Worker
from ladder.games.worker import lifecycle, registry
from ladder.games.worker.lifecycle import WorkerReporter
from ladder.games.worker.play import RunningGames
from tests.games import factories
from torres.runner.sandbox import LEVELS

pytestmark = pytest.mark.django_db


@pytest.fixture
def alarms(monkeypatch) -> list[str]:
    """Collect the calls of `on_unresponsive`. One ignored hint is evidence enough."""
    monkeypatch.setattr(lifecycle, "UNRESPONSIVE_TIMEOUT_S", -1)
    monkeypatch.setattr(WorkerReporter, "_calibrate", lambda self, worker: None)
    return []


def reporter_of(alarms: list[str], *queues: str) -> WorkerReporter:
    return WorkerReporter(
        registry.unlimited(slots=2),
        queues or ("play", "again"),
        on_unresponsive=lambda: alarms.append("unresponsive"),
        running=RunningGames(),
    )


def hint(queue: str = "play") -> Game:
    """Schedule a game whose hint waits in a queue."""
    game = factories.game()
    services.mark_sent([game.pk], queue)
    return game


def test_a_hint_that_nobody_follows_is_evidence(alarms):
    reporter = reporter_of(alarms)
    hint()

    reporter.report()

    assert alarms == ["unresponsive"]


def test_a_worker_knows_its_row_from_its_last_report(alarms):
    reporter = reporter_of(alarms)

    reporter.report()
    lost = reporter.running.worker
    assert lost == registry.current_worker()

    Worker.objects.all().delete()  # a backup was restored
    reporter.report()
    assert reporter.running.worker == registry.current_worker() != lost


def test_without_hints_no_worker_is_unresponsive(alarms):
    reporter = reporter_of(alarms)
    factories.game()

    reporter.report()
    reporter.report()

    assert alarms == []


def test_hints_in_queues_of_other_workers_are_no_evidence(alarms):
    reporter = reporter_of(alarms)
    hint("only-for-others")

    reporter.report()

    assert alarms == []


def test_a_worker_that_has_claimed_a_game_is_responsive(alarms):
    reporter = reporter_of(alarms)
    hint()
    reporter.running.claimed += 1

    reporter.report()

    assert alarms == []


def test_a_drained_worker_is_not_unresponsive(alarms):
    reporter = reporter_of(alarms)
    hint()
    registry.drain(registry.register(reporter.info), "by hand")

    reporter.report()

    assert alarms == []


def test_a_hint_has_to_be_ignored_for_the_whole_timeout(alarms, monkeypatch):
    monkeypatch.setattr(lifecycle, "UNRESPONSIVE_TIMEOUT_S", 30)
    reporter = reporter_of(alarms)
    hint()

    for _ in range(5):
        reporter.report()

    assert alarms == []


def test_a_worker_reports_what_it_offers(alarms):
    reporter_of(alarms).report()

    row = Worker.objects.get(pk=registry.current_worker())
    assert row.slots == 2
    assert "python" in row.languages
    assert set(row.versions) == {"python", "service", "celery", "rules"}
    assert row.sandbox == LEVELS[-1]


def test_a_claim_does_not_overwrite_what_a_worker_offers(alarms):
    reporter = reporter_of(alarms)
    reporter.report()

    assert attempts.claim(factories.game().pk, registry.current_worker())

    assert Worker.objects.get(pk=registry.current_worker()).slots == 2


@pytest.mark.parametrize(("broker", "sent_again"), [("memory://", 1), ("redis://r", 0)])
def test_hints_that_ended_with_their_broker_are_sent_again_at_once(
    settings, broker, sent_again
):
    settings.CELERY_BROKER_URL = broker
    game = factories.game()
    services.mark_sent([game.pk], "play")

    registry.sign_off_predecessors()

    assert len(selectors.due(10)) == sent_again
    assert selectors.in_flight(selectors.open_games()).total() == 1 - sent_again
