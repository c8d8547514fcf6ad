"""One bad row stops one ladder or tournament, never the dispatcher.

The rows are planted with SQL, behind all checks. Each of them ended the dispatcher.
"""

from io import StringIO
from threading import Event
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, OperationalError, connection
from django.test import Client
from django.utils import timezone
from structlog.testing import capture_logs

from ladder.dispatch import dispatcher as module
from ladder.dispatch.dispatcher import Dispatcher
from ladder.games.capabilities import WorkerGroup, WorkerPool
from ladder.games.models import Game
from ladder.moderation.models import StoppedUnit
from ladder.ratings.ladders import ensure_default_ladder
from ladder.ratings.models import Ladder
from ladder.ratings.seasons import start_season
from ladder.service import containment
from ladder.service.containment import Containment, Unit, UnitKind
from ladder.tournaments.models import Tournament, TournamentStatus
from tests.games.factories import LIMITS, bots, person
from tests.tournaments.factories import begun, play_scheduled, worker
from torres.common.errors import Conflict

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("scripted_players"),
]
CUP = Unit(UnitKind.TOURNAMENT, "cup")


@pytest.fixture
def dispatcher(monkeypatch: pytest.MonkeyPatch) -> Dispatcher:
    """Return a dispatcher with one worker of two slots, which sends no messages."""
    group = WorkerGroup(offered=None, slots=2)
    pool = WorkerPool((group,))
    monkeypatch.setattr(module.games, "worker_pool", lambda: pool)
    monkeypatch.setattr(module, "send_hint", lambda *_: None)
    monkeypatch.setattr(module, "UPKEEP_INTERVAL_S", 0.0)
    return Dispatcher()


def bad_ladder(**fields: Any) -> Ladder:
    """Return a ladder with an open season whose row was changed with SQL."""
    good = {"ruleset": "yucata", "tables": {"2": 1.0}, "limits": LIMITS}
    ladder = Ladder.objects.create(slug="bad", name="Bad", **good)
    start_season(ladder)
    Ladder.objects.filter(pk=ladder.pk).update(**fields)
    return ladder


@pytest.mark.parametrize(
    "fields",
    [
        {"tables": [2]},
        {"tables": {"two": 1}},
        {"tables": {"5": 1}},
        {"tables": {"2": "0.4"}},
        {"tables": {}},
        {"ruleset": "nope"},
        {"switches": [1]},
        {"limits": {"move_ms": "fast"}},
    ],
    ids=str,
)
def test_a_bad_ladder_makes_no_match_and_the_others_play_on(
    dispatcher: Dispatcher, fields: dict[str, Any]
) -> None:
    ensure_default_ladder()
    bad_ladder(**fields)
    bots(4)
    for _ in range(2):
        dispatcher.tick()

    ladders = set(Game.objects.values_list("match__ladder", flat=True))
    assert ladders == {"main"}
    (unit,) = StoppedUnit.objects.all()
    assert (unit.kind, unit.name) == ("matchmaking", "bad")
    assert next(iter(fields)) in unit.error
    page = Client().get("/ladders/bad/")
    assert page.status_code == 200
    assert "The service cannot continue this ladder" in page.content.decode()


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"config": {"format": "swis"}}, "it must be one of round_robin"),
        ({"config": {"formt": "swiss"}}, "unknown key: 'formt'"),
        ({"config": [1, 2]}, "it must be an object"),
        ({"limits": {"move_ms": "fast"}}, "it must be a whole number"),
        ({"limits": {}}, "missing: memory_mb"),
        ({"limits": {**LIMITS, "bank_ms": -1}}, "bank_ms: -1"),
        ({"ruleset": "nope"}, "unknown ruleset"),
    ],
    ids=str,
)
@pytest.mark.parametrize("status", [TournamentStatus.DRAFT, TournamentStatus.RUNNING])
def test_a_bad_tournament_stops_alone(
    dispatcher: Dispatcher, status: str, fields: dict[str, Any], why: str
) -> None:
    good = begun({"format": "round_robin"}, 3, slug="good")
    bad = Tournament.objects.create(slug="cup", name="Cup", config={"format": "swiss"})
    now = timezone.now()
    Tournament.objects.filter(pk=bad.pk).update(
        status=status, opens_at=now, started_at=now, **fields
    )
    for entrant in good.entrants.all():
        bad.entrants.create(
            bot=entrant.bot, submission=entrant.submission, seed=entrant.seed
        )
    for _ in range(3):
        dispatcher.tick()

    assert good.fixtures.exclude(match=None).exists()
    assert not bad.fixtures.exclude(match=None).exists()
    (unit,) = StoppedUnit.objects.all()
    assert why in unit.error
    assert "manage.py operator edit_tournament" in unit.advice
    if status == TournamentStatus.RUNNING:
        page = Client().get("/tournaments/cup/").content.decode()
        assert "The service cannot continue this tournament" in page
        assert why.split(":", maxsplit=1)[0] not in page
        operator = Client()
        olga = person("olga")
        olga.is_staff = True
        olga.save()
        operator.force_login(olga)
        assert unit.advice in operator.get("/tournaments/cup/").content.decode()


