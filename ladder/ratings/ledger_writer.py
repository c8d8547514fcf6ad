"""Append entries to a season's ledger, and update the ratings with them.

A batch of entries is folded onto the stored ratings and written in one transaction.
Two concurrent writers do no harm: the second one notices that the head of the ledger
has moved, and writes nothing. This module does not decide what is appended: see
`rater.py`, `seasons.py` and `operations.py`.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction

from ladder.common.errors import LadderError
from ladder.ratings.core import ledger
from ladder.ratings.core.ledger import BotState, EntryKind, LedgerLine, LedgerState
from ladder.ratings.core.trueskill import Parameters, Skill
from ladder.ratings.models import Checkpoint, Entry, Rating, Season

CHECKPOINT_EVERY = 2000
"""A checkpoint is saved each time that this many entries were appended."""

CHUNK_ROWS = 2000
"""Rows that are fetched from the database at a time."""


class LedgerConflict(LadderError):
    """Another writer was faster. Nothing was written; the caller may try again."""

    code = "overtaken"
    http_status = 409

    def __init__(self) -> None:
        super().__init__(
            "Another process extended the ledger at the same time, so nothing was"
            " written. Try again."
        )


@dataclass(slots=True)
class LedgerBatch:
    """Entries that are about to be appended, and the state after them."""

    season: Season
    state: LedgerState
    entries: list[Entry] = field(default_factory=list)

    def add(self, kind: EntryKind, inputs: dict[str, Any], **links: int) -> None:
        """Fold and add an entry of any kind but a void.

        `links` are foreign keys of the entry: `game_id` or `bot_id`.
        """
        line = LedgerLine(self._next_seq(), kind, inputs, links.get("game_id"))
        self._append(line, ledger.step(self.state, line), links)

    def add_void(self, game: int, after: LedgerState) -> None:
        """Add a void. `after` is the state that a fold without the game returned."""
        line = LedgerLine(self._next_seq(), EntryKind.VOID, {}, game)
        self._append(line, ledger.changes(self.state, after), {"game_id": game})
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
       in the database differs, raise LedgerConflict: another writer was faster.
    4. Insert the entries, and write the ratings that changed.
    5. Outside the transaction, save a checkpoint if one is due.

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
        unmoved = Season.objects.filter(pk=season.pk, head=season.head)
        if not unmoved.update(head=head):
            raise LedgerConflict
        Entry.objects.bulk_create(batch.entries)
        _store(season, before, batch.state)
    if head // CHECKPOINT_EVERY > season.head // CHECKPOINT_EVERY:
        save_checkpoint(season.pk)
    return len(batch.entries)


def lines(
    season: int, *, after: int = 0, until: int | None = None
) -> Iterator[LedgerLine]:
    """Yield the entries of a season in order, from `after` + 1 to `until`."""
    entries = Entry.objects.filter(season=season, seq__gt=after).order_by("seq")
    if until is not None:
        entries = entries.filter(seq__lte=until)
    rows = entries.values_list("seq", "kind", "inputs", "game")
    for seq, kind, inputs, game in rows.iterator(chunk_size=CHUNK_ROWS):
        yield LedgerLine(seq, EntryKind(kind), inputs, game)


def voided_games(season: int) -> set[int]:
    """Return the games that entries of the season void."""
    entries = Entry.objects.filter(season=season, kind=EntryKind.VOID)
    return {game for game in entries.values_list("game", flat=True) if game}


def save_checkpoint(season: int) -> None:
    """Save the present state, so that a void need not fold from nothing."""
    with transaction.atomic():
        row = Season.objects.select_for_update().get(pk=season)
        state = stored_state(row)
        Checkpoint.objects.get_or_create(
            season=row, seq=row.head, defaults={"state": state.dump()}
        )


def rating_columns(state: BotState) -> dict[str, Any]:
    """Return a bot's state as the columns of its `Rating`."""
    return {
        "submission_id": state.submission,
        "digest": state.digest,
        "mu": state.skill.mu,
        "sigma": state.skill.sigma,
        "games": state.games,
        "fresh": state.fresh,
        "forfeits": state.forfeits,
        "streak": state.streak,
        "seq": state.seq,
    }


def stored_state(season: Season, bots: Iterable[int] | None = None) -> LedgerState:
    """Return the stored ratings as a state: of these bots, or of all."""
    rows = Rating.objects.filter(season=season)
    if bots is not None:
        rows = rows.filter(bot__in=list(bots))
    parameters = Parameters(**season.parameters)
    return LedgerState(
        parameters,
        {
            row.bot_id: BotState(
                skill=Skill(row.mu, row.sigma),
                submission=row.submission_id,
                digest=row.digest,
                games=row.games,
                fresh=row.fresh,
                forfeits=row.forfeits,
                streak=row.streak,
                seq=row.seq,
            )
            for row in rows
        },
    )


def _store(season: Season, before: LedgerState, after: LedgerState) -> None:
    """Write the ratings and parameters that differ between two states."""
    if after.parameters != before.parameters or not season.parameters:
        parameters = after.dump()["parameters"]
        Season.objects.filter(pk=season.pk).update(parameters=parameters)
    for bot in before.bots.keys() - after.bots.keys():
        Rating.objects.filter(season=season, bot=bot).delete()
    # Rows are written in the order of bot ids, so that two writers cannot deadlock.
    for bot in sorted(after.bots):
        state = after.bots[bot]
        if before.bots.get(bot) == state:
            continue
        columns = rating_columns(state)
        if bot in before.bots:
            Rating.objects.filter(season=season, bot=bot).update(**columns)
        else:
            Rating.objects.create(season=season, bot_id=bot, **columns)
