"""A host plays one trial: the code in the sandbox, against a house bot in another."""

import secrets
import socket
import threading
from collections.abc import Callable
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

import structlog
from django.conf import settings
from django.db import Error, connection

from engine.referee import Move
from ladder.bots import players
from ladder.common.fixed_query import FixedQuery, any_of, row_of
from ladder.common.scratch import scratch_folder
from ladder.common.storable import storable
from ladder.extras.editor import selectors, services
from ladder.extras.editor.models import TrialGame, TrialStatus
from ladder.extras.editor.services import LIMITS, SEATS, TrialClaim
from ladder.extras.practice import selectors as practice
from ladder.extras.practice.host import BOT_NICENESS, HostedGame, open_bot
from ladder.extras.practice.models import PracticeGame
from ladder.games import replays
from ladder.games.attempts import LEASE
from ladder.games.worker.lease_keeper import DEADLINE, LeaseKeeper
from torres.checking.forms import GameForm
from torres.checking.games import GameSettings, play_form
from torres.checking.judgement import judge
from torres.common.shorten import shorten
from torres.runner import languages
from torres.runner.protocol import SHOWN_STDERR_BYTES
from torres.runner.sandbox import LEVELS, Level, Program, SandboxUnavailable

MAX_S = 60.0
TOO_LONG = (
    f"The game was stopped after {MAX_S:.0f} seconds. Let your bot answer faster, or"
    " choose another opponent."
)
UNSAFE = (
    "The host of games by hand cannot run this code safely now, so it did not run. The"
    " operator finds the reason in the log of the host."
)
FAILED = "The service failed to play this game. Run it again, or against another bot."

log = structlog.get_logger()


class TrialStopped(Exception):
    """The trial must not go on: it takes too long, or its host stops."""


def source() -> Callable[[], HostedGame | None] | None:
    """Return the function that begins trials for a host; None if the editor is off."""
    return begin_next if settings.TORRES_TRIALS_PER_HOUR else None


def waits() -> bool:
    """True if a game by hand or a trial waits for a host; one statement for both."""
    return bool(_WAITS.rows()[0][0])


_WAITS = FixedQuery(
    lambda: row_of(
        any_of(
            PracticeGame.objects.filter(practice.claimable()),
            TrialGame.objects.filter(status=TrialStatus.WAITING),
        )
    )
)


def begin_next() -> HostedGame | None:
    """Claim the next trial and play it in a thread; return None if none waits."""
    held = services.claim(socket.gethostname()[:80])
    if held is None:
        return None
    keeper = LeaseKeeper(
        f"trial {held.pk}", partial(held.renew, LEASE), deadline_s=MAX_S
    )
    thread = threading.Thread(
        target=play, args=(held, keeper), name=f"trial {held.pk}", daemon=True
    )
    keeper.start()
    thread.start()
    return HostedGame(thread, keeper, is_trial=True)


def play(held: TrialClaim, keeper: LeaseKeeper) -> None:
    """Play a trial and store its result. Never raises."""
    try:
        outcome = _outcome(held, keeper)
        connection.close()  # it may have been idle for long
        services.end(held, **outcome)
    except Error as error:  # the lease ends, and the dispatcher ends the trial
        log.warning("cannot end trial", trial=held.pk, error=str(error))
    finally:
        keeper.close()
        connection.close()


def _outcome(held: TrialClaim, keeper: LeaseKeeper) -> dict[str, Any]:
    """Return the values of a trial that has ended, also if it could not be played."""
    failed = {"status": TrialStatus.FAILED}
    try:
        trial = held.row().select_related("opponent").defer("replay").get()
        return {"status": TrialStatus.FINISHED, **_played(trial, keeper)}
    except TrialStopped:
        too_long = keeper.stop_reason == DEADLINE
        return {**failed, "note": TOO_LONG if too_long else services.INTERRUPTED}
    except SandboxUnavailable as why:
        log.warning("trial cannot run", trial=held.pk, why=str(why))
        return {**failed, "note": UNSAFE}
    except Exception:  # the one boundary: a damaged row fails alone
        log.exception("trial failed", trial=held.pk)
        return {**failed, "note": FAILED}


def _played(trial: TrialGame, keeper: LeaseKeeper) -> dict[str, Any]:
    """Play the game. Raises TrialStopped, and SandboxUnavailable.

    Clocks in doubt count against the code: nothing is at stake, and no one waits for a
    second attempt.
    """

    def watch(_: Move) -> None:
        if keeper.stopped.is_set():
            raise TrialStopped

    level = cast("Level", settings.TORRES_SANDBOX)
    if trial.guest:
        level = max(level, "full", key=LEVELS.index)
    form = GameForm(trial.ruleset, SEATS, LIMITS)
    seed = secrets.token_hex(16)
    with TemporaryDirectory(dir=scratch_folder(), prefix="trial-") as folder:
        game_settings = GameSettings(
            _program(trial, Path(folder)),
            players.sandbox_at(level),
            watch,
            Path(folder) / "stderr",
            strict_clock=True,
        )
        house_bot = selectors.version_of(trial.opponent)
        opponent = open_bot(house_bot, LIMITS.as_dict())
        game = play_form(game_settings, form, seed, trial.seat, opponent)
    names = [trial.opponent.name] * SEATS
    names[trial.seat] = "Your code"
    document = game.record.replay(seed=seed, players=[{"name": name} for name in names])
    return {
        "result": document["result"],
        "findings": storable([asdict(finding) for finding in judge([game])]),
        "log": storable(shorten(game.stderr, SHOWN_STDERR_BYTES)),
        "replay": replays.pack(document),
    }


def _program(trial: TrialGame, folder: Path) -> Program:
    """Write the code to a file, and return its program."""
    _, file_name = selectors.LANGUAGES[trial.language]
    files = folder / "bot"
    files.mkdir(0o755)
    (files / file_name).write_bytes(trial.source.encode())
    return replace(languages.locate(files), niceness=BOT_NICENESS)
