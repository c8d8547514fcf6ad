"""`torres audit` repeats the standings of tournaments from the log."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from django.db import transaction
from django.db.models import F
from pytest_django.live_server_helper import LiveServer

from ladder.bots.models import Bot
from ladder.events.models import Fact
from ladder.games import services as games
from ladder.games.models import Game
from ladder.tournaments import corrections, facts, services
from ladder.tournaments.models import Entrant, FixtureSeat, Tournament
from tests.games.factories import bot
from tests.public_log.audited import AuditedLadder, audit_at_once
from tests.tournaments import factories
from torres.auditing.findings import Check
from torres.formats.config import read_config
from torres.tlog.leaves import LeafKind

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("data_dir", "committed_decks", "scripted_players"),
]
CONFIGS: dict[str, Mapping[str, Any]] = {
    "swiss": {"format": "swiss", "rounds": 3},
    "round robin": {"format": "round_robin"},
    "tables of three": {"format": "round_robin", "seats": 3, "duplicate": False},
    "elimination": {"format": "double_elimination"},
    "groups": {"format": "groups", "groups": 2, "advance": 1},
}
SWISS = CONFIGS["swiss"]


@pytest.fixture
def service(
    live_server: LiveServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    settings: Any,
) -> AuditedLadder:
    settings.TORRES_FRESH_SECONDS = 0
    audit_at_once(monkeypatch)
    return AuditedLadder(live_server.url, tmp_path / "audit")


def begun(config: Mapping[str, Any], **more: Any) -> Tournament:
    """Start a tournament of all bots."""
    row = factories.tournament(config, **more)
    for entered in Bot.objects.order_by("pk"):
        services.enter(row, entered)
    services.start(row)
    return row


def play_out(service: AuditedLadder, row: Tournament) -> Tournament:
    """Tick, deal and play until the tournament is over."""
    worker = factories.worker()
    for _ in range(60):
        factories.tick(slots=4)
        row.refresh_from_db()
        if row.status != Tournament.Status.RUNNING:
            service.advance()
            return row
        service.advance()
        factories.play_scheduled(worker)
    raise AssertionError("the tournament never ends")


@pytest.mark.parametrize("name", CONFIGS)
def test_an_honest_tournament_has_no_findings(
    service: AuditedLadder, name: str
) -> None:
    row = begun(CONFIGS[name])
    factories.tick(slots=2)
    service.advance()
    assert service.audit().findings == []  # before the first result
    services.withdraw(Entrant.objects.filter(tournament=row).latest("pk"))
    play_out(service, row)
    assert service.audit().findings == []


def test_a_corrected_result_is_no_finding(service: AuditedLadder) -> None:
    row = begun(CONFIGS["round robin"])
    worker = factories.worker()
    factories.tick(slots=2)
    service.advance()
    factories.play_scheduled(worker)
    factories.tick(slots=2)
    games.void(Game.objects.earliest("pk").pk, "the worker was broken")
    corrections.reopen_corrected(row, read_config(row.config))
    play_out(service, row)
    assert service.audit().findings == []


def test_results_that_are_held_back_are_logged_when_they_are_shown(
    service: AuditedLadder,
) -> None:
    row = begun(SWISS, held_back=True)
    play_out(service, row)
    logged = Fact.objects.filter(leaf_kind=LeafKind.FIXTURE_DECIDED)
    assert "played" not in "".join(logged.values_list("leaf_data", flat=True))
    assert service.audit().findings == []
    services.reveal_next(row)
    service.advance()
    played = logged.filter(leaf_data__contains="played")
    assert played.count() == row.fixtures.filter(round=1, how="played").count()
    assert service.audit().findings == []
    services.reveal(row, 3)
    service.advance()
    assert played.count() == row.fixtures.filter(how="played").count()
    assert service.audit().findings == []


def exchange_points(row: Tournament) -> None:
    """Give the winner of a match of the first round what the loser got."""
    seats = FixtureSeat.objects.filter(fixture__tournament=row, fixture__round=1)
    winner = seats.filter(points="1", fixture__how="played").earliest("pk")
    seats.filter(fixture=winner.fixture).update(points="1")
    FixtureSeat.objects.filter(pk=winner.pk).update(points="0")


def hide_a_tournament(row: Tournament) -> None:
    Tournament.objects.filter(pk=row.pk).update(status="draft")


def change_the_scores(row: Tournament) -> None:
    FixtureSeat.objects.filter(fixture__tournament=row).update(score=F("score") * 3)


def exchange_two_entrants(row: Tournament) -> None:
    one, other = row.entrants.order_by("seed")[:2]
    bots = one.bot, other.bot
    Entrant.objects.filter(pk=one.pk).update(bot=bot("stranger"))
    Entrant.objects.filter(pk=other.pk).update(bot=bots[0])
    Entrant.objects.filter(pk=one.pk).update(bot=bots[1])


def log_another_result(row: Tournament) -> None:
    """Log the exchanged points, too."""
    exchange_points(row)
    row.refresh_from_db()
    with transaction.atomic():
        facts.log_decisions(row, row.fixtures.filter(how="played", round=1))


ACTS = [
    *(exchange_points, hide_a_tournament, change_the_scores),
    *(exchange_two_entrants, log_another_result),
]


@pytest.mark.parametrize("act", ACTS)
def test_manipulated_standings_are_found(
    service: AuditedLadder, act: Callable[[Tournament], None]
) -> None:
    row = play_out(service, begun(SWISS))
    act(row)
    service.advance()
    assert Check.TOURNAMENTS in service.found()
