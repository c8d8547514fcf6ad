"""The answers of the REST API that programs in torres/ read (docs/api.md).

Each type names the keys that are read, and they are checked. An answer has more keys.
"""

from typing import Annotated, Literal, NotRequired, TypedDict

from msgspec import Meta

from torres.common.json_object import JsonObject
from torres.common.typed import Hex, Number, Real

SeatNumber = Annotated[int, Meta(ge=0, le=3)]
DatasetDay = Annotated[str, Meta(pattern=r"^\d{4}-\d{2}-\d{2}$")]
SeasonNumber = Annotated[int, Meta(ge=1, le=10_000)]
"""The seasons of a ladder are read one by one."""


class ProblemAnswer(TypedDict):
    """Why a request was refused."""

    detail: str


class UserAnswer(TypedDict):
    """The user of a token. Services before scopes did not tell them."""

    name: str
    scopes: NotRequired[list[str]]


class StatusAnswer(TypedDict):
    """The state of a service. Services of the first days did not tell versions."""

    versions: NotRequired[dict[str, str]]


class BotAnswer(TypedDict):
    """A bot; the log has a hash of `name_salt`, slug and name under the number."""

    id: Number
    owner: str | None
    name_salt: Hex
    slug: str
    name: str
    house: bool
    status: str


class StepAnswer(TypedDict):
    name: str
    ok: bool
    detail: str


class ReportAnswer(TypedDict):
    summary: str
    steps: list[StepAnswer]


class SubmissionAnswer(TypedDict):
    """A submission; only its owner sees the log."""

    id: Number
    number: Number
    status: str
    report: ReportAnswer
    log: NotRequired[str]


class SeasonAnswer(TypedDict):
    number: SeasonNumber


class LanguageAnswer(TypedDict):
    """A language of bots, with the first lines that its tools say of their versions."""

    name: str
    versions: list[str]


class LanguagesAnswer(TypedDict):
    languages: list[LanguageAnswer]


class LadderAnswer(TypedDict):
    """A ladder; `tables` has the shares of matches by the number of seats."""

    slug: str
    default: bool
    ruleset: str
    switches: JsonObject
    tables: dict[Literal["2", "3", "4"], Real]
    limits: dict[str, Number]
    season: SeasonAnswer | None


class JointAnswer(TypedDict):
    """The strength of a bot by the joint fit, with its interval and ranks."""

    value: Real
    low: Real
    high: Real
    best: Number
    worst: Number
    games: Number


class RowAnswer(TypedDict):
    """A row of a leaderboard."""

    rank: Number
    bot: str
    id: Number
    name: str
    mu: Real
    sigma: Real
    rating: Real
    games: Number | None
    forfeits: Number | None
    joint: NotRequired[JointAnswer | None]


class LeaderboardAnswer(TypedDict):
    """A page; its rows follow from the first `head` entries of the season's ledger.

    The strengths (`joint`) follow from the first `joint_seq` entries.
    """

    head: Number | None
    joint_seq: NotRequired[Number | None]
    results: list[RowAnswer]


class RecordAnswer(TypedDict):
    rank: Number
    rating: Real
    games: Number


class StrengthAnswer(TypedDict):
    """The results of a bot in a seat of games with this number of players."""

    players: Number
    seat: SeatNumber
    games: Number
    wins: Number
    share: Real


class CountedRecordAnswer(TypedDict):
    """The results of a bot in a season up to the entry `counted_seq`, by seat."""

    season: Number
    counted_seq: Number | None
    strength: list[StrengthAnswer]


class MeetingAnswer(TypedDict):
    """How often a bot met another one, and finished before it or tied."""

    other: str
    games: Number
    before: Number
    ties: Number


class OpponentsAnswer(TypedDict):
    """A page of the opponents of a bot; `count` is the number of all of them."""

    season: Number
    counted_seq: Number | None
    count: Number
    results: list[MeetingAnswer]


class TournamentAnswer(TypedDict):
    id: Number
    slug: str
    started_at: str | None


class LineAnswer(TypedDict):
    """A line of the standings of a tournament; `id` is the number of the bot."""

    rank: Number
    id: Number
    points: Real
    played: Number
    tie_breaks: dict[str, Real]
    withdrawn: bool


class DatasetsAnswer(TypedDict):
    """The days of the datasets. A service keeps few."""

    days: Annotated[list[DatasetDay], Meta(max_length=100)]


class StandingsAnswer(TypedDict):
    standings: list[LineAnswer]


class PlaceAnswer(TypedDict):
    """A ladder as seen from a bot."""

    ladder: str
    default: bool
    status: str | None


class SeatAnswer(TypedDict):
    """A seat of a game; `forfeit` is the reason of a forfeit."""

    seat: SeatNumber
    bot: str
    name: str
    submission: Number
    number: Number
    score: Number | None
    rank: Number | None
    forfeit: str | None


class GameAnswer(TypedDict):
    id: Number
    match: Number
    index: Number
    status: str
    ruleset: str
    ladder: str | None
    seats: list[SeatAnswer]
    reason: str
    finished_at: str | None


class MatchAnswer(TypedDict):
    limits: dict[str, Number]


class MoveAnswer(TypedDict):
    seat: SeatNumber
    actions: list[str]


class MovesAnswer(TypedDict):
    """The moves of a game so far, in its attempt number `attempt`."""

    status: str
    attempt: Number | None
    moves: list[MoveAnswer]


class SeatLogAnswer(TypedDict):
    """The output of an own seat in one attempt."""

    seat: SeatNumber
    bot: str
    attempt: Number
    forfeit: str | None
    detail: str
    stderr: str
    notes: list[JsonObject]


class ExportedGame(TypedDict):
    cursor: str
    game: GameAnswer


class ExportedReplay(TypedDict):
    cursor: str
    id: Number
    replay: JsonObject


class ExportEnd(TypedDict):
    """The last line of a part of an export; `next` is null at the end of all parts."""

    next: str | None


class PageLinks(TypedDict):
    next: str | None
