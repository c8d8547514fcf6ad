"""Write the summaries of a made-up ledger together with its entries.

`ratings.summaries.catch_up` adds to counts that exist already. In the one transaction
of `manage.py fill` each of these updates would leave a version of the row behind, and
the next one would have to pass them all.
"""

from dataclasses import astuple

from ladder.ratings.models import (
    MeetingSummary,
    RatingPoint,
    SeatSummary,
    SkillSnapshot,
    SummaryCursor,
)
from ladder.ratings.skill_snapshots import SNAPSHOT_ENTRIES, pack
from ladder.ratings.summaries import EntryRow, Ratings, points_of
from tests.fill.rows import RowWriter
from torres.rating.ledger import EntryKind, LedgerState
from torres.rating.tallies import Tallies


class SummaryWriter:
    """Collects the points of ratings, and the counts of games of a whole ledger."""

    def __init__(self, season: int, state: LedgerState) -> None:
        """Begin after the entries that led to `state`, which are summarised already."""
        self._season = season
        self._seq = 0
        self._ratings: Ratings = {bot: [*row.skill] for bot, row in state.bots.items()}
        self._tallies = Tallies()
        self._points = RowWriter(
            RatingPoint,
            *("season_id", "seq", "bot_id", "kind", "game", "mu", "sigma"),
        )
        self._snapshots = RowWriter(SkillSnapshot, "season_id", "seq", "skills")

    def add(self, entry: EntryRow) -> None:
        """Add the next entry of the ledger. It must not be a void."""
        self._seq = entry.seq
        for point in points_of(entry, self._ratings):
            self._points.add(self._season, *point)
        if entry.kind == EntryKind.GAME:
            self._tallies.add(entry.inputs["seats"])
        if entry.seq % SNAPSHOT_ENTRIES == 0:
            rated = {bot: skill for bot, skill in self._ratings.items() if skill}
            self._snapshots.add(self._season, entry.seq, pack(rated))

    def flush(self) -> None:
        """Write the points and snapshots that were collected since the last time."""
        self._points.flush()
        self._snapshots.flush()

    def write_counts(self) -> None:
        """Write the counts of all entries, and the cursor at the last one."""
        keys = ("season_id", "bot_id")
        seats = RowWriter(SeatSummary, *keys, "players", "seat", *_SEAT_COUNTS)
        for seat, seat_count in self._tallies.seats.items():
            seats.add(self._season, *seat, *astuple(seat_count))
        meetings = RowWriter(MeetingSummary, *keys, "other_id", *_MEETING_COUNTS)
        for pair, meeting_count in self._tallies.meetings.items():
            meetings.add(self._season, *pair, *astuple(meeting_count))
        for writer in (seats, meetings):
            writer.flush()
        SummaryCursor.objects.update_or_create(
            season_id=self._season, defaults={"seq": self._seq}
        )


_SEAT_COUNTS = ("games", "wins", "halves")
_MEETING_COUNTS = ("games", "before", "ties")
