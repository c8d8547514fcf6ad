"""The state of the service over REST."""

from datetime import timedelta

import pytest
from django.utils import timezone

from ladder.games.models import Game, Worker
from ladder.moderation.models import ServicePart
from ladder.service import service_parts
from tests.factories import Show
from torres.runner.versions import versions

STATUS = "/api/v1/status/"
WORKERS = "/api/v1/workers/"


def worker(name: str, **values: object) -> Worker:
    defaults = {
        "host": "a-secret-host",
        "languages": ["c", "python"],
        "sandbox": "full",
        "slots": 2,
        "versions": {"rules": "1", "service": "0.1.0", "python": "3.11.7"},
        "seen_at": timezone.now() + timedelta(hours=1),  # however long the test takes
    }
    return Worker.objects.create(name=name, **defaults | values)


def test_the_workers_are_summed_up(db, anybody) -> None:
    worker("a-secret-host:/data#1")
    worker("a-secret-host:/data#2", languages=["python"], sandbox="reduced", slots=0)
    worker("gone", gone_at=timezone.now())
    worker("drained", drained=True)
    worker("silent", seen_at=timezone.now() - timedelta(days=1))
    answer = anybody.get(WORKERS)

    assert answer.json() == {
        "workers": 2,
        "slots": 2,
        "sandbox": {"full": 1, "reduced": 1},
        "languages": {"c": 1, "python": 2},
        "versions": {"rules": ["1"], "service": ["0.1.0"]},
    }
    assert "secret" not in answer.content.decode()


def test_a_service_without_anything_has_a_status(db, anybody) -> None:
    assert anybody.get(STATUS).json() == {
        "plays": False,
        "dispatcher_seen_at": None,
        "worker_seen_at": None,
        "slots": 0,
        "scheduled": 0,
        "running": 0,
        "games_per_minute": 0.0,
        "last_game_at": None,
        "waiting_uploads": 0,
        "versions": versions(),
    }


def test_the_status_tells_the_queue_and_signs_of_life(show: Show, anybody) -> None:
    last = timezone.now() - timedelta(minutes=1)
    Game.objects.filter(status="finished").update(finished_at=last)
    finished = Game.objects.filter(status="finished").count()
    service_parts.report(service_parts.DISPATCHER)
    ServicePart.objects.update(seen_at=timezone.now() + timedelta(hours=1))
    Worker.objects.update(gone_at=timezone.now())
    row = worker("a-secret-host:/data#1")
    status = anybody.get(STATUS).json()

    assert status["plays"] is True
    assert status["slots"] == 2
    assert status["scheduled"] == Game.objects.filter(status="scheduled").count() > 0
    assert status["games_per_minute"] == pytest.approx(finished / 10)
    assert status["last_game_at"] == last.isoformat().replace("+00:00", "Z")
    row.refresh_from_db()
    assert status["worker_seen_at"] == row.seen_at.isoformat().replace("+00:00", "Z")


def test_a_service_without_a_dispatcher_does_not_play(db, anybody) -> None:
    worker("a-secret-host:/data#1")
    service_parts.report(service_parts.DISPATCHER)
    ServicePart.objects.update(seen_at=timezone.now() - timedelta(minutes=2))
    status = anybody.get(STATUS).json()

    assert status["plays"] is False
    assert status["dispatcher_seen_at"]


def test_a_leaderboard_has_trends_if_they_are_asked_for(show: Show, anybody) -> None:
    address = "/api/v1/ladders/main/leaderboard/"
    board = anybody.get(f"{address}?trend=true&limit=1").json()
    rows = board["results"] + anybody.get(board["next"]).json()["results"]
    records = [
        anybody.get(f"/api/v1/ladders/main/bots/{row['bot']}/record/").json()
        for row in rows
    ]

    assert len(rows) == 2
    assert [row["trend"] for row in rows] == [record["trend"] for record in records]
    assert any(row["trend"] for row in rows)
    assert "trend" not in anybody.get(f"{address}?trend=false").json()["results"][0]


@pytest.mark.parametrize("query", ["trend=", "trend=yes", "trend=true&at=2026-11-22"])
def test_a_wrong_wish_for_trends_is_refused(show: Show, anybody, query: str) -> None:
    answer = anybody.get(f"/api/v1/ladders/main/leaderboard/?{query}")
    assert answer.status_code == 400
    assert [error["field"] for error in answer.json()["errors"]] == ["trend"]
