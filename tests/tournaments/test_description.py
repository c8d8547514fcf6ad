"""A description that cannot be played is refused at every entrance."""

from contextlib import suppress
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.core.management import CommandError, call_command
from django.test import Client
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
    """Forms call `clean`; every step calls the same checks."""
    with pytest.raises(ValidationError, match=why):
        draft(**fields).clean()
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
    with pytest.raises(ValidationError, match=why):
        draft(**fields).clean()
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


# The admin.


@pytest.fixture
def operator() -> Client:
    client = Client()
    client.force_login(User.objects.create_superuser("olga"))
    return client


def form(**fields: str) -> dict[str, str]:
    limits = str(LIMITS).replace("'", '"')
    values = {"slug": "next", "name": "New", "ruleset": "yucata", "switches": "{}"}
    return {**values, "limits": limits, "config": '{"format": "swiss"}', **fields}


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"config": '{"format": "swis"}'}, "must be one of round_robin"),
        ({"config": "[1, 2]"}, "it must be an object"),
        ({"limits": '{"move_ms": "fast"}'}, "must be a whole number"),
        ({"ruleset": "nope"}, "unknown ruleset"),
        ({"starts_at_0": "2020-01-01", "starts_at_1": "00:00"}, "is in the past"),
    ],
    ids=str,
)
def test_the_admin_refuses_a_wrong_tournament(
    operator: Client, fields: dict[str, str], why: str
) -> None:
    answer = operator.post("/admin/tournaments/tournament/add/", form(**fields))
    assert answer.status_code == 200
    assert why in answer.content.decode()
    assert not Tournament.objects.exists()


def test_the_admin_writes_only_what_was_changed(operator: Client) -> None:
    """A form that was opened in draft set the status back when it was saved."""
    row = draft()
    row.save()
    services.announce(row)
    address = f"/admin/tournaments/tournament/{row.pk}/change/"
    answer = operator.post(address, form(slug="cup", name="Better"))
    assert answer.status_code == 302
    row.refresh_from_db()
    assert (row.name, row.status) == ("Better", "entry")


def test_the_admin_changes_only_the_name_of_a_running_tournament(
    operator: Client,
) -> None:
    row = begun({"format": "swiss"}, 3)
    address = f"/admin/tournaments/tournament/{row.pk}/change/"
    operator.post(address, form(slug="x", name="New", config='{"format": "swis"}'))
    row.refresh_from_db()
    assert (row.name, row.slug, row.config) == ("New", "cup", {"format": "swiss"})


def test_the_admin_enters_a_bot_with_a_seed(operator: Client) -> None:
    """`services.enter` took a seed that nobody could give."""
    row = tournament({"format": "swiss"})
    players = [bot("ana"), bot("ben"), bot("empty", ready=False)]
    add = "/admin/tournaments/entrant/add/"
    for player, seed in zip(players, (7, 7, 8), strict=True):
        fields = {"tournament": row.pk, "bot": player.pk, "seed": seed}
        operator.post(add, fields)
    entrant = Entrant.objects.get()
    assert (entrant.bot, entrant.seed) == (players[0], 7)
    change = f"/admin/tournaments/entrant/{entrant.pk}/change/"
    assert operator.post(change, {"seed": 1}).status_code == 302
    entrant.refresh_from_db()
    assert entrant.seed == 1


@pytest.mark.parametrize(
    "tables", ["[2]", '{"two": 1}', '{"5": 1}', '{"2": "0.4"}', "{}", '{"2": 0}']
)
def test_a_wrong_ladder_is_refused_by_the_admin_and_the_command(
    operator: Client, tables: str
) -> None:
    fields = form(tables=tables, duplicate="", slug="bad")
    answer = operator.post("/admin/ratings/ladder/add/", fields)
    assert answer.status_code == 200
    assert "tables" in answer.content.decode()
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
