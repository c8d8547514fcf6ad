"""Wrong inputs are refused at each entrance, and as rows they stop only themselves."""

import re
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from ladder.dispatch import dispatcher as module
from ladder.dispatch.dispatcher import Dispatcher
from ladder.games.capabilities import WorkerGroup, WorkerPool
from ladder.moderation.models import StoppedUnit
from ladder.tournaments.models import Tournament, TournamentStatus
from tests.tournaments.factories import begun, play_scheduled, worker
from tests.tournaments.organisers import (
    FileEntrance,
    HomeEntrance,
    PageEntrance,
    Refused,
    RestEntrance,
)
from tests.tournaments.planted_rows import (
    STRANGE,
    plant_descriptions,
    running,
    start_in_the_past_with_nobody,
)
from tests.tournaments.wrong_inputs import (
    ANYWHERE,
    WrongInput,
    at,
    prepare,
)

pytestmark = pytest.mark.django_db
GOOD = {"name": "Cup", "format": "swiss"}
KINDS: dict[str, Any] = {
    "rest": RestEntrance,
    "file": FileEntrance,
    "form": PageEntrance,
    "home": HomeEntrance,
}
CASES = [
    pytest.param(entrance, wrong, id=f"{entrance}-{number}")
    for entrance in KINDS
    for number, wrong in enumerate(at(entrance))
]


@pytest.mark.parametrize(("entrance", "wrong"), CASES)
def test_a_wrong_input_is_refused(
    entrance: str, wrong: WrongInput, tmp_path: Path
) -> None:
    """The refusal names the field, the present value, and what would be right."""
    prepare()
    before = set(Tournament.objects.values_list("slug", flat=True))
    organiser = KINDS[entrance](tmp_path)
    acts = [organiser.create]
    acts += [organiser.preview] if hasattr(organiser, "preview") else []
    for act in acts:
        with pytest.raises(Refused, match=f"(?s){wrong.why}"):
            act(GOOD | wrong.fields)
    stored = set(Tournament.objects.values_list("slug", flat=True)) - before
    assert not stored


def test_each_entrance_refuses_at_least_forty_inputs() -> None:
    assert set(KINDS) == ANYWHERE
    counts = {entrance: len(at(entrance)) for entrance in KINDS}
    assert min(counts.values()) >= 40, counts


def test_a_good_input_is_accepted_at_each_entrance(tmp_path: Path) -> None:
    """Otherwise the refusals could have another cause."""
    for entrance, kind in KINDS.items():
        if entrance != "home":  # tests/cli/test_tournament.py plays them
            slug = f"good-{entrance}"
            assert kind(tmp_path).create(GOOD | {"slug": slug}).slug == slug


# The number of entrants, and a tournament that runs.


@pytest.mark.parametrize("entrance", ["rest", "form"])
@pytest.mark.parametrize("count", [0, 1])
def test_nobody_plays_alone(entrance: str, count: int, tmp_path: Path) -> None:
    prepare()
    organiser = KINDS[entrance](tmp_path)
    row = organiser.create(GOOD | {"entrants": ["bot-0"][:count]})
    organiser.step(row, "open")
    with pytest.raises(Refused, match=f"409.*{count} entrant.*at least 2|needs 2"):
        organiser.step(row, "start")
    row.refresh_from_db()
    assert row.status == TournamentStatus.ENTRY


# Rows that a person has written with SQL.


@pytest.fixture
def dispatcher(monkeypatch: pytest.MonkeyPatch) -> Dispatcher:
    """Return a dispatcher with one worker of four slots, which sends no messages."""
    pool = WorkerPool((WorkerGroup(offered=None, slots=4),))
    monkeypatch.setattr(module.games, "worker_pool", lambda: pool)
    monkeypatch.setattr(module, "send_hint", lambda *_: None)
    monkeypatch.setattr(module, "UPKEEP_INTERVAL_S", 0.0)
    return Dispatcher()


def assert_played_to_the_end(dispatcher: Dispatcher, row: Tournament) -> None:
    """Tick and play until a good tournament is over, whatever is planted beside it."""
    player = worker()
    for _ in range(20):
        dispatcher.tick()
        play_scheduled(player)
        row.refresh_from_db()
        if row.status == TournamentStatus.FINISHED:
            return
    raise AssertionError("the good tournament does not go on")


def pages_of(row: Tournament) -> list[str]:
    rest = f"/api/v1/tournaments/{row.slug}/"
    parts = ("", "rounds/", "standings/", "bracket/")
    return [f"/tournaments/{row.slug}/", *(rest + part for part in parts)]


@pytest.mark.django_db(transaction=True)
def test_planted_rows_stop_only_themselves(dispatcher: Dispatcher) -> None:
    good = begun({"format": "round_robin"}, 3, slug="good")
    planted = dict(plant_descriptions())
    assert_played_to_the_end(dispatcher, good)
    dispatcher._report()

    errors = {(unit.kind, unit.name): unit.error for unit in StoppedUnit.objects.all()}
    for unit, wrong in planted.items():
        assert re.search(wrong.why, errors[unit]), unit
    with pytest.raises(CommandError) as failure:
        call_command("status", stdout=StringIO())
    for unit in planted:
        assert f"{unit}: {errors[unit]}" in str(failure.value)
    assert len(planted) >= 40
    client = Client()
    for unit in planted:
        if unit.name.startswith("runs"):
            row = Tournament.objects.get(slug=unit.name)
            codes = {path: client.get(path).status_code for path in pages_of(row)}
            assert set(codes.values()) == {200}, codes


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("begins", [False, True], ids=["before", "after"])
def test_strange_rows_do_not_stop_the_others(
    dispatcher: Dispatcher, *, begins: bool
) -> None:
    """Changed before and after the first fixtures exist."""
    rows = {change: running(change.__name__.replace("_", "-")) for change in STRANGE}
    if begins:
        dispatcher.tick()
    for change, row in rows.items():
        change(row)
    good = begun({"format": "swiss", "rounds": 2}, 3, slug="good")
    assert_played_to_the_end(dispatcher, good)

    client = Client()
    for row in rows.values():
        row.refresh_from_db()
        codes = {path: client.get(path).status_code for path in pages_of(row)}
        expected = 404 if row.status == TournamentStatus.DRAFT else 200
        assert set(codes.values()) == {expected}, codes
    nobody = rows[start_in_the_past_with_nobody]
    assert nobody.status == TournamentStatus.CANCELLED
    assert "needs 2" in nobody.note
