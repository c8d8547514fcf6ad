"""Fold a whole ledger again, to check the stored ratings or to build them again."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from django.db import transaction

from ladder.ratings.core import ledger
from ladder.ratings.core.ledger import EntryKind, LedgerLine, LedgerState
from ladder.ratings.ledger_writer import (
    CHUNK_ROWS,
    lines,
    rating_columns,
    stored_state,
    voided_games,
)
from ladder.ratings.models import Checkpoint, Entry, Rating, Season

MAX_COMPLAINTS = 20


@dataclass(slots=True)
class CheckReport:
    """The result of a check of one season. `complaints` is empty if all is well."""

    season: Season
    head: int
    entries: int = 0
    complaints: list[str] = field(default_factory=list)


def check(season: Season) -> CheckReport:
    """Fold a season's entries again, and compare everything bit for bit.

    1. Read the head and the stored ratings as they were at one moment. Entries that
       the rater appends later are not checked.
    2. Fold the entries one by one, up to that head. Complain if a number is missing, or
       if an entry's stored changes differ from the computed ones. At a void, fold all
       entries so far again without the game.
    3. Complain about each stored rating that differs from the final state.

    The check stops early after `MAX_COMPLAINTS` complaints.
    """
    row, stored = _snapshot(season)
    report = CheckReport(row, row.head)
    state = LedgerState()
    voided: set[int] = set()
    past: list[LedgerLine] = []
    stored_changes = _changes(row)
    for line in lines(row.pk, until=row.head):
        report.entries += 1
        if line.seq != report.entries:
            report.complaints.append(f"entry {report.entries} is missing")
            return report
        past.append(line)
        if line.kind == EntryKind.VOID and line.game:
            voided.add(line.game)
            after = ledger.fold(past, voided)
            computed = ledger.changes(state, after)
            state = after
        else:
            computed = ledger.step(state, line)
        if computed != next(stored_changes):
            report.complaints.append(
                f"entry {line.seq}: the stored changes are not the computed ones"
            )
        if len(report.complaints) >= MAX_COMPLAINTS:
            return report
    if report.entries != row.head:
        missing = row.head - report.entries
        report.complaints.append(f"the last {missing} entries are missing")
    report.complaints += _differences(stored, state)[:MAX_COMPLAINTS]
    return report


def _snapshot(season: Season) -> tuple[Season, LedgerState]:
    """Return the season and its ratings as of one moment, without a lock.

    Read again until the head did not move in between.
    """
    while True:
        row = Season.objects.get(pk=season.pk)
        stored = stored_state(row)
        if Season.objects.filter(pk=row.pk, head=row.head).exists():
            return row, stored


def _changes(season: Season) -> Iterator[list[ledger.RatingChange]]:
    entries = Entry.objects.filter(season=season).order_by("seq")
    return entries.values_list("changes", flat=True).iterator(chunk_size=CHUNK_ROWS)


def _differences(stored: LedgerState, folded: LedgerState) -> list[str]:
    differences = []
    if stored.parameters != folded.parameters:
        differences.append(
            f"parameters: stored {stored.parameters}, folded {folded.parameters}"
        )
    for bot in sorted(stored.bots.keys() | folded.bots.keys()):
        old = stored.bots.get(bot)
        new = folded.bots.get(bot)
        if old != new:
            differences.append(f"bot {bot}: stored {old}, folded {new}")
    return differences


def rebuild(season: Season) -> int:
    """Build the ratings of a season again from its entries; return how many there are.

    The season's row is locked, so a rater that runs meanwhile waits for the end of this
    transaction. Checkpoints are deleted.
    """
    with transaction.atomic():
        row = Season.objects.select_for_update().get(pk=season.pk)
        state = ledger.fold(lines(row.pk, until=row.head), voided_games(row.pk))
        Checkpoint.objects.filter(season=row).delete()
        Rating.objects.filter(season=row).delete()
        Rating.objects.bulk_create(
            Rating(season=row, bot_id=bot, **rating_columns(bot_state))
            for bot, bot_state in sorted(state.bots.items())
        )
        row.parameters = state.dump()["parameters"]
        row.save(update_fields=["parameters"])
    return len(state.bots)
