"""Summaries of a season's ledger, so that no page reads all games of a bot.

There are four: the points of each bot's rating, its games by seat, its games by
opponent, and snapshots of all skills (`skill_snapshots`). A cursor says up to which
entry they go. `catch_up` adds the next entries; the dispatcher calls it once a second.
The rater knows nothing of it, so that a fold costs no more, and the summaries are at
most a few seconds behind the ledger.

The summaries follow from the ledger alone. `differences` computes the counts in another
way, from the seats of the rated games, and compares. `rebuild` makes them anew.
"""

from collections.abc import Iterator, Sequence
from dataclasses import astuple
from itertools import zip_longest
from typing import Any, NamedTuple

from django.db import connection, models, transaction
from django.db.models import F, QuerySet

from ladder.games.models import Seat
from ladder.ratings import skill_snapshots
from ladder.ratings.models import (
    Entry,
    MeetingSummary,
    RatingPoint,
    Season,
    SeatSummary,
    SkillSnapshot,
    SummaryCursor,
)
from torres.rating.ledger import EntryKind, RatingChange
from torres.rating.tallies import Tallies

BATCH_ENTRIES = 1000
ROWS_PER_STATEMENT = 200
CHUNK_ROWS = 2000
MAX_COMPLAINTS = 5

_ENTRY, _CURSOR, _MEETING, _SEAT_SUMMARY, _SEAT = (
    model._meta.db_table  # noqa: SLF001 -- the documented way to a table's name
    for model in (Entry, SummaryCursor, MeetingSummary, SeatSummary, Seat)
)


class EntryRow(NamedTuple):
    """The columns of an entry that the summaries need."""

    seq: int
    kind: str
    game: int | None
    bot: int | None
    inputs: dict[str, Any]
    changes: list[RatingChange]


class RatedPoint(NamedTuple):
    """A bot's rating after an entry, in the order in which points are compared."""

    seq: int
    bot: int
    kind: str
    game: int | None
    mu: float
    sigma: float


Ratings = dict[int, list[float] | None]


def behind() -> QuerySet[Season]:
    """Return the seasons whose ledger has entries that are not summarised yet."""
    return Season.objects.exclude(head=0).exclude(summary_cursor__seq=F("head"))


def last_entry(season: int) -> QuerySet[SummaryCursor, int]:
    """Select the number of the last entry that the summaries of a season contain."""
    return SummaryCursor.objects.filter(season=season).values_list("seq", flat=True)


def catch_up(season: int, limit: int = BATCH_ENTRIES) -> int:
    """Add up to `limit` more entries to the summaries; return how many were added.

    1. Read the entries after the cursor.
    2. Move the cursor. If another process has moved it meanwhile, stop.
    3. Add the points, and the differences that the games and voids make to the counts.
       Keep a snapshot of all skills from time to time.

    All is one transaction, and the row of the cursor is locked from step 2 on. So each
    entry is added exactly once.
    """
    with transaction.atomic():
        cursor, _ = SummaryCursor.objects.get_or_create(season_id=season)
        rows = list(_entries(season, after=cursor.seq)[:limit])
        if not rows:
            return 0
        unmoved = SummaryCursor.objects.filter(season=season, seq=cursor.seq)
        if not unmoved.update(seq=rows[-1][0]):
            return 0
        entries = [EntryRow._make(row) for row in rows]
        _add_points(season, entries)
        _add_counts(season, _tallies(entries))
        skill_snapshots.keep(season, cursor.seq, entries[-1].seq)
    return len(entries)


def rebuild(season: int) -> None:
    """Delete the summaries of a season and make them anew from the ledger."""
    with transaction.atomic():
        SummaryCursor.objects.get_or_create(season_id=season)
        SummaryCursor.objects.filter(season=season).update(seq=0)
        for model in (RatingPoint, SeatSummary, MeetingSummary, SkillSnapshot):
            model.objects.filter(season=season).delete()
    while catch_up(season):
        pass


def differences(season: int) -> list[str]:
    """Compare the summaries with the ledger up to their cursor; return complaints."""
    cursor = SummaryCursor.objects.filter(season=season).first()
    if cursor is None:
        return []
    complaints = _point_differences(season, cursor.seq)
    for seq in skill_snapshots.wrong_snapshots(season, cursor.seq)[:MAX_COMPLAINTS]:
        complaints.append(f"summaries: the skills after entry {seq} are wrong")
    for name, query in (("seat", _SEAT_QUERY), ("opponent", _MEETING_QUERY)):
        if wrong := _count_differences(season, query):
            complaints.append(f"summaries: {wrong} counts of games by {name} are wrong")
    return complaints


