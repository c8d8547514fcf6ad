"""If a worker is killed at any point of a game, nothing is lost or counted twice."""

import os
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest
from django.conf import settings
from django.db import connection
from django.db.models.functions import Now

from ladder.games import attempts, selectors
from ladder.games.models import Attempt, Game
from ladder.games.worker import registry
from ladder.games.worker.play import play
from ladder.ratings import rater, rebuild
from ladder.ratings.ladders import ensure_default_ladder
from ladder.ratings.models import Entry
from tests.games import factories
from tests.ratings.factories import make_matches

pytestmark = pytest.mark.django_db(transaction=True)
VICTIM = Path(__file__).with_name("victim.py")


def environment() -> dict[str, str]:
    """Return the environment of a program that uses the database of this test."""
    db = connection.settings_dict
    if connection.vendor == "sqlite":
        url = f"sqlite:///{db['NAME']}"
    else:
        address = f"{db['HOST'] or 'localhost'}:{db['PORT'] or 5432}"
        url = f"postgres://{db['USER']}:{db['PASSWORD']}@{address}/{db['NAME']}"
    root = str(settings.BASE_DIR)
    return os.environ | {"DATABASE_URL": url, "PYTHONPATH": root, "DB_POOL": "4"}


def kill_at(point: str, game: int) -> None:
    worker = subprocess.Popen(
        [sys.executable, str(VICTIM), point, str(game)],
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert worker.stdout.readline() == "HERE\n"
    worker.kill()
    worker.communicate()


@pytest.mark.parametrize(
    ("point", "status"),
    [
        ("after the claim", "running"),
        ("while bots start", "running"),
        ("mid-game", "running"),
        ("before the finish transaction", "running"),
        ("after the finish transaction", "finished"),
        ("before the rating", "finished"),
        ("while the rating is written", "finished"),
        ("after the rating", "finished"),
    ],
)
def test_a_worker_may_die_at_any_point(point, status):
    season = ensure_default_ladder().seasons.get()
    factories.bots(3)
    rater.welcome(season.pk)
    make_matches(season, 1)
    game = Game.objects.get()

    kill_at(point, game.pk)

    game.refresh_from_db()
    assert game.status == status
    if status == "running":
        assert attempts.reap() == []  # the lease has not ended yet
        past = Now() - timedelta(seconds=1)
        Game.objects.filter(pk=game.pk).update(lease_until=past)
        assert attempts.reap() == [game.pk]
        assert play(game.pk, registry.current_worker()) == "finished"
    rater.fold(season.pk)
    outcomes = list(Attempt.objects.order_by("fence").values_list("outcome", flat=True))
    assert outcomes == (["failed"] if status == "running" else []) + ["finished"]
    assert Entry.objects.filter(kind="game").count() == 1
    assert rebuild.check(season).complaints == []
    assert selectors.tally().missing == 0


def test_a_game_that_is_played_again_gives_the_same_result():
    """The same seed, seats and bots give the same game on every worker."""
    game = factories.game(3)
    kill_at("before the finish transaction", game.pk)
    Game.objects.update(lease_until=Now() - timedelta(seconds=1))
    attempts.reap()
    twin = Game.objects.create(match=game.match, index=1)
    for seat in game.seats.all():
        twin.seats.create(number=seat.number, submission=seat.submission, bot=seat.bot)

    play(game.pk, registry.current_worker())
    play(twin.pk, registry.current_worker())

    first, second = Game.objects.filter(match=game.match).order_by("index")
    assert bytes(first.replay) == bytes(second.replay)
