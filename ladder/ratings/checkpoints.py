"""Checkpoints: stored states from which a fold can start in the middle of a ledger.

A checkpoint is a shortcut only, and nothing relies on which of them exist. It is used
only if it is valid (`Checkpoint`): otherwise it is ignored, so that a checkpoint that
is saved late, or twice, or by another process, does no harm.
"""

from bisect import bisect_right
from collections.abc import Sequence

from ladder.ratings import ledger_reader
from ladder.ratings.ledger_reader import RatedGame
from ladder.ratings.models import Checkpoint, Entry
from torres.rating.ledger import EntryKind, LedgerState

CHECKPOINT_EVERY = 2000
"""A checkpoint is saved each time that this many entries were appended."""

DENSE_CHECKPOINTS = 8
"""The latest checkpoints are all kept. Older ones become rarer with their age."""


def is_kept(seq: int, head: int) -> bool:
    """True if a checkpoint at entry `seq` is worth its space in a ledger up to `head`.

    In units of CHECKPOINT_EVERY entries, the distance of two neighbours is at most a
    quarter of their age, rounded up to a power of 2. So a fold that starts at a
    checkpoint is at most a quarter longer than necessary, and a ledger of a million
    games keeps some 30 checkpoints. A checkpoint that is not kept once is not needed
    later.
    """
    unit = seq // CHECKPOINT_EVERY
    age = head // CHECKPOINT_EVERY - unit
    distance = 1 << (age // DENSE_CHECKPOINTS).bit_length()
    return unit % distance == 0


def passes(before: int, after: int) -> bool:
    """True if a checkpoint is made when the ledger grows between these two heads."""
    return after // CHECKPOINT_EVERY > before // CHECKPOINT_EVERY


def save_present(season: int) -> None:
    """Save the present ratings as a checkpoint, without a lock on the season."""
    snapshot = ledger_reader.snapshot(season)
    voids = Entry.objects.filter(season=season, kind=EntryKind.VOID)
    left_out = voids.filter(seq__lte=snapshot.head).count()
    checkpoint = Checkpoint(
        season_id=season,
        seq=snapshot.head,
        left_out=left_out,
        rebuilds=snapshot.rebuilds,
        state=snapshot.state.dump(),
    )
    store(checkpoint)
    thin(season, snapshot.head)


def store(checkpoint: Checkpoint) -> None:
    """Add a checkpoint; replace one at the same entry."""
    Checkpoint.objects.bulk_create(
        [checkpoint],
        update_conflicts=True,
        unique_fields=["season", "seq"],
        update_fields=["left_out", "rebuilds", "state"],
    )


def thin(season: int, head: int) -> None:
    """Delete the checkpoints that are not worth their space any more."""
    units = set()
    unneeded = []
    rows = Checkpoint.objects.filter(season=season).order_by("seq")
    for pk, seq in rows.values_list("pk", "seq"):
        unit = seq // CHECKPOINT_EVERY
        if unit in units or not is_kept(seq, head):
            unneeded.append(pk)
        units.add(unit)
    Checkpoint.objects.filter(pk__in=unneeded).delete()


def latest_valid(
    season: int, rebuilds: int, without: Sequence[RatedGame]
) -> tuple[int, LedgerState]:
    """Return the latest valid checkpoint as (seq, state); (0, empty) without any.

    `without` are the games that the state has to leave out, in the order of their
    entries. A checkpoint that still holds one of them will never be valid again.
    """
    seq = latest_valid_seq(season, rebuilds, without)
    rows = Checkpoint.objects.filter(season=season, seq=seq)
    if document := rows.values_list("state", flat=True).first():
        return seq, LedgerState.load(document)
    return 0, LedgerState()


def latest_valid_seq(season: int, rebuilds: int, without: Sequence[RatedGame]) -> int:
    """Return the entry of the latest valid checkpoint; 0 without any."""
    rows = Checkpoint.objects.filter(season=season, rebuilds=rebuilds).order_by("-seq")
    for seq, left_out in rows.values_list("seq", "left_out"):
        if left_out == left_out_until(seq, without):
            return seq
    return 0


def left_out_until(seq: int, without: Sequence[RatedGame]) -> int:
    """Count the games to leave out that are rated by entries up to `seq`."""
    return bisect_right(without, seq, key=lambda rated: rated.seq)
