"""`torres audit` demands the cosignatures of the witnesses that a log names."""

import re
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner
from pytest_django import Settings
from pytest_django.live_server_helper import LiveServer

from ladder.games import dealing
from ladder.public_log import cosignatures
from ladder.public_log.models import Cosignature, LogHead
from tests.public_log.audited import AuditedLadder, audit_at_once
from tests.public_log.test_audit import forge, other_games
from tests.public_log.test_witnessed_decks import FOR_EVER, NAMES, WitnessedLadder
from torres.auditing import cosignatures as audited
from torres.auditing.auditor import Trust
from torres.auditing.findings import Check
from torres.auditing.witness import Witness, witness_key
from torres.cli.audit import audit
from torres.cli.client import LadderClient, Login

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("data_dir", "committed_decks", "scripted_players"),
]


@pytest.fixture
def ladder(
    live_server: LiveServer,
    tmp_path: Path,
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
) -> WitnessedLadder:
    """Return a service that two witnesses have cosigned, with a game."""
    audit_at_once(monkeypatch)
    monkeypatch.setattr(dealing, "WAIT_FOR_WITNESSES", FOR_EVER)
    monkeypatch.setattr(audited, "GRACE", timedelta())
    ladder = WitnessedLadder(live_server.url, tmp_path / "audit", settings)
    ladder.play(ladder.plan_and_cosign())
    ladder.cosign()
    return ladder


def run(ladder: AuditedLadder, *options: str) -> tuple[int, str]:
    arguments = [ladder.url, "--folder", str(ladder.folder), *options]
    result = CliRunner().invoke(audit, arguments)
    return result.exit_code, result.output


def test_the_audit_counts_the_witnesses_that_the_log_names(
    ladder: WitnessedLadder,
) -> None:
    size = LogHead.objects.get().size
    code, output = run(ladder)
    assert code == 0, output
    shown = ", ".join(f"{name} ({size:,} leaves)" for name in NAMES)
    assert f"cosignatures of witnesses: {shown}; 2 are demanded" in output
    assert run(ladder, "--quorum", "3")[0] == 1
    # The witnesses sign more while the log is copied.
    assert ladder.audit().quorum.cosigned == dict.fromkeys(NAMES, size)


def withhold_one(_: WitnessedLadder) -> None:
    Cosignature.objects.filter(witness=NAMES[0]).delete()


def show_an_old_one(ladder: WitnessedLadder) -> None:
    """Go on with one witness, and hide from the other one what is new."""
    old = Cosignature.objects.filter(witness=NAMES[0]).values().get()
    ladder.play(ladder.plan_and_cosign())
    ladder.cosign()
    Cosignature.objects.filter(witness=NAMES[0]).update(**old)


def take_the_line_of_another_tree(ladder: WitnessedLadder) -> None:
    old = Cosignature.objects.get(witness=NAMES[0])
    ladder.play(ladder.plan_and_cosign())
    ladder.cosign()
    Cosignature.objects.filter(witness=NAMES[0]).update(line=old.line)


def sign_with_another_key(ladder: WitnessedLadder) -> None:
    """Sign in the name of a witness with a key that the operator made."""
    folder = ladder.folder.with_name("operator")
    with LadderClient(Login(ladder.url, "")) as client:
        key = witness_key(folder, NAMES[0])
        seen = Witness(folder, key, client.log_file).look()
    line = seen.text.splitlines(keepends=True)[-1]
    Cosignature.objects.filter(witness=NAMES[0]).update(line=line)


def show_no_checkpoints(_: WitnessedLadder) -> None:
    Cosignature.objects.filter(witness=NAMES[0]).update(line="no signature\n")


Manipulation = Callable[[WitnessedLadder], None]


@pytest.mark.parametrize(
    "manipulate",
    [
        withhold_one,
        show_an_old_one,
        take_the_line_of_another_tree,
        sign_with_another_key,
        show_no_checkpoints,
    ],
)
def test_fewer_or_false_cosignatures_are_found(
    ladder: WitnessedLadder, manipulate: Manipulation
) -> None:
    manipulate(ladder)
    code, output = run(ladder)
    assert code == 1
    wrong = r"^witnesses: [01] witnesses have cosigned .* 2 are demanded; missing: ana"
    assert re.search(wrong, output, re.MULTILINE), output


def test_a_log_that_its_witnesses_have_not_seen_is_found(
    ladder: WitnessedLadder,
) -> None:
    forge(other_games)
    checks = {finding.check for finding in ladder.audit().findings}
    assert {Check.WITNESSES, Check.SPLIT_VIEW} <= checks


def test_a_witness_has_an_hour_before_it_is_demanded(
    ladder: WitnessedLadder, monkeypatch: pytest.MonkeyPatch
) -> None:
    withhold_one(ladder)
    monkeypatch.setattr(audited, "GRACE", timedelta(hours=1))
    report = ladder.audit()
    assert report.findings == []
    assert report.quorum.demanded == 0
    assert Check.WITNESSES in {f.check for f in ladder.audit(Trust(quorum=2)).findings}


def test_an_audit_without_witnesses_says_what_it_proves(
    live_server: LiveServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    audit_at_once(monkeypatch)
    ladder = AuditedLadder(live_server.url, tmp_path / "audit")
    ladder.play()
    code, output = run(ladder)
    assert code == 0, output
    assert "The log names no witness." in output
    assert "not that others see the same log" in output
    code, output = run(ladder, "--quorum", "1")
    assert code == 1
    assert "0 witnesses have cosigned" in output


def test_an_audit_looks_at_the_witness_of_this_machine(
    ladder: WitnessedLadder,
) -> None:
    folder = ladder.folder / "witness"
    with LadderClient(Login(ladder.url, "")) as client:
        Witness(folder, witness_key(folder, "me"), client.log_file).look()
    assert run(ladder)[0] == 0
    forge(other_games)
    assert "split-view: the witness saw other leaves" in run(ladder)[1]


def test_a_restored_log_is_cosigned_anew(ladder: WitnessedLadder) -> None:
    row = Cosignature.objects.get(witness=NAMES[0])
    Cosignature.objects.update(origin="another/log", size=row.size + 1000)
    cosignatures.accept(row.checkpoint + row.line)
    again = Cosignature.objects.get(witness=NAMES[0])
    assert (again.origin, again.size) == (row.origin, row.size)
