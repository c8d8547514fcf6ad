"""The thread that renews a lease while a game is played, and may end the players.

The thread that plays a game never waits for the database. So a slow or absent database
does not slow a game, and no transaction is open while a bot thinks. This module does
not know how a game is played; rated games and games by hand both use it.
"""

import threading
import time
from collections.abc import Callable, Sequence
from typing import Protocol

import structlog
from django.conf import settings
from django.db import Error, connection

from engine.referee import Player
from ladder.common import statement_limits
from torres.runner.verdict import SeatOutput

BEAT_S = 1.0
RENEW_INTERVAL_S = settings.TORRES_LEASE_SECONDS / 3
# If the database does not answer, a game stops this long before its lease ends.
SAFETY_MARGIN_S = settings.TORRES_LEASE_SECONDS / 6
# Used after the game was stopped, until the thread that plays has noticed.
KILL_INTERVAL_S = 0.025

DEADLINE = "deadline: the game took too long"

log = structlog.get_logger()


class SeatPlayer(Player, Protocol):
    """A player that keeps what its bot leaves behind."""

    def output(self) -> SeatOutput:
        """Return stderr and verdict of the bot; empty until it was killed."""


class LeaseKeeper(threading.Thread):
    """Keeps one lease until it is closed, and ends the players if it must.

    Every `beat_s` seconds the thread does this:

    1. Stop the game if its deadline has passed, or if the lease would soon end because
       the database has not answered.
    2. Call `beat`. After RENEW_INTERVAL_S, call `renew`, and stop the game if it
       returns False: the lease is lost.
    3. If the game is stopped, kill the players, so that the thread that plays ends.

    `stopped` is set when the game must not go on, and `stop_reason` then says why.
    """

    def __init__(
        self,
        name: str,
        renew: Callable[[], bool],
        *,
        deadline_s: float,
        beat_s: float = BEAT_S,
    ) -> None:
        super().__init__(name=f"lease of {name}", daemon=True)
        self.stopped = threading.Event()
        self.stop_reason = ""
        self._renew = renew
        self._beat_s = beat_s
        self._players: Sequence[SeatPlayer] = ()
        self._wake = threading.Condition()
        self._closed = False
        self._renewed_at = time.monotonic()
        self._deadline = self._renewed_at + deadline_s

    def guard(self, players: Sequence[SeatPlayer]) -> None:
        """Set the players that are killed if the game is stopped."""
        self._players = players

    def stop(self, reason: str) -> None:
        """End the game now, from any thread. Only the first reason is kept."""
        with self._wake:
            self.stop_reason = self.stop_reason or reason
            self.stopped.set()
            self._wake.notify()

    def close(self) -> None:
        """End the thread and wait for its end. Idempotent."""
        with self._wake:
            self._closed = True
            self._wake.notify()
        self.join()

    def run(self) -> None:
        try:
            while not self._wait():
                self._keep()
                if self.stopped.is_set():
                    self._kill_players()
        finally:
            connection.close()

    def beat(self) -> None:
        """Do more in each beat. It may raise an error of the database."""

    def _wait(self) -> bool:
        """Wait until the next beat; return True if the keeper was closed."""
        with self._wake:
            if not self._closed:
                stopped = self.stopped.is_set()
                self._wake.wait(KILL_INTERVAL_S if stopped else self._beat_s)
            return self._closed

    def _keep(self) -> None:
        now = time.monotonic()
        since_renewal_s = now - self._renewed_at
        if now > self._deadline:
            self.stop(DEADLINE)
        if since_renewal_s > settings.TORRES_LEASE_SECONDS - SAFETY_MARGIN_S:
            self.stop("the database did not answer")
        if self.stopped.is_set():
            return
        try:
            self.beat()
            if since_renewal_s >= RENEW_INTERVAL_S:
                if not self._renew():
                    self.stop("the lease was lost")
                self._renewed_at = now
        except Error as error:
            # The next beat tries again, until the lease is about to end.
            cut_off = statement_limits.met_by(error)
            log.warning(
                "cannot renew lease", thread=self.name, error=str(error), **cut_off
            )
        connection.close()

    def _kill_players(self) -> None:
        for player in self._players:
            try:
                player.kill()
            except (OSError, ValueError) as error:
                # The thread that plays may be ending the same player now.
                log.debug("player was ending", thread=self.name, error=str(error))
