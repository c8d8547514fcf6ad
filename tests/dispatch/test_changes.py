"""Each kind of work of the upkeep is noticed, and nothing else is."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from ladder.bots.models import Bot, Submission
from ladder.dispatch import dispatcher as module
from ladder.dispatch.changes import WHOLE_UPKEEP, ChangeDetector, Work
from ladder.dispatch.dispatcher import Dispatcher
from ladder.games import services
from ladder.games.capabilities import WorkerGroup, WorkerPool
from ladder.games.models import Game
from ladder.ratings import corrections, rater, summaries
from ladder.ratings.ladders import ensure_default_ladder
from ladder.ratings.models import Membership, Pairing, Rating, Season
from ladder.tournaments.models import Tournament
from tests.games import factories
from tests.ratings.factories import finish_in_order, make_matches, open_games
from torres.runner.protocol import Limits

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def season() -> Season:
    """Return a season with two open games whose work is done."""
    season = ensure_default_ladder().seasons.get()
    factories.bots(8)
    rater.welcome(season.pk)
    season = Season.objects.select_related("ladder").get(pk=season.pk)
    make_matches(season, 2)
    settle(season)
    return season


def settle(season: Season) -> None:
    while rater.fold(season.pk) or summaries.catch_up(season.pk):
        pass


def finish_a_game(_: Season) -> None:
    finish_in_order(open_games()[0])


def void_a_game(_: Season) -> None:
    services.void(Game.objects.filter(status="finished")[0].pk, "by a test")


def ban_a_bot(_: Season) -> None:
    seat = open_games()[0].seats.all()[0]
    Bot.objects.filter(pk=seat.bot_id).update(status="banned")


def deactivate_an_owner(_: Season) -> None:
    owner = open_games()[0].seats.all()[0].bot.owner
    assert owner is not None
    owner.is_active = False
    owner.save()


def make_a_bot_ready(_: Season) -> None:
    factories.bot("late")


def upload(_: Season) -> None:
    Submission.objects.create(
        bot=Bot.objects.latest("pk"), number=9, digest="9" * 64, size=1
    )


def start_finals(season: Season) -> None:
    Season.objects.filter(pk=season.pk).update(status="finals")


def announce_a_tournament(_: Season) -> None:
    Tournament.objects.create(
        slug="cup",
        name="Cup",
        ruleset="yucata",
        limits=Limits().as_dict(),
        config={"format": "swiss"},
        opens_at=timezone.now() - timedelta(minutes=1),
    )


def fold_elsewhere(season: Season) -> None:
    """Let a worker's task fold a game, so that only the summaries are behind."""
    finish_a_game(season)
    rater.fold(season.pk)


def remove_a_member(_: Season) -> None:
    Membership.objects.update(status="left", changed_at=timezone.now())


PLAYED = Work(ratings=True)
JOINED = Work(ratings=True, arrivals=True)
LEFT = Work(cancelling=True)
KINDS = [
    (remove_a_member, JOINED | LEFT),
    (finish_a_game, PLAYED),
    (void_a_game, PLAYED | Work(voids=True)),
    (ban_a_bot, LEFT),
    (deactivate_an_owner, LEFT),
    (make_a_bot_ready, JOINED),
    (upload, Work(uploads=True)),
    (start_finals, PLAYED),
    (announce_a_tournament, Work(tournaments=True)),
    (fold_elsewhere, PLAYED),
]


@pytest.mark.parametrize(("happen", "found"), KINDS)
def test_a_change_is_noticed_for_its_parts_only(
    season: Season, happen: Callable[[Season], None], found: Work
) -> None:
    finish_a_game(season)
    settle(season)
    changes = ChangeDetector()
    assert changes.find_work() == WHOLE_UPKEEP  # it has not seen anything yet
    assert not any(changes.find_work())

    happen(season)

    assert changes.find_work() == found


