"""The tally of the metrics is the one that counts all games."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ladder.games import selectors, services as games
from ladder.games.models import Game, Match
from ladder.health.running_tally import RunningTally
from tests.factories import make_bot, make_match

pytestmark = pytest.mark.django_db


@pytest.fixture
def tally(data_dir: None) -> RunningTally:
    """Return a tally for which all but the last two games are old."""
    anas, bens = make_bot("One", "ana"), make_bot("Two", "ben")
    for finished in (1, 1, 0, 1, 1, 1):
        make_match(anas, bens, finished=finished)
    Game.objects.filter(status="scheduled").update(status="cancelled")
    tally = RunningTally(newest=2)
    assert tally.read() == selectors.tally()
    return tally


def test_it_follows_every_change(tally: RunningTally) -> None:
    old, recent = Game.objects.earliest("pk"), Game.objects.latest("pk")
    bots = [seat.submission for seat in old.seats.order_by("number")]

    games.void(old.pk, "our fault")
    assert tally.read() == selectors.tally()
    games.void(recent.pk, "our fault")
    assert tally.read() == selectors.tally()
    make_match(*bots, games=2, finished=1)
    assert tally.read() == selectors.tally()
    Game.objects.filter(status="scheduled").update(status="dead")
    assert tally.read() == selectors.tally()
    assert tally.read().missing == 0


def test_it_reads_no_old_game_that_is_finished(tally: RunningTally) -> None:
    with CaptureQueriesContext(connection) as queries:
        tally.read()

    (query,) = queries.captured_queries
    assert '"status" IN' in query["sql"]


def test_a_lost_game_is_missing(tally: RunningTally) -> None:
    Match.objects.filter(pk=Match.objects.latest("pk").pk).update(planned=2)

    assert tally.read().missing == 1
