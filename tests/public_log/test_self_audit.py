"""The service audits itself as `torres audit` does, without a network."""

import io
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from ladder.dispatch.jobs import JOBS
from ladder.extras.self_audit import jobs, selectors
from ladder.games.models import Game, Seat
from ladder.moderation.audit import Operator
from ladder.ratings import operations
from ladder.ratings.models import Rating
from tests.public_log.audited import AuditedLadder, audit_at_once

pytestmark = [
    pytest.mark.usefixtures("data_dir", "committed_decks", "scripted_players"),
    pytest.mark.django_db(transaction=True),
]
OPERATOR = Operator(None, "it was broken")
PAGE = "/log/operators-hand/"


@pytest.fixture
def service(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> AuditedLadder:
    audit_at_once(monkeypatch)
    settings.DATA_DIR = tmp_path
    # An audit must not use up the requests of a visitor.
    settings.TORRES_RATE_ANONYMOUS = 1
    settings.TORRES_RATES = {**settings.TORRES_RATES, "page": 1}
    service = AuditedLadder("", tmp_path / "unused")
    for _ in range(4):
        service.play()
    return service


def audit(*options: str) -> str:
    output = io.StringIO()
    call_command("audit", *options, stdout=output)
    return output.getvalue()


def test_an_honest_service_has_no_findings(
    service: AuditedLadder,
    client: Client,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (job,) = (job for job in JOBS if job.name == "self-audit")
    assert not job.is_due()
    monkeypatch.setattr(jobs, "FIRST_SIZE", 1)
    assert job.is_due()
    logger = logging.getLogger("django.request")
    handlers = logger.handlers.copy()
    job.run()
    assert logger.handlers == handlers, "it configured logging again"
    line = "the public view follows from the public log: yes"
    assert line in capsys.readouterr().out
    assert not job.is_due()
    newest = selectors.newest()
    assert newest is not None
    assert newest.report["games"] == 4
    page = client.get(PAGE).content.decode()
    assert "No operator has done anything." in page
    assert "4 games, their replays" in page


def raise_a_rating() -> None:
    row = Rating.objects.latest("pk")
    Rating.objects.filter(pk=row.pk).update(mu=row.mu + 1)


def change_a_score() -> None:
    Seat.objects.filter(game=Game.objects.earliest("pk"), number=0).update(score=999)


@pytest.mark.parametrize("manipulate", [raise_a_rating, change_a_score])
def test_a_difference_to_the_log_is_found_and_shown(
    service: AuditedLadder, client: Client, manipulate: Callable[[], None]
) -> None:
    manipulate()
    with pytest.raises(CommandError, match="lists the differences"):
        audit("--public")
    newest = selectors.newest()
    assert newest is not None
    assert newest.findings
    page = client.get(PAGE).content.decode()
    assert newest.report["findings"][0]["text"] in page


def test_an_empty_log_is_an_error_in_words() -> None:
    with pytest.raises(CommandError, match="The public log is empty"):
        audit("--public")


def test_acts_of_operators_are_on_the_page(
    service: AuditedLadder, client: Client
) -> None:
    operations.void(OPERATOR, Game.objects.earliest("pk").pk)
    service.advance()
    audit("--public")
    assert "<td>voided games</td>" in client.get(PAGE).content.decode()
