"""The log continues under its own key only, whichever process keeps it."""

from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from pytest_django import Settings

from ladder.dispatch.dispatcher import Dispatcher
from ladder.dispatch.log_keeper import LogKeeper
from ladder.health import signs
from ladder.moderation.models import ServicePart
from ladder.ops import deployment
from ladder.public_log import batches
from ladder.public_log.head_file import HeadFile
from ladder.public_log.keys import LogKeyRefused, load_key
from ladder.public_log.models import DeckBatch, LogHead, LogLeaf
from ladder.public_log.sequencer import sequence
from ladder.service import service_parts
from tests.public_log.factories import advance, of_kind, planned, played
from torres.tlog.leaves import LeafKind
from torres.tlog.notes import SigningKey

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("data_dir", "committed_decks", "scripted_players"),
]


def everything() -> list[Any]:
    """Return all that the key decides about."""
    models = (LogHead, DeckBatch, LogLeaf)
    return [list(model.objects.order_by("pk").values()) for model in models]


@pytest.fixture
def other(data_dir: Path, settings: Settings) -> Path:
    """Begin a log, and move to the empty folder of another process."""
    played()
    settings.DATA_DIR = data_dir.with_name("other")
    return settings.DATA_DIR


@pytest.mark.parametrize("has", ["no key", "another key"])
def test_a_process_without_the_key_signs_nothing(
    other: Path, data_dir: Path, has: str
) -> None:
    before = everything()
    match = planned()
    if has == "another key":
        other.mkdir()
        (other / "log.key").write_text(SigningKey.generate("localhost/log").dump())
    keeper = LogKeeper()
    for attempt in (lambda: advance(keeper), load_key, keeper.check_key):
        with pytest.raises(LogKeyRefused, match="TORRES_LOG_KEY") as refused:
            attempt()
        assert LogHead.objects.get().key in str(refused.value)
    assert everything() == before
    assert (other / "log.key").exists() == (has == "another key")

    other.mkdir(exist_ok=True)
    (other / "log.key").write_text((data_dir / "log.key").read_text())
    advance(keeper)
    match.refresh_from_db()
    assert match.seed
    assert LogHead.objects.get().key == before[0][0]["key"]


def test_the_log_begins_before_the_first_secret_follows_from_its_key(
    monkeypatch: pytest.MonkeyPatch, data_dir: Path, settings: Settings
) -> None:
    """The first process died between its first batch and the first signature."""

    def die(*_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("ladder.dispatch.log_keeper.sequence", die)
    with pytest.raises(KeyboardInterrupt):
        advance()
    monkeypatch.undo()
    assert DeckBatch.objects.exists()
    settings.DATA_DIR = data_dir.with_name("other")
    with pytest.raises(LogKeyRefused):
        advance()
    settings.DATA_DIR = data_dir
    advance()
    assert len(of_kind(LeafKind.LOG_STARTED)) == 1
    assert len(of_kind(LeafKind.BATCH_COMMITTED)) == 1


def test_a_secret_of_another_key_is_never_revealed() -> None:
    """A service whose key was replaced by an older version of this program."""
    played()
    DeckBatch.objects.update(commitment="0" * 64, matches=batches.MATCHES)
    with pytest.raises(LogKeyRefused, match="batch 1"):
        load_key()


def test_two_processes_that_begin_at_once_agree(
    data_dir: Path, settings: Settings
) -> None:
    first = load_key()
    settings.DATA_DIR = data_dir.with_name("other")
    with pytest.raises(LogKeyRefused):
        load_key()
    assert LogHead.objects.get().key == str(first.signing.verifier)


def test_a_dispatcher_without_the_key_does_not_lead_and_says_so(
    other: Path, data_dir: Path
) -> None:
    def problems() -> dict[str, str]:
        return {sign.part: sign.problem for sign in signs.look() if sign.problem}

    before = everything()
    dispatcher = Dispatcher()
    dispatcher.run(Stop(after=2))
    assert everything() == before
    assert not ServicePart.objects.filter(name=service_parts.DISPATCHER).exists()
    for part in ("log key", "dispatcher"):
        assert "does not have the key of the public log" in problems()[part]
    assert LogHead.objects.get().key in signs.log_key().advice
    other.mkdir(exist_ok=True)
    (other / "log.key").write_text((data_dir / "log.key").read_text())
    dispatcher.run(Stop(after=2))
    assert not problems().keys() & {"log key"}


class Stop:
    """An event that is set after some waits, which take no time."""

    def __init__(self, after: int) -> None:
        self._left = after

    def is_set(self) -> bool:
        return self._left <= 0

    def wait(self, _timeout: float | None = None) -> bool:
        self._left -= 1
        return self.is_set()


def test_the_deployment_check_finds_a_missing_key(other: Path) -> None:
    def ids() -> list[str]:
        return [str(message.id) for message in deployment.check_log_key()]

    assert ids() == ["deployment.I001"]
    other.mkdir()
    (other / "log.key").write_text(SigningKey.generate("localhost/log").dump())
    assert ids() == ["deployment.E008"]


def test_the_deployment_check_accepts_the_key_and_a_service_without_a_log() -> None:
    assert list(deployment.check_log_key()) == []
    load_key()
    assert list(deployment.check_log_key()) == []


def test_the_command_makes_a_key_before_the_first_start(
    data_dir: Path, tmp_path: Path, settings: Settings, capsys: pytest.CaptureFixture
) -> None:
    file = tmp_path / "new.key"
    settings.TORRES_LOG_ORIGIN = "ladder.example.org/log"
    call_command("log_key", make=file)
    assert file.stat().st_mode & 0o777 == 0o600
    with pytest.raises(CommandError, match="exists"):
        call_command("log_key", make=file)
    settings.TORRES_LOG_KEY = str(file)
    advance()
    head = LogHead.objects.get()
    assert head.origin == "ladder.example.org/log"
    assert head.key in capsys.readouterr().out
    call_command("log_key")
    assert head.key in capsys.readouterr().out


def test_after_the_key_was_lost_the_log_continues_under_another_name(
    other: Path,
) -> None:
    before = LogHead.objects.get()
    with pytest.raises(CommandError, match="TORRES_LOG_KEY"):
        call_command("log_key")
    call_command("log_key", lost=True)
    match = planned()
    advance()
    advance()
    head = LogHead.objects.get()
    assert head.origin == f"{before.origin}/2"
    assert head.key != before.key
    (restored,) = of_kind(LeafKind.LOG_RESTORED)
    assert restored["from"] == before.origin
    match.refresh_from_db()
    assert match.batch_id == 2
    assert not of_kind(LeafKind.BATCH_REVEALED)
    with pytest.raises(CommandError, match="fits"):
        call_command("log_key", lost=True)


def test_the_key_can_be_checked_while_the_log_is_signed() -> None:
    key = load_key()
    planned()
    LogHead.objects.update(key=str(SigningKey.generate("localhost/log").verifier))
    with pytest.raises(LogKeyRefused):
        sequence(key, HeadFile.of_service(), lambda _: [])
