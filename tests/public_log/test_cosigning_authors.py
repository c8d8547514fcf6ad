"""`torres login` and `torres submit` cosign the log with a key of the machine."""

import os
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from socket import create_server

import pytest
from click.testing import CliRunner, Result
from pytest_django import Settings
from pytest_django.live_server_helper import LiveServer

from ladder.accounts import tokens
from ladder.public_log.models import Cosignature
from tests.public_log.audited import AuditedLadder
from tests.public_log.test_audit import forge, other_games
from torres.auditing.mirror import AuditFailed
from torres.auditing.witness import LOCK, Witness, witness_key
from torres.cli import cosign
from torres.cli.client import LadderClient, Login
from torres.cli.cosign import witness_folder
from torres.cli.main import torres
from torres.common.locks import lock
from torres.tlog.notes import SigningKey, VerifierKey, parse_note

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("data_dir", "committed_decks", "scripted_players"),
]


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "bot.py").write_text("print()\n")


@pytest.fixture
def ladder(live_server: LiveServer, tmp_path: Path) -> AuditedLadder:
    ladder = AuditedLadder(live_server.url, tmp_path / "audit")
    ladder.play()
    return ladder


def login(ladder: AuditedLadder, *options: str) -> Result:
    token = tokens.token_for("ana")
    result = CliRunner().invoke(
        torres, ["login", ladder.url, "--token", token, *options]
    )
    assert result.exit_code == 0, result.output
    return result


def submit(*options: str) -> Result:
    words = ["submit", "bot.py", "--no-check", "--no-wait", *options]
    result = CliRunner().invoke(torres, words)
    assert result.exit_code == 0, result.output
    return result


def machine_key(ladder: AuditedLadder) -> VerifierKey:
    text = (witness_folder(ladder.url) / "witness.key").read_text()
    return SigningKey.parse(text).verifier


def test_login_and_submit_cosign_with_a_private_key(
    ladder: AuditedLadder, settings: Settings
) -> None:
    assert login(ladder).stderr == ""
    folder = witness_folder(ladder.url)
    first = (folder / "checkpoint").read_text()
    key = machine_key(ladder)
    assert key.signed(parse_note(first))
    assert (folder / "witness.key").stat().st_mode & 0o777 == 0o600
    settings.TORRES_WITNESSES = [str(key)]
    ladder.play()
    assert submit().stderr == ""
    assert machine_key(ladder) == key
    row = Cosignature.objects.get(witness=key.name)
    assert (folder / "checkpoint").read_text() == row.checkpoint + row.line
    assert row.checkpoint not in first


@pytest.mark.parametrize("where", ["login", "submit", "environment"])
def test_an_author_may_opt_out(
    ladder: AuditedLadder, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    if where == "environment":
        monkeypatch.setenv("TORRES_COSIGN", "0")
    login(ladder, *(["--no-cosign"] if where != "environment" else []))
    submit(*(["--no-cosign"] if where == "submit" else []))
    assert not witness_folder(ladder.url).exists()
    monkeypatch.delenv("TORRES_COSIGN", raising=False)
    submit("--cosign")
    assert (witness_folder(ladder.url) / "checkpoint").exists()


def test_a_forked_log_gets_no_second_cosignature_and_the_upload_succeeds(
    ladder: AuditedLadder,
) -> None:
    login(ladder)
    folder = witness_folder(ladder.url)
    before = (folder / "checkpoint").read_text()
    forge(other_games)
    result = submit()
    assert "is uploaded" in result.stdout
    assert result.stderr.startswith("torres: the public log was not cosigned: ")
    assert "it was forked" in result.stderr
    assert result.stderr.count("\n") == 1
    assert (folder / "checkpoint").read_text() == before


def test_a_damaged_checkpoint_is_not_forgotten(ladder: AuditedLadder) -> None:
    login(ladder)
    file = witness_folder(ladder.url) / "checkpoint"
    file.write_bytes(b"\xff")
    assert "Nothing was signed" in submit().stderr
    assert file.read_bytes() == b"\xff"


def test_an_installation_that_cannot_sign_speaks_only_if_asked(
    ladder: AuditedLadder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(_name: str) -> None:
        raise ModuleNotFoundError(name="cryptography")

    monkeypatch.setitem(sys.modules, "cryptography", None)
    monkeypatch.setattr(cosign, "import_module", missing)
    assert login(ladder).stderr == ""
    assert submit().stderr == ""
    assert "torres-ladder[audit]" in submit("--cosign").stderr


@pytest.fixture
def silent_service() -> Iterator[str]:
    """Accept connections, and never answer."""
    with closing(create_server(("127.0.0.1", 0))) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}"


def test_a_service_cannot_hold_up_the_command(
    silent_service: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(cosign, "TIMEOUT_S", 0.1)
    cosign.cosign(silent_service, wanted=False)
    assert "did not send it within" in capsys.readouterr().err


def test_a_service_without_a_log_is_no_problem(
    live_server: LiveServer, capsys: pytest.CaptureFixture[str]
) -> None:
    cosign.cosign(live_server.url, wanted=False)
    assert capsys.readouterr().err == ""


def test_two_processes_never_look_at_the_same_time(
    ladder: AuditedLadder, tmp_path: Path
) -> None:
    """Otherwise each could sign a tree that does not fit to the other's."""
    folder = tmp_path / "witness"
    held = []
    with LadderClient(Login(ladder.url, "")) as client:

        def fetch(path: str) -> bytes:
            if folder.joinpath(LOCK).exists():
                with pytest.raises(BlockingIOError):
                    os.close(lock(folder / LOCK))
                held.append(path)
            return client.log_file(path)

        Witness(folder, witness_key(folder, "ana"), fetch).look()
    assert held == ["checkpoint"]


def test_a_tile_that_is_too_long_is_refused(
    ladder: AuditedLadder, tmp_path: Path
) -> None:
    folder = tmp_path / "witness"
    with LadderClient(Login(ladder.url, "")) as client:

        def fetch(path: str) -> bytes:
            more = b"\0" * 32 if path.startswith("tile/") else b""
            return client.log_file(path) + more

        witness = Witness(folder, witness_key(folder, "ana"), fetch)
        witness.look()
        ladder.play()
        with pytest.raises(AuditFailed, match="bad tile"):
            witness.look()