@pytest.fixture
def dispatcher(monkeypatch: pytest.MonkeyPatch) -> Dispatcher:
    """Return a dispatcher with a worker. It looks for changes in each tick."""
    pool = WorkerPool((WorkerGroup(offered=None, slots=1),))
    monkeypatch.setattr(module.games, "worker_pool", lambda: pool)
    monkeypatch.setattr(module, "send_hint", lambda *_: None)
    monkeypatch.setattr(module, "UPKEEP_INTERVAL_S", 1e-9)
    monkeypatch.setattr(module, "MAX_INTERVALS_WITHOUT_UPKEEP", 1e12)
    return Dispatcher()


def test_a_tick_with_nothing_to_do_asks_few_questions(
    season: Season, dispatcher: Dispatcher
) -> None:
    for _ in range(6):
        dispatcher.tick()

    with CaptureQueriesContext(connection) as queries:
        dispatcher.tick()

    # The webhooks, the changes, and the look. The upkeep has about twenty.
    assert len(queries) <= 3, [query["sql"] for query in queries]


def test_each_part_looks_for_itself_if_the_look_fails(
    season: Season, dispatcher: Dispatcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> None:
        raise ValueError("wrong row")

    monkeypatch.setattr(module.changes, "look", fail)
    finish_in_order(open_games()[0])

    result = dispatcher.tick()

    assert min(result.paired, result.logged, result.sent) > 0


def test_a_game_is_rated_by_the_next_tick(
    season: Season, dispatcher: Dispatcher
) -> None:
    for _ in range(6):
        dispatcher.tick()
    game = open_games()[0]
    finish_in_order(game)

    dispatcher.tick()

    assert not Pairing.objects.get(match=game.match).open
    played = game.seats.values("bot")
    assert all(row.games == 1 for row in Rating.objects.filter(bot__in=played))


def test_parts_without_work_do_not_run(
    season: Season, dispatcher: Dispatcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A game ends every second, and nearly every second nothing else happens."""
    for _ in range(6):
        dispatcher.tick()
    ran = []
    parts = (
        *((rater, "welcome"), (module, "cancel_unplayable")),
        *((module.tournaments, "tick"), (module.comparisons, "tick")),
        *((module.bots, "claimable_ids"), (corrections, "fold_voids")),
    )
    for owner, name in parts:
        monkeypatch.setattr(owner, name, lambda *_, name=name, **__: ran.append(name))
    finish_in_order(open_games()[0])

    assert dispatcher.tick().folded == 1
    assert not ran


def test_a_unit_that_failed_is_tried_although_nothing_changed(
    season: Season, dispatcher: Dispatcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(6):
        dispatcher.tick()
    dispatcher._units._retry_s = 0.0
    calls = []

    def fail(_: int, **__: bool) -> int:
        calls.append(1)
        raise ValueError("wrong row")

    monkeypatch.setattr(rater, "fold", fail)
    finish_in_order(open_games()[0])
    for _ in range(3):
        dispatcher.tick()

    assert len(calls) == 3


def test_the_upkeep_runs_from_time_to_time_although_nothing_changed(
    season: Season, dispatcher: Dispatcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(6):
        dispatcher.tick()
    calls = []
    monkeypatch.setattr(rater, "fold", lambda *_, **__: len(calls.append(1) or ""))
    dispatcher.tick()
    assert not calls

    monkeypatch.setattr(module, "MAX_INTERVALS_WITHOUT_UPKEEP", 0)
    dispatcher.tick()
    assert calls


def test_a_dispatcher_without_open_games_ticks_once_a_second(
    dispatcher: Dispatcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    ensure_default_ladder()
    result = dispatcher.tick()
    assert result.idle
    assert module._pause_after(result) == module.IDLE_TICK_INTERVAL_S

    factories.game()
    result = dispatcher.tick()
    assert not result.idle
    assert module._pause_after(result) <= module.TICK_INTERVAL_S


def test_matches_are_made_together(season: Season, dispatcher: Dispatcher) -> None:
    """A match that was made alone cost about forty statements of its own."""
    assert dispatcher.tick().paired == 0  # one game runs, and another one waits
    finish_in_order(open_games()[0])

    assert dispatcher.tick().paired == module.OPEN_GAMES_PER_SLOT - 1
    assert dispatcher.tick().paired == 0
