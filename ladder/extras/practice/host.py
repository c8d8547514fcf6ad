"""The host of practice games: one thread for each game, and one that claims them.

A host needs no messages. It asks the database twice a second for a game that waits, as
long as one of its slots is free. A person who thinks holds a slot of the host, and
never one of the ladder's workers.
"""

import math
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import structlog
from django.db import Error, connection

from ladder.bots import players
from ladder.common import statement_limits
from ladder.extras.practice import claims
from ladder.extras.practice.claims import PracticeClaim
from ladder.extras.practice.models import PracticeGame
from ladder.extras.practice.play import HOST_STOPS, game_deadline_s, play
from ladder.games.attempts import LEASE
from ladder.games.worker.lease_keeper import LeaseKeeper
from ladder.games.worker.play import OpenPlayer
from ladder.service import service_parts

CLAIM_INTERVAL_S = 0.5
STOP_TIMEOUT_S = 5.0

BOT_NICENESS = 10
"""A person does not notice if a bot waits for a processor, but a game of the ladder
takes longer. With 10 a bot gets a tenth of what a bot of the ladder gets."""

log = structlog.get_logger()

open_bot = partial(players.open_player, niceness=BOT_NICENESS)


@dataclass(frozen=True, slots=True)
class HostedGame:
    """A game that runs in this host."""

    thread: threading.Thread
    keeper: LeaseKeeper
    of_guest: bool = False
    is_trial: bool = False


class PracticeHost:
    """Plays `slots` practice games at once until `stop` is set.

    It calls `goes_on` before it looks for games. With `begin_trial`, which begins the
    next trial of the editor, one slot is for trials. A trial takes a minute at most, so
    that neither waits long for the other if there is only one slot: they take turns.
    Unless `waits` says that a game or a trial may wait, it does not look for them.
    """

    def __init__(
        self,
        slots: int,
        open_player: OpenPlayer = open_bot,
        goes_on: Callable[[], None] = lambda: None,
        begin_trial: Callable[[], HostedGame | None] | None = None,
        waits: Callable[[], bool] = lambda: True,
    ) -> None:
        self._slots = slots
        self._begin_trial = begin_trial
        self._trials = 0 if begin_trial is None else 1
        self._last_was_trial = False
        self._open_player = open_player
        self._goes_on = goes_on
        self._waits = waits
        self._games: list[HostedGame] = []
        self._reported_at = float("-inf")

    def run(self, stop: threading.Event) -> None:
        """Claim and play. At the end all games are left to the next host."""
        try:
            while not stop.is_set():
                self._goes_on()
                self._step()
                connection.close_if_unusable_or_obsolete()
                stop.wait(CLAIM_INTERVAL_S)
        finally:
            self._close()

    def _step(self) -> None:
        self._games = [game for game in self._games if game.thread.is_alive()]
        try:
            self._report()
            if len(self._games) == self._slots or not self._waits():
                return
            while len(self._games) < self._slots:
                game = self._next()
                if game is None:
                    return
                self._games.append(game)
                self._last_was_trial = game.is_trial
        except Error as error:
            cut_off = statement_limits.met_by(error)
            log.warning("cannot claim practice games", error=str(error), **cut_off)

    def _next(self) -> HostedGame | None:
        """Begin the game or the trial that is next; return None if none can begin."""
        if self._last_was_trial:
            return self._next_game() or self._next_trial()
        return self._next_trial() or self._next_game()

    def _next_trial(self) -> HostedGame | None:
        if self._begin_trial is None or any(game.is_trial for game in self._games):
            return None
        return self._begin_trial()

    def _next_game(self) -> HostedGame | None:
        """Guests leave one slot to users, unless it is the only one."""
        games = [game for game in self._games if not game.is_trial]
        slots = max(1, self._slots - self._trials)
        if len(games) >= slots:
            return None
        guests = sum(game.of_guest for game in games)
        claim = claims.claim(
            socket.gethostname()[:80], of_guests=guests < max(1, slots - 1)
        )
        return None if claim is None else self._begin(claim)

    def _report(self) -> None:
        """Let the pages and `manage.py status` see that a host runs."""
        now = time.monotonic()
        if now - self._reported_at >= service_parts.REPORT_INTERVAL_S:
            self._reported_at = now
            service_parts.report(service_parts.PRACTICE)

    def _begin(self, claim: PracticeClaim) -> HostedGame:
        game = PracticeGame.objects.defer("replay").get(pk=claim.pk)
        try:
            deadline_s = game_deadline_s(game)
        except (ArithmeticError, LookupError, TypeError, ValueError):
            deadline_s = math.inf  # the row is damaged: `play` ends the game
        keeper = LeaseKeeper(
            f"practice game {claim.pk}",
            partial(claim.renew, LEASE),
            deadline_s=deadline_s,
        )
        thread = threading.Thread(
            target=play,
            args=(claim, keeper, self._open_player),
            name=f"practice game {claim.pk}",
            daemon=True,
        )
        keeper.start()
        thread.start()
        return HostedGame(thread, keeper, of_guest=bool(game.guest))

    def _close(self) -> None:
        """Stop the games, so that the next host goes on with them, and sign off."""
        for game in self._games:
            game.keeper.stop(HOST_STOPS)
        for game in self._games:
            game.thread.join(STOP_TIMEOUT_S)
        try:
            service_parts.sign_off(service_parts.PRACTICE)
        except Error as error:
            log.warning("cannot sign off", error=str(error))
        connection.close()
