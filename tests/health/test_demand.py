"""The slots that are wanted follow tournaments and bots, not the open games."""

from datetime import timedelta

import pytest
from django.core.cache import cache
from django.utils import timezone
from pytest_django import Settings

from ladder.bots.models import Bot
from ladder.games import selectors as games
from ladder.games.models import Game
from ladder.games.selectors import UsualGame
from ladder.health import demand
from ladder.health.demand import Demand, slots_wanted
from ladder.ratings import selectors as ratings
from ladder.ratings.models import Ladder, Season
from ladder.tournaments import selectors as tournaments
from ladder.tournaments.models import Tournament
from tests import factories
from tests.health.test_routes import TOKEN, read_metrics
from tests.tournaments.factories import begun, tick
from torres.formats.values import ResultKind

GAME = UsualGame(slot_s=60.0, seats=3.0)


def wanted(tournament_games: int, ladder_bots: int) -> float:
    return slots_wanted(Demand(tournament_games, ladder_bots, 100.0, GAME))


def test_bots_of_ladders_want_slots_for_their_games_of_a_day() -> None:
    """864 bots play 28,800 games of three seats a day, one in three seconds."""
    assert wanted(0, 864) == pytest.approx(20.0)


def test_tournaments_want_to_play_their_games_in_a_quarter_of_an_hour() -> None:
    assert wanted(150, 0) == pytest.approx(10.0)


def test_tournaments_get_their_slots_beside_the_share_of_ladders(
    settings: Settings,
) -> None:
    settings.TORRES_LADDER_SHARE = 0.5
    assert wanted(150, 1) == pytest.approx(20.0)
    assert wanted(150, 864) == pytest.approx(30.0)

    settings.TORRES_LADDER_SHARE = 0
    assert wanted(150, 432) == pytest.approx(20.0)


@pytest.mark.django_db
def test_an_empty_service_wants_no_slots() -> None:
    cache.clear()

    assert slots_wanted(demand.present()) == 0


@pytest.mark.django_db
def test_games_that_are_scheduled_or_played_count_until_their_match_is_decided(
    data_dir: object,
) -> None:
    cup = begun({"format": "round_robin"}, 4)
    tick(slots=0)
    assert not Game.objects.exists()
    assert tournaments.games_to_play() == 12  # six matches, each with both seatings

    tick(slots=1)
    assert Game.objects.exists()
    assert tournaments.games_to_play() == 12

    first = cup.fixtures.filter(pk=cup.fixtures.earliest("pk").pk)
    first.update(how=ResultKind.PLAYED, decided_at=timezone.now())
    assert tournaments.games_to_play() == 10


@pytest.mark.django_db
def test_a_tournament_that_is_paused_or_wrong_wants_no_games(data_dir: object) -> None:
    terms = {"format": "round_robin", "seats": 3, "duplicate": False}
    cup = Tournament.objects.filter(pk=begun(terms, 4).pk)
    tick(slots=0)
    assert tournaments.games_to_play() > 0

    cup.update(paused_at=timezone.now())
    assert tournaments.games_to_play() == 0

    cup.update(paused_at=None, config={"format": "battle"})
    assert tournaments.games_to_play() == 0


@pytest.mark.django_db
def test_only_bots_that_get_matches_count(data_dir: object) -> None:
    season = factories.make_ladder()
    for name in ("Ana", "Ben"):
        factories.rate(season, factories.make_bot(name), 25.0, 8.0)
    assert ratings.paired_bots() == 2

    Bot.objects.filter(name="Ben").update(status=Bot.Status.WITHDRAWN)
    assert ratings.paired_bots() == 1

    Season.objects.update(status=Season.Status.FROZEN)
    assert ratings.paired_bots() == 0

    Season.objects.update(status=Season.Status.OPEN)
    Ladder.objects.update(closes_at=timezone.now() - timedelta(seconds=1))
    assert ratings.paired_bots() == 0


@pytest.mark.django_db
def test_the_usual_game_is_the_mean_of_the_latest(
    data_dir: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert games.usual_game() is None

    ana, ben, cleo = (factories.make_bot(name) for name in ("Ana", "Ben", "Cleo"))
    tables = [(ana, ben), (ana, ben, cleo), (cleo, ben, ana)]
    matches = [factories.make_match(*table) for table in tables]
    factories.make_match(ana, ben, finished=0)
    for seconds, match in zip((1000, 10, 20), matches, strict=True):
        game = match.games.get()
        assert game.finished_at is not None
        game.started_at = game.finished_at - timedelta(seconds=seconds)
        game.save()
    monkeypatch.setattr(games, "MEASURED_GAMES", 2)

    assert games.usual_game() == UsualGame(slot_s=15.0, seats=3.0)


@pytest.mark.django_db
def test_prometheus_reads_the_slots(settings: Settings, data_dir: object) -> None:
    settings.TORRES_METRICS_TOKEN = TOKEN
    cache.clear()
    begun({"format": "round_robin"}, 4)
    tick(slots=0)
    samples = read_metrics()

    seconds = 12 * demand.USUAL_GAME.slot_s
    assert samples["torres_slots_wanted{}"] == pytest.approx(seconds / 900)
