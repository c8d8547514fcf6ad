"""Keeps the public log: numbers its leaves, signs it, and gives matches their decks."""

from functools import partial

from django.conf import settings

from ladder.common.fixed_query import FixedQuery, any_of, row_of
from ladder.events.models import Fact
from ladder.games import dealing
from ladder.games.models import Match
from ladder.public_log import batches
from ladder.public_log.head_file import HeadFile
from ladder.public_log.keys import LogKey, find_key, load_key
from ladder.public_log.models import DeckBatch, LogHead
from ladder.public_log.sequencer import sequence

PREPARE_INTERVAL_S = 1.0
SEQUENCE_INTERVAL_S = 1.0
"""Leaves are numbered together, unless a match waits for its decks."""
REVEAL_INTERVAL_S = 30.0

_NEVER = float("-inf")
_LAST_LEAF = Fact.objects.exclude(leaf_kind="").exclude(number=None).order_by("-number")
_WORK = FixedQuery(
    lambda: row_of(
        any_of(
            Fact.objects.filter(number=None),
            LogHead.objects.filter(last_fact__lt=_LAST_LEAF.values("number")[:1]),
            DeckBatch.objects.filter(leaf=None),
        ),
        any_of(Match.objects.filter(seed="")),
    )
)
"""True for leaves that may wait, and for matches that wait for decks."""


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

    def advance(self, now_s: float) -> int:
        """Do what is to be done; return how many leaves were numbered.

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
        if settings.TORRES_COMMITTED_DECKS:
            self._keep_batches(self._key, now_s)
        leaves_wait, matches_wait = _WORK.rows()[0]
        if now_s - self._sequenced_at < SEQUENCE_INTERVAL_S:
            leaves_wait = False
        if not (is_first or leaves_wait or matches_wait):
            return 0
        self._sequenced_at = now_s
        return sequence(
            self._key, HeadFile.of_service(), partial(dealing.deal, self._key)
        )

    def _keep_batches(self, key: LogKey, now_s: float) -> None:
        if now_s - self._prepared_at >= PREPARE_INTERVAL_S:
            self._prepared_at = now_s
            batches.prepare(key)
        if now_s - self._revealed_at >= REVEAL_INTERVAL_S:
            self._revealed_at = now_s
            dealing.reveal_ended(key)