def test_a_config_that_is_edited_while_it_runs_stops_only_this_tournament(
    dispatcher: Dispatcher,
) -> None:
    row = begun({"format": "single_elimination"}, 4)
    dispatcher.tick()
    play_scheduled(worker())
    Tournament.objects.update(config={"format": "groups", "groups": 2})
    dispatcher.tick()

    assert Client().get(f"/tournaments/{row.slug}/").status_code == 200
    for part in ("standings", "rounds", "bracket"):
        address = f"/api/v1/tournaments/{row.slug}/{part}/"
        assert Client().get(address).status_code == 200
    Tournament.objects.update(config={"format": "single_elimination"})
    dispatcher._units._retry_at.clear()
    dispatcher.tick()
    assert row.fixtures.filter(round=2).exists()
    assert not StoppedUnit.objects.exists()


def test_status_fails_and_says_what_to_do(dispatcher: Dispatcher) -> None:
    Tournament.objects.create(
        slug="cup", name="Cup", config={"format": "swis"}, opens_at=timezone.now()
    )
    with pytest.raises(CommandError, match="No dispatcher is running"):
        call_command("status", stdout=StringIO())
    dispatcher.tick()
    dispatcher._report()
    with pytest.raises(CommandError, match=r"Stopped since .* tournament cup") as error:
        call_command("status", stdout=StringIO())
    assert "No dispatcher" not in str(error.value)
    assert "cancel it" in str(error.value)
    call_command("status", "--totals", stdout=StringIO())


def test_the_row_of_an_ended_tournament_is_removed(dispatcher: Dispatcher) -> None:
    row = Tournament.objects.create(
        slug="cup", name="Cup", config={"format": "swis"}, opens_at=timezone.now()
    )
    dispatcher.tick()
    assert StoppedUnit.objects.exists()
    Tournament.objects.filter(pk=row.pk).update(status=TournamentStatus.CANCELLED)
    for _ in range(2):
        dispatcher._health_checked_at = float("-inf")
        dispatcher.tick()
    assert not StoppedUnit.objects.exists()


# One unit.


def test_a_fault_is_logged_once_with_its_traceback() -> None:
    units = Containment(retry_s=0.0)
    with capture_logs() as logged:
        for number in range(5):
            assert units.run(CUP, lambda n=number: 1 // (n - n), -1) == -1  # type: ignore[misc]

    assert [entry["event"] for entry in logged] == ["a unit is stopped"]
    assert isinstance(logged[0]["exc_info"], ZeroDivisionError)
    (unit,) = StoppedUnit.objects.all()
    assert "ZeroDivisionError" in unit.traceback
    assert units.run(CUP, lambda: 7, -1) == 7
    assert not StoppedUnit.objects.exists()


def test_a_stopped_unit_is_not_tried_in_every_tick() -> None:
    units = Containment(retry_s=60.0)
    calls = []

    def fail() -> int:
        calls.append(1)
        raise ValueError

    for _ in range(5):
        units.run(CUP, fail, 0)
    assert len(calls) == 1


@pytest.mark.parametrize("error", [Conflict("x"), IntegrityError("x")], ids=repr)
def test_a_lost_race_is_no_fault_unless_it_goes_on(error: Exception) -> None:
    def fail() -> int:
        raise error

    connection.ensure_connection()  # an error without one blames the database
    units = Containment(retry_s=0.0)
    for _ in range(containment.MAX_CONFLICTS - 1):
        units.run(CUP, fail, 0)
    assert not StoppedUnit.objects.exists()
    units.run(CUP, fail, 0)
    assert StoppedUnit.objects.exists()


def test_a_database_that_is_away_blames_no_unit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail() -> int:
        raise OperationalError("the server closed the connection")

    monkeypatch.setattr(containment.connection, "is_usable", lambda: False)
    with pytest.raises(OperationalError):
        Containment().run(CUP, fail, 0)


# The whole dispatcher.


def test_an_error_of_the_whole_tick_does_not_end_the_dispatcher(
    dispatcher: Dispatcher, monkeypatch: pytest.MonkeyPatch, data_dir: Any
) -> None:
    data_dir.mkdir()
    ticks = []
    stop = Event()

    def tick() -> None:
        ticks.append(1)
        if len(ticks) == 3:
            stop.set()
        raise RuntimeError("a fault that nobody expected")

    monkeypatch.setattr(dispatcher, "tick", tick)
    dispatcher.run(stop)
    assert len(ticks) == 3
