"""Keeps the public log: numbers its leaves, signs it, and gives matches their decks."""

from functools import partial

from django.conf import settings

from ladder.games import dealing
from ladder.public_log import batches
from ladder.public_log.head_file import HeadFile
from ladder.public_log.keys import LogKey, find_key, load_key
from ladder.public_log.sequencer import sequence

PREPARE_INTERVAL_S = 1.0
SEQUENCE_INTERVAL_S = 1.0
"""Leaves are numbered together, unless a match waits for its decks."""
REVEAL_INTERVAL_S = 30.0

_NEVER = float("-inf")


class LogKeeper:
    """Holds the key of the log, which no other process reads."""

    def __init__(self) -> None:
        self._key: LogKey | None = None
        self._prepared_at = _NEVER
        self._sequenced_at = _NEVER
        self._revealed_at = _NEVER

    def check_key(self) -> None:
        """Raise LogKeyRefused if the log has a key that this process does not have."""
        find_key()

    def begin(self) -> None:
        """Read the key, and begin the log if there is none. Raises LogKeyRefused."""
        self._key = load_key()

    def advance(
        self, now_s: float, *, leaves_wait: bool = True, matches_wait: bool = True
    ) -> int:
        """Do what is to be done; return how many leaves were numbered.

        `leaves_wait` and `matches_wait` are false if a look found no leaf that waits,
        and no match that waits for decks.

        1. From time to time, commit to the secret of the next batch of decks, and make
           the secrets of ended batches public.
        2. Number the leaves that wait, sign the tree, and give the matches their decks
           whose plans are in the signed tree. If no match waits for decks, the leaves
           of a second are numbered together.

        Raises LogKeyRefused.
        """
        # The first call begins the log if there is none.
        is_first = self._key is None
        if self._key is None:
            self._key = load_key()
        if settings.TORRES_COMMITTED_DECKS and self._keep_batches(self._key, now_s):
            leaves_wait = True
        if now_s - self._sequenced_at < SEQUENCE_INTERVAL_S:
            leaves_wait = False
        if not (is_first or leaves_wait or matches_wait):
            return 0
        self._sequenced_at = now_s
        return sequence(
            self._key, HeadFile.of_service(), partial(dealing.deal, self._key)
        )

    def _keep_batches(self, key: LogKey, now_s: float) -> bool:
        """Return whether leaves may wait because of this."""
        is_new = revealed = False
        if now_s - self._prepared_at >= PREPARE_INTERVAL_S:
            self._prepared_at = now_s
            is_new = batches.prepare(key)
        if now_s - self._revealed_at >= REVEAL_INTERVAL_S:
            self._revealed_at = now_s
            revealed = dealing.reveal_ended(key) > 0
        return is_new or revealed
