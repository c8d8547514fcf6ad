"""A description that cannot be played is refused at every entrance."""

from contextlib import suppress
from datetime import timedelta
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from ladder.ratings.models import Ladder
from ladder.tournaments import services
from ladder.tournaments.description import BadTournament
from ladder.tournaments.models import Entrant, Tournament
from tests.games.factories import LIMITS, bot
from tests.tournaments.factories import begun, tournament
from torres.formats.config import BadConfig, max_entrants, read_config
from torres.runner.limits import BadLimits, read_limits

pytestmark = pytest.mark.django_db(transaction=True)

WRONG: list[tuple[dict[str, Any], str]] = [
    ({"config": {"format": "swis"}}, "config: format"),
    ({"config": {"formt": "swiss"}}, "config: unknown key"),
    ({"config": [1, 2]}, "config: .* it must be an object"),
    ({"config": {"format": ["swiss"]}}, "config: format"),
    ({"config": {"points": ["1e-99", 0]}}, "config: points"),
    ({"limits": None}, "limits: None; it must be an object"),
    ({"limits": {"move_ms": "fast"}}, "limits: move_ms: 'fast'"),
    ({"limits": {}}, "limits: missing: memory_mb"),
    ({"limits": {**LIMITS, "bank_ms": -1}}, "limits: bank_ms: -1"),
    ({"limits": {**LIMITS, "bank_ms": 10**5000}}, "limits: bank_ms: a huge number"),
    ({"limits": {**LIMITS, "wings": 2}}, "limits: unknown key: 'wings'"),
    ({"ruleset": "nope"}, "unknown ruleset"),
    ({"switches": {"nope": 1}}, "unknown switch"),
    ({"switches": [2]}, "switches: .* it must be an object"),
]
HOUR = timedelta(hours=1)


def draft(**fields: Any) -> Tournament:
    values = {"config": {"format": "swiss"}, "limits": LIMITS, **fields}
    return Tournament(slug="cup", name="Cup", **values)


@pytest.mark.parametrize(("fields", "why"), WRONG, ids=range(len(WRONG)))
def test_a_wrong_tournament_is_refused(fields: dict[str, Any], why: str) -> None:
    row = tournament({"format": "swiss"}, slug="other")
    with pytest.raises(BadTournament, match=why):
        services.edit(row, fields)


@pytest.mark.parametrize(
    ("dates", "why"),
    [
        ({"opens_at": 3, "closes_at": 2}, "closes_at: it must not be earlier"),
        ({"opens_at": 3, "starts_at": 2}, "starts_at: it must not be earlier"),
        ({"closes_at": 3, "starts_at": 2}, "starts_at: it must not be earlier"),
        ({"opens_at": -3, "closes_at": -2, "starts_at": -1}, "is in the past"),
        ({"starts_at": -1}, "starts_at: .* is in the past"),
    ],
    ids=str,
)
def test_wrong_dates_are_refused(dates: dict[str, int], why: str) -> None:
    """With dates in the past a tournament was cancelled in seconds, without a word."""
    now = timezone.now()
    fields = {name: now + hours * HOUR for name, hours in dates.items()}
    row = draft(**fields)
    row.save()
    with pytest.raises(BadTournament, match=why):
        services.announce(row)
    entry = tournament({"format": "swiss"}, slug="other")
    with pytest.raises(BadTournament, match=why):
        services.edit(entry, fields)


def test_a_date_that_has_passed_does_not_prevent_other_changes() -> None:
    row = tournament({"format": "swiss"})
    Tournament.objects.update(closes_at=timezone.now() - HOUR)
    services.edit(row, {"must_check_in": True})
    assert row.must_check_in


def test_from_the_start_only_the_name_changes() -> None:
    row = begun({"format": "swiss"}, 3)
    services.edit(row, {"name": "New"})
    for changes in ({"config": {}}, {"limits": LIMITS}, {"ruleset": "yucata"}):
        with pytest.raises(services.WrongTournamentStatus, match="cannot change"):
            services.edit(row, changes)
    row.refresh_from_db()
    assert row.name == "New"


def test_an_act_changes_only_the_name_of_a_running_tournament() -> None:
    row = begun({"format": "swiss"}, 3)
    act = ("operator", "edit_tournament", "cup", "--why", "test", "--document")
    call_command(*act, '{"name": "New"}')
    with pytest.raises(CommandError, match="cannot change any more"):
        call_command(*act, '{"format": "round_robin"}')
    row.refresh_from_db()
    assert (row.name, row.config) == ("New", {"format": "swiss"})


def test_an_act_enters_a_bot_with_a_seed() -> None:
    """`services.enter` took a seed that nobody could give."""
    tournament({"format": "swiss"})
    act = ("operator", "enter", "cup", "--why", "test", "--bot")
    for name in ("ana", "ben"):
        bot(name)
    bot("empty", ready=False)
    call_command(*act, "ana", "--seed", "7")
    for name in ("ben", "empty"):
        with pytest.raises(CommandError):
            call_command(*act, name, "--seed", "7")
    entrant = Entrant.objects.get()
    assert (entrant.bot.slug, entrant.seed) == ("ana", 7)
    call_command(*act, "ana", "--seed", "1")
    entrant.refresh_from_db()
    assert entrant.seed == 1


@pytest.mark.parametrize(
    "tables", ["[2]", '{"two": 1}', '{"5": 1}', '{"2": "0.4"}', "{}", '{"2": 0}']
)
def test_a_wrong_ladder_is_refused_by_the_command(tables: str) -> None:
    act = ("operator", "create_ladder", "bad", "--why", "test", "--document")
    with pytest.raises(CommandError, match="tables: "):
        call_command(*act, f'{{"name": "Bad", "tables": {tables}}}')
    with pytest.raises(CommandError, match="it is no JSON"):
        call_command(*act, "[")
    assert not Ladder.objects.exists()


def test_a_planted_ladder_does_not_start() -> None:
    Ladder.objects.create(
        slug="bad", name="Bad", ruleset="nope", tables={"2": 1}, limits={"move_ms": 0}
    )
    with pytest.raises(CommandError, match=r"unknown ruleset.*limits: move_ms: 0"):
        call_command("operator", "start", "bad", "--why", "test")


# Pure readers.


def test_a_file_may_leave_limits_out_but_a_row_may_not() -> None:
    assert read_limits({"move_ms": 5}, partial=True).move_ms == 5
    with pytest.raises(BadLimits, match="missing"):
        read_limits({"move_ms": 5})


def test_no_tournament_has_more_fixtures_than_a_tick_can_write() -> None:
    cycles = read_config({"format": "round_robin", "rounds": 3})
    assert max_entrants(read_config({"format": "round_robin"})) == 224
    assert max_entrants(cycles) < 140
    assert max_entrants(read_config({"format": "swiss"})) == 1024


@pytest.mark.parametrize("value", [None, [], 5, "x", True])
def test_a_value_of_any_type_is_read_or_refused(value: object) -> None:
    for key in ("format", "seats", "points", "tie_breaks", "final", "reset", "rounds"):
        with suppress(BadConfig):
            read_config({key: value})
    with pytest.raises(BadConfig):
        read_config(value)
