"""Folding the whole ledger again, to check what is stored or to make it anew."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from django.db import transaction

from ladder.ratings.core import ledger
from ladder.ratings.core.ledger import LedgerState
from ladder.ratings.ledger_writer import lines, stored_state
from ladder.ratings.models import Checkpoint, Entry, Rating, Season


@dataclass(slots=True)
class CheckReport:
    """What a check of one season found; no complaints is what it should find."""

    season: Season
    head: int
    entries: int = 0
    complaints: list[str] = field(default_factory=list)


def check(season: Season, most: int = 20) -> CheckReport:
    """Fold the entries up to the present head; compare everything bit for bit.

    Entries are numbered densely, each entry's changes come out again, and so do all
    ratings. Runs beside the rater: what comes after its start is not looked at.
    """
    row, stored = _still(season)
    finding = CheckReport(row, row.head)
    state, voided, past = LedgerState(), set[int](), list[ledger.LedgerLine]()
    changes = _changes(row)
    for line in lines(row.pk, until=row.head):
        finding.entries += 1
        if line.seq != finding.entries:
            finding.complaints.append(f"entry {finding.entries} is missing")
            return finding
        past.append(line)
        if line.kind == Entry.Kind.VOID and line.game:
            voided.add(line.game)
            after = ledger.fold(past, voided)
            found = ledger.changes(state, after)
            state = after
        else:
            found = ledger.step(state, line)
        if found != next(changes):
            finding.complaints.append(f"entry {line.seq}: changes come out otherwise")
        if len(finding.complaints) >= most:
            return finding
    if finding.entries != row.head:
        finding.complaints.append(f"{row.head - finding.entries} last entries missing")
    finding.complaints += _differences(stored, state)[:most]
    return finding


def _still(season: Season) -> tuple[Season, LedgerState]:
    """Read head and ratings as they were at one moment, without stopping anybody."""
    while True:
        row = Season.objects.get(pk=season.pk)
        stored = stored_state(row)
        if Season.objects.filter(pk=row.pk, head=row.head).exists():
            return row, stored


def _changes(season: Season) -> Iterator[list[ledger.RatingChange]]:
    entries = Entry.objects.filter(season=season).order_by("seq")
    return entries.values_list("changes", flat=True).iterator(chunk_size=2000)


def _differences(stored: LedgerState, folded: LedgerState) -> list[str]:
    found = []
    if stored.parameters != folded.parameters:
        found.append(f"parameters: {stored.parameters} but {folded.parameters}")
    for bot in sorted(stored.bots.keys() | folded.bots.keys()):
        old, new = stored.bots.get(bot), folded.bots.get(bot)
        if old != new:
            found.append(f"bot {bot}: stored {old}, folded {new}")
    return found


def rebuild(season: Season) -> int:
    """Make the ratings anew from the entries; return how many there are.

    Raises nothing when the rater runs meanwhile: it waits for this transaction.
    """
    with transaction.atomic():
        row = Season.objects.select_for_update().get(pk=season.pk)
        past = list(lines(row.pk, until=row.head))
        voided = {line.game for line in past if line.kind == Entry.Kind.VOID}
        state = ledger.fold(past, {game for game in voided if game})
        Checkpoint.objects.filter(season=row).delete()
        Rating.objects.filter(season=row).delete()
        Rating.objects.bulk_create(
            Rating(
                season=row,
                bot_id=bot,
                submission_id=standing.submission,
                digest=standing.digest,
                mu=standing.skill.mu,
                sigma=standing.skill.sigma,
                games=standing.games,
                fresh=standing.fresh,
                forfeits=standing.forfeits,
                streak=standing.streak,
                seq=standing.seq,
            )
            for bot, standing in sorted(state.bots.items())
        )
        row.parameters = state.dump()["parameters"]
        row.save(update_fields=["parameters"])
    return len(state.bots)