def _entries(
    season: int, *, after: int = 0, until: int | None = None
) -> QuerySet[Entry, Any]:
    entries = Entry.objects.filter(season=season, seq__gt=after).order_by("seq")
    if until is not None:
        entries = entries.filter(seq__lte=until)
    return entries.values_list("seq", "kind", "game", "bot", "inputs", "changes")


def points_of(entry: EntryRow, ratings: Ratings) -> list[RatedPoint]:
    """Return the points of an entry, ordered by bot, and bring `ratings` up to date.

    An entry about one bot has a point even if it does not change the rating: so each
    new upload is on the chart.
    """
    bots = set()
    for change in entry.changes:
        bots.add(change["bot"])
        ratings[change["bot"]] = change["after"]
    if entry.bot is not None:
        bots.add(entry.bot)
    points = []
    for bot in sorted(bots):
        if rating := ratings.get(bot):
            point = RatedPoint(entry.seq, bot, entry.kind, entry.game, *rating)
            points.append(point)
    return points


def _add_points(season: int, entries: Sequence[EntryRow]) -> None:
    ratings = _earlier_ratings(season, entries)
    points = [point for entry in entries for point in points_of(entry, ratings)]
    RatingPoint.objects.bulk_create(
        (RatingPoint(season_id=season, **_columns(point)) for point in points),
        batch_size=ROWS_PER_STATEMENT,
    )


def _columns(point: RatedPoint) -> dict[str, Any]:
    columns = point._asdict()
    columns["bot_id"] = columns.pop("bot")
    return columns


def _earlier_ratings(season: int, entries: Sequence[EntryRow]) -> Ratings:
    """Return the ratings of bots with an entry that does not change their rating.

    Few entries are like that: a new upload with the same code.
    """
    ratings: Ratings = {}
    for entry in entries:
        changed = {change["bot"] for change in entry.changes}
        if entry.bot is not None and entry.bot not in changed:
            last = RatingPoint.objects.filter(season=season, bot=entry.bot)
            if point := last.order_by("-seq").first():
                ratings[entry.bot] = [point.mu, point.sigma]
    return ratings


def _tallies(entries: Sequence[EntryRow]) -> Tallies:
    """Return the difference that these entries make to the counts."""
    tallies = Tallies()
    voided = [entry.game for entry in entries if entry.kind == EntryKind.VOID]
    for entry in entries:
        if entry.kind == EntryKind.GAME:
            tallies.add(entry.inputs.get("seats", ()))
    rated = Entry.objects.filter(kind=EntryKind.GAME, game__in=voided)
    for inputs in rated.values_list("inputs", flat=True):
        tallies.add(inputs.get("seats", ()), -1)
    return tallies


def _add_counts(season: int, tallies: Tallies) -> None:
    seats = [
        (season, *key, *astuple(count)) for key, count in sorted(tallies.seats.items())
    ]
    meetings = [
        (season, *key, *astuple(count))
        for key, count in sorted(tallies.meetings.items())
    ]
    seat_keys = ("season_id", "bot_id", "players", "seat")
    _add_to_counts(SeatSummary, seat_keys, ("games", "wins", "halves"), seats)
    meeting_keys = ("season_id", "bot_id", "other_id")
    _add_to_counts(MeetingSummary, meeting_keys, ("games", "before", "ties"), meetings)


def _add_to_counts(
    model: type[models.Model],
    keys: Sequence[str],
    counts: Sequence[str],
    rows: Sequence[tuple[int, ...]],
) -> None:
    """Add numbers to the counts of rows, and insert the rows that do not exist yet."""
    table = model._meta.db_table  # noqa: SLF001
    quoted = [f'"{name}"' for name in (*keys, *counts)]
    sums = ", ".join(f'"{c}" = {table}."{c}" + EXCLUDED."{c}"' for c in counts)
    placeholders = f"({', '.join('%s' for _ in quoted)})"
    with connection.cursor() as cursor:
        for start in range(0, len(rows), ROWS_PER_STATEMENT):
            part = rows[start : start + ROWS_PER_STATEMENT]
            sql = (
                f"INSERT INTO {table} ({', '.join(quoted)})"  # noqa: S608
                f" VALUES {', '.join(placeholders for _ in part)}"
                f" ON CONFLICT ({', '.join(quoted[: len(keys)])}) DO UPDATE SET {sums}"
            )
            cursor.execute(sql, [value for row in part for value in row])


