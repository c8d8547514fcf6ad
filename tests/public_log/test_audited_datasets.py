"""`torres audit` compares the manifests of datasets with the log."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pytest_django.live_server_helper import LiveServer

from ladder.events.models import Fact
from ladder.extras.datasets.export import write_dataset
from ladder.extras.datasets.published import MANIFEST
from tests.public_log.audited import AuditedLadder, audit_at_once
from torres.auditing.findings import Check
from torres.tlog.leaves import LeafKind

pytestmark = [
    pytest.mark.usefixtures("data_dir", "committed_decks", "scripted_players"),
    pytest.mark.django_db(transaction=True),
]
DAY, NEXT_DAY = "2026-11-25", "2026-11-26"


@pytest.fixture
def root(tmp_path: Path, settings: Any) -> Path:
    settings.TORRES_DATASETS = str(tmp_path / "datasets")
    return tmp_path / "datasets"


@pytest.fixture
def service(
    live_server: LiveServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    root: Path,
) -> AuditedLadder:
    audit_at_once(monkeypatch)
    service = AuditedLadder(live_server.url, tmp_path / "audit")
    service.play()
    write_dataset(root, DAY)
    service.advance()
    return service


def test_honest_datasets_have_no_findings(service: AuditedLadder, root: Path) -> None:
    assert service.audit().findings == []
    service.play()
    write_dataset(root, NEXT_DAY)
    service.advance()
    assert service.audit().findings == []


def exchange_a_checksum(root: Path) -> None:
    path = root / DAY / MANIFEST
    manifest = json.loads(path.read_text())
    manifest["tables"]["games"]["files"][0]["sha256"] = "0" * 64
    path.write_text(json.dumps(manifest))


def publish_in_secret(root: Path) -> None:
    write_dataset(root, NEXT_DAY)
    waiting = Fact.objects.filter(leaf_kind=LeafKind.DATASET_PUBLISHED, number=None)
    assert waiting.delete()[0] == 1


def publish_twice(root: Path) -> None:
    """Show the dataset of a day under the name of another day."""
    (root / DAY).rename(root / NEXT_DAY)


ACTS = [exchange_a_checksum, publish_in_secret, publish_twice]


@pytest.mark.parametrize("act", ACTS, ids=lambda each: each.__name__)
def test_manipulated_datasets_are_found(
    service: AuditedLadder, root: Path, act: Callable[[Path], None]
) -> None:
    act(root)
    service.advance()
    assert Check.DATASETS in service.found()
