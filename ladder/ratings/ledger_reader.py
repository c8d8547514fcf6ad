"""Read a season's ledger and its stored ratings. Writes nothing, and holds no lock.

A ledger may have millions of entries, so it is read in pages: memory is constant, and
no transaction or cursor stays open between two pages.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import msgspec
from django.db.models import TextField
from django.db.models.functions import Cast, Coalesce

from ladder.games.models import GameStatus
from ladder.games.shared_deals import deal_of
from ladder.ratings.models import Entry, Rating, Season
from torres.rating.ledger import (
    BotState,
    EntryKind,
    LedgerLine,
    LedgerState,
    RatingChange,
)
from torres.rating.trueskill import Parameters, Skill

PAGE_ROWS = 2000
"""Entries that are read from the database at a time."""

STATE_COLUMNS = BotState._fields[2:]
"""The columns of `Rating` that are named like the fields of `BotState`."""

_RATING_COLUMNS = ("bot", "mu", "sigma", "submission", *STATE_COLUMNS)


class RatedGame(NamedTuple):
    """A game that the ledger rates, and the number of its entry."""

    seq: int
    game: int


class MatchResult(NamedTuple):
    """A rated game as the ledger has it, and (submission, rank) by seat.

    `deal` is its match, or the first match of the shared deal that it plays. Games with
    the same number have the same decks.
    """

    game: int
    deal: int
    seats: list[tuple[int, int]]


class RatedResult(NamedTuple):
    """A rated game with its entry. The seats are those of the entry's inputs."""

    seq: int
    game: int
    deal: int
    seats: list[dict[str, Any]]


class Snapshot(NamedTuple):
    """All ratings of a season as of one moment, and the season's guards then."""

    head: int
    rebuilds: int
    state: LedgerState


def lines(
    season: int, *, after: int = 0, until: int | None = None
) -> Iterator[LedgerLine]:
    """Yield the entries of a season in order, from `after` + 1 to `until`."""
    for seq, kind, game, inputs in _rows(season, ["inputs"], after, until):
        yield LedgerLine(seq, EntryKind(kind), msgspec.json.decode(inputs), game)


def lines_and_changes(
    season: int, *, after: int = 0, until: int | None = None
) -> Iterator[tuple[LedgerLine, list[RatingChange]]]:
    """Yield the entries like `lines`, each with its stored changes."""
    rows = _rows(season, ["inputs", "changes"], after, until)
    for seq, kind, game, inputs, changes in rows:
        line = LedgerLine(seq, EntryKind(kind), msgspec.json.decode(inputs), game)
        yield line, msgspec.json.decode(changes)


def changes(season: int, *, after: int, until: int) -> Iterator[list[RatingChange]]:
    """Yield the stored changes of the entries `after` + 1 to `until`, in order."""
    for *_, document in _rows(season, ["changes"], after, until):
        yield msgspec.json.decode(document)


def match_results(season: int, until: int) -> Iterator[MatchResult]:
    """Yield the games of all entries up to `until` that no such entry voids."""
    for _, game, deal, seats in rated_results(season, until):
        places = [(seat["submission"], seat["rank"]) for seat in seats]
        yield MatchResult(game, deal, places)


def rated_results(season: int, until: int) -> Iterator[RatedResult]:
    """Yield the same games as `match_results`, with all that the ledger says."""
    voided = {rated.game for rated in voided_games(season, until)}
    rows = _rows(season, ["inputs"], 0, until, [deal_of("game__match")])
    for seq, kind, game, deal, inputs in rows:
        if kind == EntryKind.GAME and game not in voided:
            seats = msgspec.json.decode(inputs)["seats"]
            yield RatedResult(seq, game, deal, seats)


def _rows(
    season: int,
    documents: list[str],
    after: int,
    until: int | None,
    columns: Sequence[Coalesce] = (),
) -> Iterator[tuple[Any, ...]]:
    """Yield (seq, kind, game, *columns, *documents); documents are texts of JSON.

    Django would parse them with the module `json`, which takes several times as long.
    """
    texts = {f"{name}_text": Cast(name, TextField()) for name in documents}
    entries = Entry.objects.filter(season=season).annotate(**texts).order_by("seq")
    if until is not None:
        entries = entries.filter(seq__lte=until)
    while True:
        page = entries.filter(seq__gt=after)[:PAGE_ROWS]
        rows = list(page.values_list("seq", "kind", "game", *columns, *texts))
        yield from rows
        if len(rows) < PAGE_ROWS:
            return
        after = rows[-1][0]


def voided_games(season: int, until: int) -> list[RatedGame]:
    """Return the games that void entries up to `until` take out, by their seq."""
    voids = Entry.objects.filter(season=season, kind=EntryKind.VOID, seq__lte=until)
    return _rated(season, game__in=voids.values("game"))


def games_to_leave_out(season: int) -> list[RatedGame]:
    """Return the rated games that are voided, by their seq.

    For some of them the ledger may not have a void entry yet.
    """
    return _rated(season, game__status=GameStatus.VOIDED)


def _rated(season: int, **conditions: object) -> list[RatedGame]:
    rated = Entry.objects.filter(season=season, kind=EntryKind.GAME, **conditions)
    rows = rated.order_by("seq").values_list("seq", "game")
    return [RatedGame(*row) for row in rows]


def stored_state(season: Season, bots: Iterable[int] | None = None) -> LedgerState:
    """Return the stored ratings as a state: of these bots, or of all."""
    ratings = Rating.objects.filter(season=season)
    if bots is not None:
        ratings = ratings.filter(bot__in=list(bots))
    rows = ratings.values_list(*_RATING_COLUMNS)
    return LedgerState(
        Parameters(**season.parameters),
        {bot: BotState(Skill(mu, sigma), *rest) for bot, mu, sigma, *rest in rows},
    )


def snapshot(season: int) -> Snapshot:
    """Return all ratings with the head to which they belong.

    One statement reads both, so a rater that writes meanwhile does no harm.
    """
    ratings = Rating.objects.filter(season=season).annotate(
        parameters=Cast("season__parameters", TextField())
    )
    guards = ("season__head", "season__rebuilds", "parameters")
    rows = list(ratings.values_list(*guards, *_RATING_COLUMNS))
    if not rows:
        season_row = Season.objects.get(pk=season)
        state = LedgerState(Parameters(**season_row.parameters))
        return Snapshot(season_row.head, season_row.rebuilds, state)
    head, rebuilds, parameters, *_ = rows[0]
    state = LedgerState(Parameters(**msgspec.json.decode(parameters)))
    for row in rows:
        bot, mu, sigma, *rest = row[len(guards) :]
        state.bots[bot] = BotState(Skill(mu, sigma), *rest)
    return Snapshot(head, rebuilds, state)
