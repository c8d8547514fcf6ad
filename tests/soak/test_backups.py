"""A backup of a busy service, restored into an empty installation.

The service has finished 2,000 games and goes on. The restored one plays the games again
that were open, and must be sound; its ledger begins with that of the backup.
"""

import time
from pathlib import Path

import pytest

from tests.soak.factories import Fleet, fleet, is_sound, wait_for_work

pytestmark = pytest.mark.usefixtures("_servers")
APP = "ladder.ops.chaos.celery"  # scripted players: a game takes milliseconds
GAMES = 2000
BOTS = 40
PLAY_TIMEOUT_S = 1200
PACKAGES = (
    "from django.core.files.base import ContentFile",
    "from django.core.files.storage import storages",
    "from ladder.bots.models import Submission",
    "rows = Submission.objects.all()",
    "[storages['bots'].save(row.package, ContentFile(b'zip')) for row in rows]",
)
"""The bots are scripted, so nobody reads these files."""
LEDGER = (
    "SELECT season_id, seq, kind, game_id, bot_id, inputs::text, changes::text"
    " FROM ratings_entry ORDER BY season_id, seq"
)


def finished(service: Fleet) -> int:
    return service.ask("SELECT COUNT(*) FROM games_game WHERE status = 'finished'")[0][
        0
    ]


def size_mib(folder: Path) -> float:
    return sum(path.stat().st_size for path in folder.rglob("*")) / (1 << 20)


def test_a_backup_of_a_busy_service_is_whole_elsewhere(tmp_path: Path) -> None:
    folder = tmp_path / "backup"
    with fleet(app=APP) as service, fleet(app=APP) as other:
        service.open([(), ()], slots=4, bots=BOTS)
        service.shell(*PACKAGES)
        service.until(lambda: finished(service) >= GAMES, PLAY_TIMEOUT_S)
        before = finished(service)
        began = time.monotonic()
        service.manage("backup", str(folder))
        saved_s = time.monotonic() - began
        played_meanwhile = finished(service) - before
        wait_for_work(service)
        assert is_sound(service.settle())

        began = time.monotonic()
        report = other.manage("restore", str(folder))
        restored_s = time.monotonic() - began
        restored = finished(other)
        ledger = other.ask(LEDGER)
        assert other.ask("SELECT COUNT(*) FROM ratings_rating")[0][0] == BOTS
        assert service.ask(LEDGER)[: len(ledger)] == ledger
        assert restored >= GAMES

        other.start([()], slots=4)
        assert is_sound(other.settle())
        checked = other.manage("rebuild_ratings", "--check")
        played_again = finished(other) - restored

    print(
        f"saved {restored} games in {saved_s:.1f} s ({size_mib(folder):.1f} MiB), while"
        f" {played_meanwhile} others finished; restored in {restored_s:.1f} s, then"
        f" played {played_again} open games\n{report}\n{checked}"
    )
    assert played_again > 0
