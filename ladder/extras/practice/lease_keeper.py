"""The thread that keeps the lease of a practice game while its seats think."""

import threading
import time
from collections.abc import Sequence

import structlog
from django.db import Error, connection

from ladder.extras.practice import claims
from ladder.extras.practice.claims import PracticeClaim
from ladder.games.attempts import LEASE
from ladder.games.worker.heartbeat import SeatPlayer

RENEW_INTERVAL_S = LEASE.total_seconds() / 3
SAFETY_MARGIN_S = LEASE.total_seconds() / 6
# Used after the game was stopped, until the thread that plays has noticed.
KILL_INTERVAL_S = 0.05

HOST_STOPS = "the host stops"

log = structlog.get_logger()


class LeaseKeeper(threading.Thread):
    """Renews the lease until it is closed, and ends the players if it must.

    `stopped` is set when the game must not go on here: the lease is lost, the game has
    ended, it took too long, or the host stops. Then `reason` says which.
    """

    def __init__(self, claim: PracticeClaim, deadline_s: float) -> None:
        super().__init__(name=f"lease of practice game {claim.game}", daemon=True)
        self.stopped = threading.Event()
        self.reason = ""
        self._claim = claim
        self._players: Sequence[SeatPlayer] = ()
        self._wake = threading.Condition()
        self._closed = False
        self._deadline = time.monotonic() + deadline_s
        self._renewed_at = time.monotonic()

    def guard(self, players: Sequence[SeatPlayer]) -> None:
        """Set the players that are killed if the game is stopped."""
        self._players = players

    def stop(self, reason: str) -> None:
        """Stop the game, from any thread. Only the first reason is kept."""
        with self._wake:
            self.reason = self.reason or reason
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
                if not self.stopped.is_set():
                    self._beat()
                if self.stopped.is_set():
                    self._kill_players()
        finally:
            connection.close()

    def _wait(self) -> bool:
        """Wait until the next beat; return True if the thread is to end."""
        with self._wake:
            if not self._closed:
                stopped = self.stopped.is_set()
                self._wake.wait(KILL_INTERVAL_S if stopped else RENEW_INTERVAL_S)
            return self._closed

    def _beat(self) -> None:
        now = time.monotonic()
        if now > self._deadline:
            self.stop("the game took too long")
            return
        try:
            if claims.renew(self._claim):
                self._renewed_at = now
            else:
                self.stop("the claim was lost, or the game has ended")
        except Error as error:
            log.warning("cannot renew lease", error=str(error))
            if now - self._renewed_at > LEASE.total_seconds() - SAFETY_MARGIN_S:
                self.stop("the database did not answer")
        connection.close()

    def _kill_players(self) -> None:
        for player in self._players:
            try:
                player.kill()
            except (OSError, ValueError) as error:
                # The thread that plays may be ending the same player now.
                log.debug("player was ending", error=str(error))
