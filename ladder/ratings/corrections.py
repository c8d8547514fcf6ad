"""Take voided games out of the ratings.

A void means that the game was never rated, so everything after the game is folded again
without it. All voided games of a season are taken out in one pass, however many there
are. The pass reads and computes without a transaction; only its result is written in
one. It saves checkpoints on its way: if the process ends, the next one continues from
the last of them.
"""

from collections.abc import Sequence

import structlog
from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet

from ladder.games.models import GameStatus
from ladder.ratings import checkpoints, ledger_reader, selectors
from ladder.ratings.ledger_reader import RatedGame
from ladder.ratings.ledger_writer import LedgerBatch, LedgerConflict, append
from ladder.ratings.models import Checkpoint, Entry, Pairing, Season
from torres.rating import ledger
from torres.rating.ledger import EntryKind, LedgerState

INLINE_ENTRIES = 4000
"""A pass over at most this many entries takes some 0.2 s. The dispatcher makes longer
ones in a process of its own."""

MAX_ENTRIES_UNDER_LOCK = 500
MAX_CATCH_UPS = 5

log = structlog.get_logger()


class SeasonFold:
    """A fold of a season that is built from a checkpoint, or from nothing.

    `seq` is the last entry that was folded, `state` the state after it. `without` are
    the games that the fold leaves out, in the order of their entries. Checkpoints on
    the way are stored for the value `rebuilds`.
    """

    def __init__(
        self, season: Season, without: Sequence[RatedGame], rebuilds: int
    ) -> None:
        self.season = season
        self.without = without
        self.rebuilds = rebuilds
        self.seq = 0
        self.state = LedgerState()
        self._games = {rated.game for rated in without}

    def entries_to_fold(self) -> int:
        """Return how many entries follow the latest valid checkpoint."""
        return self.season.head - checkpoints.latest_valid_seq(
            self.season.pk, self.rebuilds, self.without
        )

    def run(self, *, save: bool) -> None:
        """Fold all entries up to the present head, and `save` checkpoints.

        Repeats this while other raters append, so that few entries are left for the
        transaction of the caller.
        """
        for _ in range(MAX_CATCH_UPS):
            head = Season.objects.values_list("head", flat=True).get(pk=self.season.pk)
            self._fold(head, save=save)
            if head - self.seq <= MAX_ENTRIES_UNDER_LOCK:
                return

    def finish(self, head: int) -> None:
        """Fold the last entries, under the lock of the season.

        Raises LedgerConflict if another process has taken games out, or has built the
        ratings again, since the season was read.
        """
        voids = Entry.objects.filter(season=self.season, kind=EntryKind.VOID)
        if voids.filter(seq__gt=self.season.head).exists():
            raise LedgerConflict
        season = Season.objects.only("rebuilds").get(pk=self.season.pk)
        if season.rebuilds != self.season.rebuilds:
            raise LedgerConflict
        self._fold(head, save=False)

    def _fold(self, head: int, *, save: bool) -> None:
        for line in ledger_reader.lines(self.season.pk, after=self.seq, until=head):
            if line.kind != EntryKind.VOID and line.game not in self._games:
                ledger.apply(self.state, line)
            before = self.seq
            self.seq = line.seq
            if save and checkpoints.passes(before, self.seq):
                self._save_checkpoint(head)

    def _save_checkpoint(self, head: int) -> None:
        if checkpoints.is_kept(self.seq, head):
            checkpoint = Checkpoint(
                season=self.season,
                seq=self.seq,
                left_out=checkpoints.left_out_until(self.seq, self.without),
                rebuilds=self.rebuilds,
                state=self.state.dump(),
            )
            checkpoints.store(checkpoint)


def fold_voids(season: int, max_entries: int | None = None) -> int:
    """Take all voided games out of a season's ratings; return the new entries.

    1. Find the rated games that are voided and have no void entry yet. If there is
       none, do nothing.
    2. Find the latest checkpoint that holds no voided game. If more than `max_entries`
       would have to be folded from there, do nothing.
    3. Fold from there to the head without all voided games, and save checkpoints.
    4. Lock the season, fold the entries that were appended meanwhile, and append a void
       entry for each game. The last of them has the difference to the ratings.
    5. Open the pairings of these games, so that their replacements are rated.

    Raises LedgerConflict if another process has taken games out at the same time.
    """
    if not has_pending(season):
        return 0
    row = Season.objects.get(pk=season)
    fold = SeasonFold(row, ledger_reader.games_to_leave_out(season), row.rebuilds)
    if max_entries is not None and fold.entries_to_fold() > max_entries:
        return 0
    taken_out = {rated.game for rated in ledger_reader.voided_games(season, row.head)}
    pending = [rated.game for rated in fold.without if rated.game not in taken_out]
    fold.seq, fold.state = checkpoints.latest_valid(
        fold.season.pk, fold.rebuilds, fold.without
    )
    fold.run(save=True)
    with transaction.atomic():
        locked = Season.objects.select_for_update().get(pk=season)
        fold.finish(locked.head)
        appended = _append_voids(locked, pending, fold.state)
    checkpoints.thin(season, locked.head + appended)
    log.info("voided games taken out", season=season, games=len(pending))
    return appended


def has_pending(season: int) -> bool:
    """True if the ledger still counts a voided game."""
    return _pending(season).exists()


def count_pending(season: int) -> int:
    """Count the voided games that the ledger still counts."""
    return _pending(season).count()


def _pending(season: int | OuterRef) -> QuerySet[Entry]:
    voids = Entry.objects.filter(game=OuterRef("game"), kind=EntryKind.VOID)
    return Entry.objects.filter(
        ~Exists(voids),
        season=season,
        kind=EntryKind.GAME,
        game__status=GameStatus.VOIDED,
    )


def _append_voids(season: Season, games: Sequence[int], after: LedgerState) -> int:
    def add_voids(batch: LedgerBatch) -> None:
        batch.add_voids(games, after)

    Pairing.objects.filter(match__games__in=games).update(open=True)
    return append(season, add_voids)


def waiting_seasons() -> list[int]:
    """Return the seasons with voided games that are still counted."""
    seasons = selectors.unarchived().filter(Exists(_pending(OuterRef("pk"))))
    return list(seasons.values_list("pk", flat=True))


def needs_long_pass(season: int) -> bool:
    """True if voided games wait for a pass that is too long for the dispatcher."""
    if not has_pending(season):
        return False
    row = Season.objects.get(pk=season)
    fold = SeasonFold(row, ledger_reader.games_to_leave_out(season), row.rebuilds)
    return fold.entries_to_fold() > INLINE_ENTRIES
