"""Compare what a service shows with what follows from its log, in both directions.

Everything that the first leaves of the log tell has to be shown: those that it had
before the service was read. Everything that is shown has to follow from the log that
was copied afterwards. So an audit does not depend on how busy the service
is.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from torres.auditing.findings import AuditFinding, Check
from torres.auditing.logged import LoggedGame, Plan, Story
from torres.auditing.ratings import AuditedSeason, RatingsAudit, SeasonKey
from torres.auditing.statistics import ReadStatistics, compare_statistics
from torres.auditing.story import FIRST_TIME, LATE
from torres.auditing.tournaments import ReadStandings, compare_standings
from torres.common.answers import BotAnswer, GameAnswer, RowAnswer, SeatAnswer
from torres.common.json_object import JsonObject
from torres.common.moments import parse_moment
from torres.rating.ledger import BotState, LedgerState
from torres.tlog.leaves import name_hash


@dataclass(frozen=True, slots=True)
class ReadLeaderboard:
    """The leaderboard of a season, which follows from its first `head` entries.

    The strengths in it follow from the first `joint_seq`, and None says that it has
    none.
    """

    season: SeasonKey
    head: int
    rows: Sequence[RowAnswer]
    joint_seq: int | None = None


@dataclass(frozen=True, slots=True)
class PublicView:
    """The games, leaderboards, bots and tournaments that a service shows.

    `first` is the size of the log before they were read. `datasets` has the digests of
    the manifests by day.
    """

    first: int
    boards: Sequence[ReadLeaderboard]
    games: Mapping[int, GameAnswer]
    bots: Mapping[int, BotAnswer]
    standings: ReadStandings
    datasets: Mapping[str, str] = field(default_factory=dict)
    statistics: Sequence[ReadStatistics] = ()

    def heads(self) -> dict[SeasonKey, set[int]]:
        """Return the entries after which the leaderboards were read."""
        heads: dict[SeasonKey, set[int]] = {}
        for board in self.boards:
            heads.setdefault(board.season, set()).add(board.head)
            if board.joint_seq is not None:
                heads[board.season].add(board.joint_seq)
        return heads

    def slugs(self) -> dict[str, int]:
        """Return the numbers of all bots by their slugs, as they were shown."""
        rows = (row for board in self.boards for row in board.rows)
        slugs = {row["bot"]: row["id"] for row in rows}
        return slugs | {bot["slug"]: number for number, bot in self.bots.items()}

    def forfeits(self) -> dict[int, list[str | None]]:
        """Return the reasons of all seats that forfeited, by the numbers of games."""
        return {
            number: [seat["forfeit"] for seat in _seats(game)]
            for number, game in self.games.items()
        }

    def is_in(self, story: Story) -> bool:
        """True if the log was copied late enough to have all that is shown."""
        entries: dict[SeasonKey, int] = {}
        for _, leaf in story.ratings:
            entries[leaf.data["ladder"], leaf.data["season"]] = leaf.data["seq"]
        names = (number for number, bot in self.bots.items() if bot["name_salt"])
        return (
            self.games.keys() <= story.games.keys()
            and all(number in story.names for number in names)
            and not any(compare_standings(self.standings, story))
            and not any(compare_datasets(self, story))
            and all(board.head <= entries.get(board.season, 0) for board in self.boards)
            and all(
                read.last_entry() <= entries.get(read.season, 0)
                for read in self.statistics
            )
        )


def compare_names(view: PublicView, ratings: RatingsAudit) -> Iterator[AuditFinding]:
    """Yield the bots that the service shows under other names than the log has."""
    names = ratings.story.names
    for number, bot in view.bots.items():
        logged = names.get(number, [])
        # A name may change while the service is read.
        before = [name for name in logged if name.leaf < view.first][-1:]
        valid = {name.hash for name in before}
        valid |= {name.hash for name in logged if name.leaf >= view.first}
        if not (logged or bot["name_salt"]):
            continue  # a bot without an upload, or one of an older service
        salt = bytes.fromhex(bot["name_salt"])
        if name_hash(salt, bot["slug"], bot["name"]) not in valid:
            text = f"the service calls bot {number} {bot['slug']}, which the log denies"
            yield AuditFinding(Check.NAMES, text, logged[-1].leaf if logged else None)
    shown = {bot["slug"]: number for number, bot in view.bots.items()}
    for row in (row for board in view.boards for row in board.rows):
        if shown.get(row["bot"], row["id"]) != row["id"]:
            text = f"a leaderboard calls bot {row['id']} {row['bot']}"
            yield AuditFinding(Check.NAMES, f"{text}, the name of another bot")
    for number in sorted(names.keys() - view.bots.keys()):
        if names[number][0].leaf < view.first:
            text = f"the service does not show bot {number}, which the log names"
            yield AuditFinding(Check.NAMES, text, names[number][0].leaf)


def compare_datasets(view: PublicView, story: Story) -> Iterator[AuditFinding]:
    """Yield the datasets whose manifest is not in the log.

    Services of older versions logged none, so those before the first one are left out.
    """
    first = min(story.datasets, default="")
    for day, digest in view.datasets.items():
        if not (story.names_since == FIRST_TIME or (first and day >= first)):
            continue
        if digest not in story.datasets.get(day, ()):
            text = f"the log has another manifest of the dataset of {day}, or none"
            yield AuditFinding(Check.DATASETS, text)


def compare_games(view: PublicView, ratings: RatingsAudit) -> Iterator[AuditFinding]:
    """Yield the games that the service shows otherwise than the log, or not at all."""
    story = ratings.story
    slugs = {row["id"]: row["bot"] for board in view.boards for row in board.rows}
    for number, game in view.games.items():
        logged = story.games.get(number)
        if logged is None:
            text = f"the service shows game {number}, which the log does not have"
            yield AuditFinding(Check.GAMES, text)
            continue
        for text in _differences(view.first, logged, game):
            yield AuditFinding(Check.GAMES, f"game {number} {text}", logged.leaf)
        for seat in _seats(game):
            bot = ratings.bot_of(seat["submission"])
            if bot in slugs and slugs[bot] != seat["bot"]:
                text = f"game {number} shows {seat['bot']} in the seat of {slugs[bot]}"
                yield AuditFinding(Check.GAMES, text, logged.leaf)
    for number, logged in story.games.items():
        if number not in view.games and logged.public < view.first:
            text = f"the service does not show game {number}, which has a result"
            yield AuditFinding(Check.GAMES, text, logged.leaf)


def _differences(first: int, logged: LoggedGame, game: GameAnswer) -> Iterator[str]:
    seats = _seats(game)
    plan = logged.plan.data
    result = ([seat["rank"] for seat in seats], [seat["score"] for seat in seats])
    if result != (logged.data["ranks"], logged.data["scores"]):
        yield "has another result in the log"
    if game["reason"] != logged.data["reason"]:
        yield "ended for another reason in the log"
    planned = plan["games"][logged.data["index"]]
    if [seat["submission"] for seat in seats] != planned:
        yield "has other seats in the log"
    shown = (game["match"], game["index"], game["ladder"] or "", game["ruleset"])
    if shown != (plan["match"], logged.data["index"], plan["ladder"], plan["ruleset"]):
        yield "belongs to another match, ladder or ruleset in the log"
    ended = parse_moment(game["finished_at"] or "")
    if ended is None or abs(ended - logged.time) > LATE:
        yield "ended at another time in the log"
    if game["status"] == "voided" and not logged.voided:
        yield "is voided, and the log does not have that"
    was_voided = logged.voided_by is not None and logged.voided_by < first
    if game["status"] != "voided" and was_voided:
        yield "is voided in the log, and the service shows it as valid"


def withheld_replays(
    story: Story, view: PublicView, replays: set[int]
) -> Iterator[AuditFinding]:
    """Yield the games whose replays are not shown although their decks are over."""
    in_play = {_deal(plan) for plan in story.plans.values() if plan.open > 0}
    for number in view.games.keys() - replays:
        logged = story.games.get(number)
        if logged is not None and _deal(logged.plan) not in in_play:
            text = f"the service does not show the replay of game {number}"
            yield AuditFinding(Check.REPLAYS, text, logged.leaf)


def compare_forfeits(game: GameAnswer, replay: JsonObject) -> str:
    """Return what is wrong with the forfeits that are shown of a game, or ""."""
    forfeits = {entry["seat"]: entry["reason"] for entry in replay["forfeits"]}
    shown = {s["seat"]: s["forfeit"] for s in _seats(game) if s["forfeit"]}
    return "" if shown == forfeits else "the replay has other forfeits than the service"


def compare_leaderboards(
    view: PublicView, ratings: RatingsAudit
) -> Iterator[AuditFinding]:
    """Yield what leaderboards show otherwise than the log, or not at all."""
    for board in view.boards:
        slug, number = board.season
        season = ratings.seasons.get(board.season)
        if season is None:
            if board.rows or board.head:
                text = (
                    f"the service shows season {number} of {slug}, and the log has none"
                )
                yield AuditFinding(Check.LEADERBOARDS, text)
        elif not season.is_broken:
            for text in _board_differences(board, season):
                yield AuditFinding(Check.LEADERBOARDS, f"{slug} season {number} {text}")
    shown = {board.season for board in view.boards}
    for key, season in ratings.seasons.items():
        if key not in shown and season.leaf < view.first:
            text = f"the service does not show season {key[1]} of {key[0]}"
            yield AuditFinding(Check.LEADERBOARDS, text, season.leaf)


def compare_counts(view: PublicView, ratings: RatingsAudit) -> Iterator[AuditFinding]:
    """Yield what the service shows otherwise than the log about the results of bots."""
    return compare_statistics(view.statistics, ratings.seasons, view.slugs())


def stale_answers(view: PublicView, ratings: RatingsAudit) -> Iterator[AuditFinding]:
    """Yield the leaderboards and statistics without entries that are an hour old."""
    shown = [(Check.LEADERBOARDS, board.season, board.head) for board in view.boards]
    shown += [
        (Check.STATISTICS, read.season, read.first_entry())
        for read in view.statistics
        if read.record
    ]
    due = ratings.due_entries(view.first)
    for check, season, entry in dict.fromkeys(shown):
        if entry < due.get(season, 0):
            slug, number = season
            text = f"{slug} season {number} shows what it was after entry {entry}"
            yield AuditFinding(check, f"{text}, and later ones are older than an hour")


def _board_differences(board: ReadLeaderboard, season: AuditedSeason) -> Iterator[str]:
    state = season.at.get(board.head)
    if state is None:
        yield "shows ratings after an entry that the log does not have"
        return
    ranks = _ranks(state)
    rows = {row["id"]: row for row in board.rows}
    for bot, row in rows.items():
        if bot not in state.bots:
            yield f"shows {row['bot']}, which the log does not rate"
        elif not _is_row(row, state.bots[bot], ranks[bot]):
            yield f"shows another rating, rank or record of {row['bot']} than the log"
    for bot in sorted(state.bots.keys() - rows.keys()):
        yield f"does not show bot {bot}, which the log rates"
    if len(rows) != len(board.rows) or len({r["bot"] for r in board.rows}) != len(rows):
        yield "shows a bot more than once"


def _ranks(state: LedgerState) -> dict[int, int]:
    """Return the rank of each bot; equal ratings share the better rank."""
    ratings = {bot: each.skill.shown_rating for bot, each in state.bots.items()}
    ordered = sorted(ratings.values(), reverse=True)
    first: dict[float, int] = {}
    for rank, rating in enumerate(ordered, 1):
        first.setdefault(rating, rank)
    return {bot: first[rating] for bot, rating in ratings.items()}


def _is_row(row: RowAnswer, bot: BotState, rank: int) -> bool:
    shown = [row["mu"], row["sigma"], row["rating"]]
    record = [row["rank"], row["games"], row["forfeits"]]
    skill = [*bot.skill, bot.skill.shown_rating]
    return shown == skill and record == [rank, bot.games, bot.forfeits]


def _deal(plan: Plan) -> int:
    """Return the match whose decks a planned match has."""
    match: int = plan.data.get("deal_of", plan.data["match"])
    return match


def _seats(game: GameAnswer) -> list[SeatAnswer]:
    return sorted(game["seats"], key=lambda seat: seat["seat"])
