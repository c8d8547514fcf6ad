"""A season's ledger is written here, page by page, and its projection with it.

A page is folded onto the state that is stored, and written in one transaction. Two
writers do no harm: the second finds that the head has moved, and writes nothing.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction

from ladder.common.errors import LadderError
from ladder.ratings.core import ledger
from ladder.ratings.core.ledger import BotState, LedgerLine, LedgerState
from ladder.ratings.core.trueskill import Parameters, Skill
from ladder.ratings.models import Checkpoint, Entry, Rating, Season

CHECKPOINT_EVERY = 2000
"""Entries after which the whole state is kept."""


class LedgerConflict(LadderError):
    """Another rater was first: nothing was written, and it did our work."""

    code, http_status = "overtaken", 409

    def __init__(self) -> None:
        super().__init__("The ledger grew meanwhile, so nothing was done; try again.")


@dataclass(slots=True)
class LedgerBatch:
    """What is about to be appended to a season's ledger."""

    season: Season
    state: LedgerState
    entries: list[Entry] = field(default_factory=list)

    def add(self, kind: Entry.Kind, inputs: dict[str, Any], **links: int) -> None:
        """Fold one more entry of any kind but a void."""
        line = LedgerLine(self._next(), kind, inputs, links.get("game_id"))
        self._append(line, ledger.step(self.state, line), links)

    def void(self, game: int, after: LedgerState) -> None:
        """Fold a void, whose state was found by folding again."""
        line = LedgerLine(self._next(), Entry.Kind.VOID, {}, game)
        self._append(line, ledger.changes(self.state, after), {"game_id": game})
        self.state = after

    def _next(self) -> int:
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


Write = Callable[[LedgerBatch], None]


def append(row: Season, write: Write, bots: Iterable[int] | None = None) -> int:
    """Append what `write` puts on a page; return how many entries that were.

    `row` has to be read before everything that `write` relies on: whatever another
    rater appended since then raises Overtaken, and nothing is written. The page's
    state holds the named `bots`, or all.
    """
    with transaction.atomic():
        page = LedgerBatch(row, stored_state(row, bots))
        known = page.state.copy()
        write(page)
        if not page.entries:
            return 0
        head = page.entries[-1].seq
        if not Season.objects.filter(pk=row.pk, head=row.head).update(head=head):
            raise LedgerConflict
        Entry.objects.bulk_create(page.entries)
        _store(row, known, page.state)
    if head // CHECKPOINT_EVERY > row.head // CHECKPOINT_EVERY:
        keep_checkpoint(row.pk)
    return len(page.entries)


def lines(
    season: int, *, after: int = 0, until: int | None = None
) -> Iterator[LedgerLine]:
    """Read the entries of a season in order."""
    entries = Entry.objects.filter(season=season, seq__gt=after).order_by("seq")
    if until is not None:
        entries = entries.filter(seq__lte=until)
    for seq, kind, inputs, game in entries.values_list(
        "seq", "kind", "inputs", "game"
    ).iterator(chunk_size=2000):
        yield LedgerLine(seq, kind, inputs, game)


def voided(season: int) -> set[int]:
    """Return the games that entries of the season void."""
    entries = Entry.objects.filter(season=season, kind=Entry.Kind.VOID)
    return {game for game in entries.values_list("game", flat=True) if game}


def keep_checkpoint(season: int) -> None:
    """Keep the present state, so that a void need not fold from nothing."""
    with transaction.atomic():
        row = Season.objects.select_for_update().get(pk=season)
        state = stored_state(row)
        Checkpoint.objects.get_or_create(
            season=row, seq=row.head, defaults={"state": state.dump()}
        )


def stored_state(season: Season, bots: Iterable[int] | None = None) -> LedgerState:
    """Read the projection as a state, of the named bots or of all."""
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


def _store(season: Season, known: LedgerState, state: LedgerState) -> None:
    """Write what differs between two states to the projection."""
    if state.parameters != known.parameters or not season.parameters:
        dumped = state.dump()["parameters"]
        Season.objects.filter(pk=season.pk).update(parameters=dumped)
    for bot in known.bots.keys() - state.bots.keys():
        Rating.objects.filter(season=season, bot=bot).delete()
    # In the order of ids, so that no two raters ever wait for each other.
    for bot in sorted(state.bots):
        standing = state.bots[bot]
        if known.bots.get(bot) == standing:
            continue
        values = {
            "submission_id": standing.submission,
            "digest": standing.digest,
            "mu": standing.skill.mu,
            "sigma": standing.skill.sigma,
            "games": standing.games,
            "fresh": standing.fresh,
            "forfeits": standing.forfeits,
            "streak": standing.streak,
            "seq": standing.seq,
        }
        if bot in known.bots:
            Rating.objects.filter(season=season, bot=bot).update(**values)
        else:
            Rating.objects.create(season=season, bot_id=bot, **values)
