"""`torres audit` repeats the standings of tournaments from the log."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from fractions import Fraction
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
from torres.auditing.findings import AuditFinding, Check
from torres.auditing.logged import DecidedFixture, LoggedTournament, Story
from torres.auditing.tournaments import (
    ReadStandings,
    ReadTournament,
    compare_standings,
)
from torres.common.answers import LineAnswer
from torres.formats.config import read_config
from torres.formats.values import (
    FixtureKey,
    FixtureRecord,
    FixtureResult,
    ResultKind,
    SeededEntrant,
)
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


def log_a_result_of_a_stranger(row: Tournament) -> None:
    """Log a result that no standings can be computed from."""
    fixture = row.fixtures.filter(how="played", round=1).earliest("pk")
    stranger = Entrant.objects.create(tournament=row, bot=bot("stranger"))
    fixture.seats.filter(number=0).update(entrant=stranger)
    with transaction.atomic():
        facts.log_decisions(row, row.fixtures.filter(pk=fixture.pk))


ACTS = [
    *(exchange_points, hide_a_tournament, change_the_scores),
    *(exchange_two_entrants, log_another_result, log_a_result_of_a_stranger),
]


@pytest.mark.parametrize("act", ACTS)
def test_manipulated_standings_are_found(
    service: AuditedLadder, act: Callable[[Tournament], None]
) -> None:
    row = play_out(service, begun(SWISS))
    act(row)
    service.advance()
    assert Check.TOURNAMENTS in service.found()


def test_a_tournament_that_never_started_is_found_whatever_its_date(
    service: AuditedLadder,
) -> None:
    row = play_out(service, begun(SWISS))
    assert service.audit().findings == []
    other = factories.tournament(SWISS, slug="other")
    for entrant in row.entrants.all():
        entrant.pk = None
        entrant.tournament = other
        entrant.save()
    Tournament.objects.filter(pk=other.pk).update(
        status=row.status, started_at="2020-01-01T00:00:00Z"
    )
    texts = [f.text for f in service.audit().findings if f.check == Check.TOURNAMENTS]
    assert texts == ["the service shows standings of other; the log has none"]


def test_standings_without_the_last_result_are_found_after_some_minutes() -> None:
    entrants = [SeededEntrant(1, 1), SeededEntrant(2, 2)]
    start = datetime(2026, 11, 25, tzinfo=UTC)
    points = (Fraction(1), Fraction(0))
    result = FixtureResult(ResultKind.PLAYED, points, (50, 40))
    decided = FixtureRecord(FixtureKey(1, 0, 0), (1, 2), result)
    config = read_config({"format": "round_robin", "tie_breaks": []})
    tournament = LoggedTournament(3, config, entrants, {1: 11, 2: 12}, {1: 21, 2: 22})
    tournament.decisions.append(DecidedFixture(9, start, decided, 5, [7]))
    before = [_line(1, 11), _line(1, 12)]
    after = [_line(1, 11, 1.0, 1), _line(2, 12, 0.0, 1)]

    def findings(lines: list[LineAnswer], minutes: int) -> list[AuditFinding]:
        story = Story(start + timedelta(minutes=minutes), tournaments={4: tournament})
        shown = [ReadTournament(4, "cup", start, lines)]
        return list(compare_standings(ReadStandings(10, shown), story))

    assert findings(before, 1) == findings(after, 1) == findings(after, 10) == []
    assert len(findings(before, 10)) == 1


def _line(rank: int, number: int, points: float = 0.0, played: int = 0) -> LineAnswer:
    return LineAnswer(
        rank=rank,
        id=number,
        points=points,
        played=played,
        tie_breaks={},
        withdrawn=False,
    )