def _point_differences(season: int, until: int) -> list[str]:
    complaints: list[str] = []
    stored = _stored_points(season, until)
    for expected, found in zip_longest(_expected_points(season, until), stored):
        if expected != found:
            complaints.append(
                f"summaries: a point of the rating is {found}, not {expected}"
            )
            if len(complaints) >= MAX_COMPLAINTS:
                break
    return complaints


def _expected_points(season: int, until: int) -> Iterator[RatedPoint]:
    ratings: Ratings = {}
    rows = _entries(season, until=until).iterator(chunk_size=CHUNK_ROWS)
    for row in rows:
        yield from points_of(EntryRow._make(row), ratings)


def _stored_points(season: int, until: int) -> Iterator[RatedPoint]:
    points = RatingPoint.objects.filter(season=season, seq__lte=until)
    rows = points.order_by("seq", "bot").values_list(
        "seq", "bot", "kind", "game", "mu", "sigma"
    )
    for row in rows.iterator(chunk_size=CHUNK_ROWS):
        yield RatedPoint._make(row)


# The seats of all rated games that no entry voids, up to the cursor. Both sides of the
# comparison are one statement, so that it sees them as of one moment.
_RATED_SEATS = f"""
    WITH last AS (SELECT seq FROM {_CURSOR} WHERE season_id = %s),
    rated AS (
        SELECT e.game_id FROM {_ENTRY} e, last
        WHERE e.season_id = %s AND e.kind = 'game' AND e.seq <= last.seq
        AND NOT EXISTS (
            SELECT 1 FROM {_ENTRY} v
            WHERE v.game_id = e.game_id AND v.kind = 'void' AND v.seq <= last.seq
        )
    ),
    pairs AS (
        SELECT a.bot_id, b.bot_id AS other_id, a.number, a.rank, b.rank AS other_rank,
            COUNT(*) OVER (PARTITION BY a.game_id, a.number) AS others
        FROM rated JOIN {_SEAT} a ON a.game_id = rated.game_id
        JOIN {_SEAT} b ON b.game_id = a.game_id AND b.number <> a.number
    ),
"""  # noqa: S608 -- only names of tables
_MEETING_QUERY = f"""{_RATED_SEATS}
    counted AS (
        SELECT bot_id, other_id, COUNT(*) AS games,
            COUNT(CASE WHEN rank < other_rank THEN 1 END) AS ahead,
            COUNT(CASE WHEN rank = other_rank THEN 1 END) AS ties
        FROM pairs GROUP BY bot_id, other_id
    ),
    stored AS (
        SELECT bot_id, other_id, games, "before" AS ahead, ties
        FROM {_MEETING} WHERE season_id = %s AND games <> 0
    )
"""  # noqa: S608
_SEAT_QUERY = f"""{_RATED_SEATS}
    counted AS (
        SELECT bot_id, others + 1 AS players, number, COUNT(*) / others AS games,
            COUNT(CASE WHEN rank = 1 THEN 1 END) / others AS wins,
            COUNT(CASE WHEN rank < other_rank THEN 1 END) * 2
            + COUNT(CASE WHEN rank = other_rank THEN 1 END) AS halves
        FROM pairs GROUP BY bot_id, others, number
    ),
    stored AS (
        SELECT bot_id, players, seat, games, wins, halves
        FROM {_SEAT_SUMMARY} WHERE season_id = %s AND games <> 0
    )
"""  # noqa: S608
_DIFFERENCE = """
    SELECT COUNT(*) FROM (
        SELECT * FROM (SELECT * FROM counted EXCEPT SELECT * FROM stored) missing
        UNION ALL
        SELECT * FROM (SELECT * FROM stored EXCEPT SELECT * FROM counted) surplus
    ) differing
"""


def _count_differences(season: int, query: str) -> int:
    """Return how many counts differ from those that the seats give."""
    with connection.cursor() as cursor:
        cursor.execute(query + _DIFFERENCE, [season, season, season])
        return int(cursor.fetchone()[0])
