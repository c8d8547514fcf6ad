"""Count the games of bots again, by seat and by opponent, and compare with the service.

The counts follow from the entries of the ledger, which the audit has checked. Each
answer of the service says up to which entry it counts, and is compared with exactly
these.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from engine.rulesets import MAX_SEATS, MIN_SEATS
from torres.auditing.findings import AuditFinding, Check
from torres.auditing.ratings import AuditedSeason, SeasonKey
from torres.common.answers import CountedRecordAnswer, OpponentsAnswer
from torres.rating.ledger import EntryKind, LedgerLine
from torres.rating.tallies import MeetingCount, MeetingKey, SeatCount, SeatKey, Tallies

_NO_MEETING = MeetingCount()
_SHARE_ERROR = 1e-9


@dataclass(frozen=True, slots=True)
class ReadStatistics:
    """The results of a bot in the present season of a ladder, as they are shown.

    `record` is None, and there are no pages, if the service does not know the bot.
    """

    season: SeasonKey
    bot: int
    slug: str
    record: CountedRecordAnswer | None
    opponents: Sequence[OpponentsAnswer]

    def last_entry(self) -> int:
        """Return the last entry that an answer counts."""
        return max((seq for seq, *_ in _shown([self])), default=0)

    def first_entry(self) -> int:
        """Return the last entry that every answer counts."""
        return min((seq for seq, *_ in _shown([self])), default=0)


def _counted(answer: CountedRecordAnswer | OpponentsAnswer) -> int:
    return answer["counted_seq"] or 0


def _shown(
    reads: Iterable[ReadStatistics],
) -> Iterator[tuple[int, ReadStatistics, OpponentsAnswer | None]]:
    """Yield each record, as None, and each page of opponents with its last entry."""
    for read in reads:
        if read.record:
            yield _counted(read.record), read, None
        for page in read.opponents:
            yield _counted(page), read, page


class CountedSeason:
    """The counts of a season after its first entries."""

    def __init__(self, season: AuditedSeason, bots: dict[str, int]) -> None:
        """`bots` has the numbers of bots by slug."""
        self._season = season
        self._bots = bots
        self._tallies = Tallies()
        self._games: dict[int, LedgerLine] = {}
        self._others: dict[int, set[int]] = {}

    def compare(self, reads: Sequence[ReadStatistics]) -> Iterator[tuple[str, str]]:
        """Yield the slugs of bots with what is wrong in their statistics."""
        counted = 0
        for seq, read, page in sorted(_shown(reads), key=lambda answer: answer[0]):
            if seq > len(self._season.lines):
                yield read.slug, "results after an entry that the log does not have"
                continue
            for line in self._season.lines[counted:seq]:
                self._count(line)
            counted = seq
            problem = self._opponents(read, page) if page else self._seats(read)
            if problem:
                yield read.slug, problem

    def _count(self, line: LedgerLine) -> None:
        if line.game is None:
            return
        if line.kind == EntryKind.GAME:
            self._games[line.game] = line
            self._tallies.add(line.inputs["seats"])
            together = {seat["bot"] for seat in line.inputs["seats"]}
            for bot in together:
                self._others.setdefault(bot, set()).update(together - {bot})
        elif line.kind == EntryKind.VOID and line.game in self._games:
            self._tallies.add(self._games.pop(line.game).inputs["seats"], -1)

    def _seats(self, read: ReadStatistics) -> str:
        """Return what is wrong with the results of a bot by seat, or ""."""
        counted = {}
        for players in range(MIN_SEATS, MAX_SEATS + 1):
            for seat in range(players):
                count = self._tallies.seats.get(SeatKey(read.bot, players, seat))
                if count and count.games:
                    counted[players, seat] = count
        rows = read.record["strength"] if read.record else []
        shown = {(row["players"], row["seat"]): row for row in rows}
        if shown.keys() != counted.keys() or len(shown) != len(rows):
            return "results in other seats than the log has"
        for (players, seat), count in counted.items():
            row = shown[players, seat]
            numbers = SeatCount(row["games"], row["wins"], count.halves)
            share = count.halves / (2 * (players - 1) * count.games)
            if numbers != count or abs(row["share"] - share) > _SHARE_ERROR:
                return f"other results in seat {seat + 1} of {players} than the log has"
        return ""

    def _opponents(self, read: ReadStatistics, page: OpponentsAnswer) -> str:
        """Return what is wrong with a page of opponents, or ""."""
        for row in page["results"]:
            other = self._bots.get(row["other"])
            if other is None:
                return f"{row['other']} as an opponent, which is no bot"
            shown = MeetingCount(row["games"], row["before"], row["ties"])
            if self._meeting(read.bot, other) != shown:
                return f"other results against {row['other']} than the log has"
        opponents = self._others.get(read.bot, ())
        met = {other for other in opponents if self._meeting(read.bot, other).games}
        # Bots that were merged into others are not shown any more.
        kept = met & self._season.state.bots.keys()
        named = {row["other"] for each in read.opponents for row in each["results"]}
        whole = len({each["counted_seq"] for each in read.opponents}) == 1
        if not len(kept) <= page["count"] <= len(met):
            return "another number of opponents than the log has"
        if whole and len(named) < len(kept):
            return "not all opponents that the log has"
        return ""

    def _meeting(self, bot: int, other: int) -> MeetingCount:
        return self._tallies.meetings.get(MeetingKey(bot, other), _NO_MEETING)


def compare_statistics(
    reads: Sequence[ReadStatistics],
    seasons: dict[SeasonKey, AuditedSeason],
    bots: dict[str, int],
) -> Iterator[AuditFinding]:
    """Yield what the service shows otherwise than the log about the results of bots."""
    by_season: dict[SeasonKey, list[ReadStatistics]] = {}
    for read in reads:
        by_season.setdefault(read.season, []).append(read)
    for key, own in by_season.items():
        season = seasons.get(key)
        if season is None or season.is_broken:
            continue  # the comparison of leaderboards tells that
        where = f"{key[0]} season {key[1]}"
        for slug, problem in CountedSeason(season, bots).compare(own):
            text = f"{where} shows {f'of {slug} ' if slug else ''}{problem}"
            yield AuditFinding(Check.STATISTICS, text)
        for read in own:
            is_named = bots.get(read.slug) == read.bot
            if read.record is None and is_named and read.bot in season.state.bots:
                text = f"{where} does not show the statistics of {read.slug}"
                yield AuditFinding(Check.STATISTICS, text)
