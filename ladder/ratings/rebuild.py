"""Fold a whole ledger again, to check the stored ratings or to build them again.

Both read the ledger in pages and hold no transaction meanwhile, so they may run beside
the service for as long as they take.
"""

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from django.db import transaction
from django.db.models import F

from ladder.games.models import Game
from ladder.ratings import checkpoints, coverage, ledger_reader, summaries
from ladder.ratings.corrections import SeasonFold
from ladder.ratings.ledger_writer import LedgerConflict, store_ratings
from ladder.ratings.models import Checkpoint, Entry, Pairing, Season
from torres.common.whole_file import write_whole
from torres.rating import verification
from torres.rating.ledger import EntryKind, LedgerLine, LedgerState
from torres.rating.verification import Verification, VoidGroup

MAX_COMPLAINTS = 20
MAX_REBUILD_ATTEMPTS = 3
PROGRESS_INTERVAL_S = 5.0

PATIENCE_S = 5.0
"""Work of the rater that is older than this is a complaint."""

ReportProgress = Callable[[int, int], None]
"""Called with the number of entries that are checked, and with that of all."""


@dataclass(slots=True)
class CheckReport:
    """The result of a check of one season. `complaints` is empty if all is well.

    `unverified` counts the groups of voids of which only the sum was checked.
    """

    season: Season
    head: int
    entries: int = 0
    unverified: int = 0
    complaints: list[str] = field(default_factory=list)


def check(
    season: Season,
    *,
    progress_file: Path | None = None,
    report_progress: ReportProgress = lambda done, all_entries: None,
) -> CheckReport:
    """Compare a season's games, entries and ratings with each other, bit for bit.

    1. Read the head and the stored ratings as they were at one moment. Entries that
       the rater appends later are not checked.
    2. Check the entries one by one, up to that head (`core.verification`). With a
       `progress_file`, continue from it, and write it from time to time.
    3. Complain about each stored rating that differs from the final state.
    4. Complain about games that are not rated exactly once (`coverage`).
    5. Complain about summaries that are not those of the ledger.

    The check stops early after `MAX_COMPLAINTS` complaints.
    """
    snapshot = ledger_reader.snapshot(season.pk)
    head = snapshot.head
    verified = Verification(_void_groups(season.pk, head), head)
    if progress_file is not None:
        _resume(verified, season, progress_file)
    _check_entries(verified, season, progress_file, report_progress)
    report = CheckReport(
        season, head, verified.seq, verified.unverified, verified.complaints
    )
    if len(report.complaints) < MAX_COMPLAINTS:
        if verified.seq != head:
            missing = head - verified.seq
            report.complaints.append(f"the last {missing} entries are missing")
        report.complaints += _differences(snapshot.state, verified.state)
        report.complaints += coverage.complaints(season, PATIENCE_S)
        report.complaints += summaries.differences(season.pk)
    del report.complaints[MAX_COMPLAINTS:]
    return report


def _check_entries(
    verified: Verification,
    season: Season,
    progress_file: Path | None,
    report_progress: ReportProgress,
) -> None:
    reported_at = time.monotonic()
    entries = ledger_reader.lines_and_changes(
        season.pk, after=verified.seq, until=verified.head
    )
    for line, stored in entries:
        verified.add(line, stored)
        if len(verified.complaints) >= MAX_COMPLAINTS:
            return
        if time.monotonic() - reported_at >= PROGRESS_INTERVAL_S:
            reported_at = time.monotonic()
            report_progress(verified.seq, verified.head)
            _save(verified, season, progress_file)
    _save(verified, season, progress_file)


def _void_groups(season: int, head: int) -> list[VoidGroup]:
    rated_by = {
        rated.game: rated.seq for rated in ledger_reader.voided_games(season, head)
    }
    voids = Entry.objects.filter(season=season, kind=EntryKind.VOID, seq__lte=head)
    lines = [
        LedgerLine(seq, EntryKind.VOID, inputs, game)
        for seq, inputs, game in voids.values_list("seq", "inputs", "game")
    ]
    return verification.groups_of(
        (line, rated_by.get(line.game or 0, line.seq)) for line in lines
    )


def _resume(verified: Verification, season: Season, progress_file: Path) -> None:
    if not progress_file.exists():
        return
    document = json.loads(progress_file.read_text())
    if progress := document.get(str(season.pk)):
        verified.resume(progress)


def _save(verified: Verification, season: Season, progress_file: Path | None) -> None:
    """Write how far the check is. A progress with complaints is not worth keeping."""
    if progress_file is None or verified.complaints:
        return
    document = json.loads(progress_file.read_text()) if progress_file.exists() else {}
    document[str(season.pk)] = verified.dump()
    write_whole(progress_file, json.dumps(document))


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

    1. Fold all entries, without a transaction, and save checkpoints.
    2. Lock the season, fold the entries that were appended meanwhile, and write the
       ratings that differ.
    3. Count the rebuild. So a rater that has read the old ratings writes nothing, and
       earlier checkpoints are no longer valid.
    4. Open the pairings of finished games that are not rated, so that the rater finds
       them.

    Raises LedgerConflict if voided games were taken out meanwhile, several times.
    """
    for _ in range(MAX_REBUILD_ATTEMPTS - 1):
        try:
            return _rebuild(season)
        except LedgerConflict:
            continue
    return _rebuild(season)


def _rebuild(season: Season) -> int:
    row = Season.objects.get(pk=season.pk)
    voided = ledger_reader.voided_games(row.pk, row.head)
    fold = SeasonFold(row, voided, row.rebuilds + 1)
    fold.run(save=True)
    with transaction.atomic():
        locked = Season.objects.select_for_update().get(pk=row.pk)
        fold.finish(locked.head)
        store_ratings(locked, ledger_reader.stored_state(locked), fold.state)
        Season.objects.filter(pk=row.pk).update(rebuilds=F("rebuilds") + 1)
        missed = coverage.never_rated(locked)
        matches = Game.objects.filter(pk__in=missed).values("match")
        Pairing.objects.filter(match__in=matches).update(open=True)
    Checkpoint.objects.filter(season=row, rebuilds__lte=row.rebuilds).delete()
    checkpoints.thin(row.pk, locked.head)
    return len(fold.state.bots)
