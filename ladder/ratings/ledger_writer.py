"""Append entries to a season's ledger, and update the ratings with them.

A batch of entries is folded onto the stored ratings and written in one transaction.
Two concurrent writers do no harm: the second one notices that the head of the ledger
has moved, and writes nothing. This module does not decide what is appended: see
`rater.py`, `seasons.py` and `operations.py`.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field

from django.db import transaction

from ladder.ratings import checkpoints, facts
from ladder.ratings.ledger_reader import STATE_COLUMNS, stored_state
from ladder.ratings.models import Entry, Rating, Season
from torres.common.errors import LadderError
from torres.common.json_object import JsonObject
from torres.rating import ledger
from torres.rating.ledger import BotState, EntryKind, LedgerLine, LedgerState

ROWS_PER_STATEMENT = 2000


class LedgerConflict(LadderError, code="overtaken", http_status=409):
    """Another writer was faster. Nothing was written; the caller may try again."""

    def __init__(self) -> None:
        super().__init__(
            "Another process extended the ledger at the same time, so nothing was"
            " written. Try again."
        )


@dataclass(slots=True)
class LedgerBatch:
    """Entries that are about to be appended, and the state after them.

    `slugs` has the slugs of bots that the caller knows already.
    """

    season: Season
    state: LedgerState
    entries: list[Entry] = field(default_factory=list)
    slugs: dict[int, str] = field(default_factory=dict)

    def add(self, kind: EntryKind, inputs: JsonObject, **links: int) -> None:
        """Fold and add an entry of any kind but a void.

        `links` are foreign keys of the entry: `game_id` or `bot_id`.
        """
        line = LedgerLine(self._next_seq(), kind, inputs, links.get("game_id"))
        self._append(line, ledger.step(self.state, line), links)

    def add_voids(self, games: Sequence[int], after: LedgerState) -> None:
        """Add a void for each game. `after` is the state of a fold without them.

        The last void has the changes of all, and the others name it (`core.ledger`).
        """
        last = self.season.head + len(self.entries) + len(games)
        for game in games:
            line = LedgerLine(
                self._next_seq(), EntryKind.VOID, {"corrected_by": last}, game
            )
            is_last = line.seq == last
            changes = ledger.changes(self.state, after) if is_last else []
            self._append(line, changes, {"game_id": game})
        self.state = after

    def _next_seq(self) -> int:
        return self.season.head + len(self.entries) + 1

    def _append(
        self,
        line: LedgerLine,
        changes: list[ledger.RatingChange],
        links: dict[str, int],
    ) -> None:
        self.entries.append(
            Entry(
                season=self.season,
                seq=line.seq,
                kind=line.kind,
                inputs=dict(line.inputs),
                changes=changes,
                **links,
            )
        )


FillBatch = Callable[[LedgerBatch], None]


def append(season: Season, fill: FillBatch, bots: Iterable[int] | None = None) -> int:
    """Append the entries that `fill` adds to a batch; return how many there are.

    1. Read the stored ratings of `bots`, or of all bots, as the state of the batch.
    2. Let `fill` add entries, each of which changes that state.
    3. Move the season's head from the value in `season` to the last entry. If the head
       in the database differs, or the ratings were built again, raise LedgerConflict:
       another writer was faster.
    4. Insert the entries, write the ratings that changed, and add the facts.
    5. After that, save a checkpoint from time to time.

    The caller has to read `season` before everything that `fill` relies on. Otherwise
    step 3 does not notice that another writer has changed it.
    """
    with transaction.atomic():
        batch = LedgerBatch(season, stored_state(season, bots))
        before = batch.state.copy()
        fill(batch)
        if not batch.entries:
            return 0
        head = batch.entries[-1].seq
        unmoved = Season.objects.filter(
            pk=season.pk, head=season.head, rebuilds=season.rebuilds
        )
        if not unmoved.update(head=head):
            raise LedgerConflict
        Entry.objects.bulk_create(batch.entries)
        store_ratings(season, before, batch.state)
        facts.record_entries(season, batch.entries, batch.slugs)
    if checkpoints.passes(season.head, head):
        checkpoints.save_present(season.pk)
    return len(batch.entries)


def store_ratings(season: Season, before: LedgerState, after: LedgerState) -> None:
    """Write the ratings and parameters that differ between two states."""
    if after.parameters != before.parameters or not season.parameters:
        parameters = asdict(after.parameters)
        Season.objects.filter(pk=season.pk).update(parameters=parameters)
    gone = before.bots.keys() - after.bots.keys()
    if gone:
        Rating.objects.filter(season=season, bot__in=gone).delete()
    # Rows are written in the order of bot ids, so that two writers cannot deadlock.
    Rating.objects.bulk_create(
        [
            Rating(season=season, bot_id=bot, **rating_columns(state))
            for bot, state in sorted(after.bots.items())
            if before.bots.get(bot) != state
        ],
        update_conflicts=True,
        unique_fields=["season", "bot"],
        update_fields=["submission", "mu", "sigma", *STATE_COLUMNS],
        batch_size=ROWS_PER_STATEMENT,
    )


def rating_columns(state: BotState) -> JsonObject:
    """Return a bot's state as the columns of its `Rating`."""
    return {
        "submission_id": state.submission,
        "mu": state.skill.mu,
        "sigma": state.skill.sigma,
        **{name: getattr(state, name) for name in STATE_COLUMNS},
    }
