"""Every format with real sandboxed games, and with everything that can go wrong.

There are five entrants, an odd number: two that only play, one that crashes in its
first game, one that answers with illegal actions, and one that is withdrawn. A worker
is killed with SIGKILL during a game.
"""

import io
import os
import signal
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.db import connection
from django.utils import timezone

from ladder.bots import services as bots, submissions
from ladder.bots.models import Bot, Submission
from ladder.games import attempts
from ladder.games.models import Game, GameStatus
from ladder.tournaments import services
from ladder.tournaments.models import Tournament, TournamentStatus
from tests.tournaments.factories import FORMATS, play_out, standings, tournament
from torres.runner.sandbox import SandboxUnavailable, open_sandbox

PROGRAMS = Path(__file__).parent.parent / "runner" / "programs"
PROGRAM_OF = {
    "mason": "first.py",
    "crasher": "exit_after_answer.py",
    "leaver": "first.py",
    "cheat": "illegal.py",
    "twin": "first.py",
}
WORKER = """
import django
django.setup()
import sys
from ladder.games.worker import registry
from ladder.games.worker.play import play
play(int(sys.argv[1]), registry.register(registry.WorkerInfo(versions={}, slots=1)))
"""

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.sandbox,
]


@pytest.fixture(autouse=True)
def _full(data_dir: Path) -> None:
    try:
        open_sandbox("full").close()
    except SandboxUnavailable as error:
        if os.environ.get("TESTS_REQUIRE_ALL") == "1":
            raise
        pytest.skip(str(error))


def uploaded(slug: str, program: str) -> Bot:
    """Create a bot from a real program, without its validation."""
    owner = User.objects.create(username=f"owner-of-{slug}")
    bot = bots.create_bot(owner, slug)
    source = (PROGRAMS / program).read_bytes() + f"\n# {slug}\n".encode()
    submission = submissions.submit(bot, io.BytesIO(source), "bot.py")
    Submission.objects.filter(pk=submission.pk).update(
        status=Submission.Status.READY, ready_at=timezone.now()
    )
    return bot


def kill_a_worker_in_a_game() -> None:
    """Let another process play the next game, and kill that process in the game."""
    game = Game.objects.filter(status=GameStatus.SCHEDULED).order_by("pk")[0]
    name = connection.settings_dict["NAME"]
    worker = subprocess.Popen(
        [sys.executable, "-c", WORKER, str(game.pk)],
        env={
            **os.environ,
            "DATABASE_URL": f"sqlite:///{name}",
            "TORRES_DATA": str(settings.DATA_DIR),
            "DJANGO_SETTINGS_MODULE": "ladder.settings",
        },
        stderr=subprocess.DEVNULL,
    )
    never = Event()
    while worker.poll() is None:
        status = Game.objects.values_list("status", flat=True).get(pk=game.pk)
        if status == GameStatus.RUNNING:
            break
        never.wait(0.01)
    worker.send_signal(signal.SIGKILL)
    worker.wait()
    # Let its lease expire now instead of in half a minute.
    running = Game.objects.filter(pk=game.pk, status=GameStatus.RUNNING)
    assert running.update(lease_until=timezone.now() - timedelta(seconds=1)) == 1
    assert attempts.reap() == [game.pk]


@pytest.mark.slow
@pytest.mark.parametrize("config", FORMATS, ids=lambda c: str(c["format"]))
def test_every_format_ends_whatever_breaks(config: dict[str, Any]) -> None:
    row = tournament(config)
    for slug, program in PROGRAM_OF.items():
        services.enter(row, uploaded(slug, program))
    services.start(row)

    def interfere(row: Tournament, turn: int) -> None:
        if turn:
            return
        if connection.vendor == "sqlite":
            kill_a_worker_in_a_game()
        services.withdraw(row.entrants.get(bot__slug="leaver"))

    row = play_out(row, interfere)
    lines = standings(row).lines

    assert row.status == TournamentStatus.FINISHED
    assert row.entrants.get(bot__slug="leaver").note == "withdrew"
    assert len(lines) == 5
    assert lines[0].rank == 1
    crashed = Game.objects.filter(seats__fault="crash", status=GameStatus.FINISHED)
    assert crashed.exists()
    best = row.entrants.get(pk=lines[0].key).bot.slug
    assert best in ("mason", "twin", "leaver")
    lost = Game.objects.filter(attempts__outcome="failed")
    assert all(game.status == GameStatus.FINISHED for game in lost)
