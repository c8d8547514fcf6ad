"""Ask the seats of spot checks again: a worker does one after the other."""

import json
from contextlib import closing
from datetime import timedelta
from functools import partial
from typing import NamedTuple

import structlog
from django.conf import settings
from django.db import connection
from django.db.models import F
from django.db.models.functions import Now

from engine.referee import PlayerFault
from engine.replay_format import InvalidReplay
from ladder.bots import players
from ladder.bots.models import PRIVATE
from ladder.common import leases
from ladder.common.leases import Held
from ladder.extras.spot_checks import selectors
from ladder.extras.spot_checks.models import SpotCheck, SpotCheckVerdict
from ladder.games import replays
from ladder.games.models import MAX_REASON_CHARS
from ladder.games.shares import deadline_s
from ladder.games.worker import registry
from ladder.games.worker.lease_keeper import LeaseKeeper, Stopped
from torres.checking.playback import Difference, compare

MAX_ATTEMPTS = 3
LEASE = timedelta(seconds=settings.TORRES_LEASE_SECONDS)

log = structlog.get_logger()


class _Finding(NamedTuple):
    verdict: SpotCheckVerdict
    note: str = ""


def run_next() -> bool:
    """Do the spot check whose turn it is; return False if this host can do none."""
    check = claim()
    if check is None:
        return False
    try:
        finding = _ask_again(check)
    except Exception:  # the one boundary: a failure of this host is not the bot's
        log.exception("spot check failed", game=check.game_id, seat=check.seat)
        _held(check).give_up()
        return True
    log.info("spot check", game=check.game_id, seat=check.seat, verdict=finding.verdict)
    _end(check, finding)
    return True


def claim() -> SpotCheck | None:
    """Take the oldest spot check of a game that another installation played.

    One that was tried too often ends instead.
    """
    installation = registry.installation()
    private = [f"submission__{column}" for column in PRIVATE]
    rows = selectors.claimable(installation)
    for check in rows.select_related("game__match", "submission__bot").defer(
        "game__replay", *private
    ):
        if check.attempts >= MAX_ATTEMPTS:
            _end(check, _Finding(SpotCheckVerdict.FAILED))
            continue
        fence = leases.take(
            selectors.claimable(installation),
            check.pk,
            check.fence,
            LEASE,
            attempts=F("attempts") + 1,
            checked_on=installation,
        )
        if fence is not None:
            check.fence = fence
            return check
    return None


def _ask_again(check: SpotCheck) -> _Finding:
    """Ask the bot once, and after another answer once more."""
    first = _difference(check)
    if isinstance(first, _Finding):
        return first
    second = _difference(check)
    if isinstance(second, _Finding) or _key(second) != _key(first):
        return _Finding(SpotCheckVerdict.VARIES, _note(first))
    return _Finding(SpotCheckVerdict.DISPUTED, _note(first))


def _difference(check: SpotCheck) -> Difference | _Finding:
    """Ask the bot the recorded questions; return the first difference or the verdict.

    Raises Stopped, and what opening a player raises.
    """
    match = check.game.match
    keeper = LeaseKeeper(
        str(check),
        partial(_held(check).renew, LEASE),
        deadline_s=deadline_s(match.limits, match.seats),
    )
    replay = json.loads(replays.unpack(bytes(check.replay or b"")))
    bot = players.open_player(check.submission, match.limits)
    keeper.guard([bot])
    connection.close()  # no connection is held while a bot thinks
    keeper.start()
    with closing(keeper):
        try:
            repeated = compare(replay, check.seat, bot, match.limits)
        except InvalidReplay as error:
            return _Finding(SpotCheckVerdict.DISPUTED, f"The replay is wrong: {error}")
        finally:
            bot.kill()
    if keeper.stopped.is_set():
        raise Stopped(keeper.stop_reason)
    return repeated.difference or _Finding(SpotCheckVerdict.SAME)


def _key(difference: Difference) -> tuple[int | None, object]:
    """Return what two equal differences have in common: the ply and the answer."""
    given = difference.given
    answer = given.reason if isinstance(given, PlayerFault) else given
    return (difference.ask.ply if difference.ask else None, answer)


def _note(difference: Difference) -> str:
    return (
        f"At {difference.where()}: in the game {difference.recorded_text()}; asked"
        f" again {difference.given_text()}"
    )


def _held(check: SpotCheck) -> Held[SpotCheck]:
    return Held(selectors.open_rows(), check.pk, check.fence)


def _end(check: SpotCheck, finding: _Finding) -> None:
    _held(check).update(
        verdict=finding.verdict,
        note=finding.note[:MAX_REASON_CHARS],
        replay=None,
        ended_at=Now(),
        lease_until=None,
    )
