"""What a worker process reports, and when it finds itself deaf."""

import pytest

from ladder.games import attempts, services
from ladder.games.models import Worker
from ladder.games.worker import lifecycle, registry
from ladder.games.worker.lifecycle import WorkerReporter
from ladder.games.worker.play import RunningGames
from tests.games import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def deaf(monkeypatch) -> list[str]:
    """A station finds itself deaf at the second look; the list says how often."""
    monkeypatch.setattr(lifecycle, "UNRESPONSIVE_TIMEOUT_S", -1)
    monkeypatch.setattr(WorkerReporter, "_calibrate", lambda self, worker: None)
    return []


def at_work(deaf: list[str], *queues: str) -> WorkerReporter:
    return WorkerReporter(
        registry.unlimited(slots=2),
        queues or ("play", "again"),
        on_unresponsive=lambda: deaf.append("deaf"),
        running=RunningGames(),
    )


def hint(queue: str = "play"):
    game = factories.game()
    services.mark_sent([game.pk], queue)
    return game


def test_hints_that_nobody_takes_are_the_evidence(deaf):
    mine = at_work(deaf)
    hint()

    mine.report()

    assert deaf == ["deaf"]


def test_without_hints_nobody_is_deaf(deaf):
    mine = at_work(deaf)
    factories.game()

    mine.report()
    mine.report()

    assert deaf == []


def test_hints_in_queues_of_others_prove_nothing(deaf):
    mine = at_work(deaf)
    hint("only-for-others")

    mine.report()

    assert deaf == []


def test_a_worker_that_plays_or_took_something_hears(deaf):
    mine = at_work(deaf)
    hint()
    mine.running.claimed += 1

    mine.report()

    assert deaf == []


def test_a_drained_worker_is_not_deaf(deaf):
    mine = at_work(deaf)
    hint()
    registry.drain(registry.register(mine.info), "by hand")

    mine.report()

    assert deaf == []


def test_evidence_has_to_last_longer_than_a_lost_hint_lives(deaf, monkeypatch):
    monkeypatch.setattr(lifecycle, "UNRESPONSIVE_TIMEOUT_S", 30)
    mine = at_work(deaf)
    hint()

    for _ in range(5):
        mine.report()

    assert deaf == []


def test_a_worker_says_what_it_can(deaf):
    at_work(deaf).report()

    row = Worker.objects.get(pk=registry.current_worker())
    assert row.slots == 2
    assert "python" in row.languages
    assert set(row.versions) == {"python", "service", "celery", "rules"}
    assert row.sandbox == "full"


def test_a_game_does_not_make_a_worker_forget_what_it_can(deaf):
    mine = at_work(deaf)
    mine.report()

    assert attempts.claim(factories.game().pk, registry.current_worker())

    assert Worker.objects.get(pk=registry.current_worker()).slots == 2
