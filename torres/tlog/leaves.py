"""The leaves of the public log: facts, as JSON that never changes.

A leaf of something that is not public yet is sealed: it contains only a hash. A later
leaf contains the sealed content, so that every reader can check it.
"""

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from hashlib import sha256
from typing import Annotated, Any, Literal, NotRequired, TypedDict

from msgspec import Meta

from torres.common.json_object import JsonObject
from torres.common.typed import Hex, Number, checked, parse

_TIME = "%Y-%m-%dT%H:%M:%SZ"
_FIRST_YEAR, _LAST_YEAR = 2000, 9000  # so that a time plus or minus hours is a time
SALT_BYTES = 16


class LeafKind(StrEnum):
    """The kinds of leaves: a closed set. docs/public-log.md explains each."""

    LOG_STARTED = "log-started"
    LOG_RESTORED = "log-restored"
    BATCH_COMMITTED = "batch-committed"
    BATCH_REVEALED = "batch-revealed"
    SUBMISSION_ACCEPTED = "submission-accepted"
    MATCH_PLANNED = "match-planned"
    PAIRINGS_MADE = "pairings-made"
    DECKS_FIXED = "decks-fixed"
    DECKS_RENEWED = "decks-renewed"
    ATTEMPT_ENDED = "attempt-ended"
    GAME_FINISHED = "game-finished"
    GAME_ENDED = "game-ended"
    GAME_VOIDED = "game-voided"
    RATING_CHANGED = "rating-changed"
    BOT_NAMED = "bot-named"
    BOT_STATUS = "bot-status"
    OPERATOR_ACTED = "operator-acted"
    TOURNAMENT_STARTED = "tournament-started"
    ENTRANT_LEFT = "entrant-left"
    FIXTURE_DECIDED = "fixture-decided"
    DATASET_PUBLISHED = "dataset-published"
    SEALED = "sealed"
    UNSEALED = "unsealed"


_FLOAT = r"^-?[0-9]{1,20}(\.[0-9]{1,20})?(e-?[0-9]{1,2})?$"
Numeral = Annotated[str, Meta(pattern=_FLOAT)] | Number
"""A number; leaves write floats as texts."""
Hours = (
    Annotated[int, Meta(ge=0, lt=10_000)]
    | Annotated[str, Meta(pattern=r"^[0-9]{1,4}(\.[0-9]{1,20})?$")]
)
_FRACTION = r"^([0-9]{1,9}(/[1-9][0-9]{0,8})?)?$"
"""An exact number of points; empty while a fixture is open."""
SubmissionKey = Annotated[str, Meta(pattern="^[0-9]{1,18}$")]
"""The number of a submission as the key of an object."""


class LogNamed(TypedDict):
    """The log has this name from now on."""

    name: str


class BatchCommitted(TypedDict):
    batch: Number
    commitment: str
    witnesses: NotRequired[list[str]]


class BatchRevealed(TypedDict):
    batch: Number
    secret: Hex


class SubmissionAccepted(TypedDict):
    submission: Number
    digest: str


class NamedDecks(TypedDict):
    """The rule and the batch that decks have to follow from."""

    rule: str
    batch: Number


class MatchPlanned(TypedDict):
    """A match; `games` has the submissions by seat, and `submissions` their digests."""

    match: Number
    kind: str
    ladder: str
    ruleset: str
    switches: JsonObject
    submissions: dict[SubmissionKey, str]
    games: Annotated[list[list[Number]], Meta(min_length=1)]
    hours: Hours
    deal_of: NotRequired[Number]
    decks: NotRequired[NamedDecks]


class LoggedPairingTerms(TypedDict):
    """The terms of a matchmaker: its shares of tables, and the parameters."""

    tables: dict[str, Numeral]
    parameters: dict[str, Numeral]
    duplicate: bool


class PairingsMade(TypedDict):
    """The steps of a matchmaker, which made matches (`torres.rating.recorded`).

    The first leaf of a session has its terms, and the first leaf of a part the size of
    the tree from whose root the random numbers of the part follow.
    """

    ladder: str
    season: Number
    session: Hex
    part: Number
    steps: list[Annotated[list[Any], Meta(min_length=1)]]
    size: NotRequired[Number]
    terms: NotRequired[LoggedPairingTerms]


class DecksFixed(TypedDict):
    """The decks of matches: pairs of a match and the hash of its seed."""

    size: Number
    batch: Number
    decks: list[tuple[Number, str]]
    cosignatures: list[str | None]


class DecksRenewed(TypedDict):
    match: Number
    game: Number
    decks: NotRequired[NamedDecks]


class LoggedDeal(TypedDict):
    """The inputs of the decks of a game."""

    batch: Number
    commitment: str
    plan: Hex
    size: Number
    root: Hex
    entropy: NotRequired[Hex]
    match_plan: NotRequired[Hex]


class GameFinished(TypedDict):
    """A result; `replay` is the digest of the replay."""

    game: Number
    match: Number
    index: Number
    replay: str
    scores: list[Number]
    ranks: list[Number]
    reason: str
    deal: NotRequired[LoggedDeal]


class GameEnded(TypedDict):
    """A game that has no result."""

    game: Number
    match: Number
    outcome: str


class GameVoided(TypedDict):
    game: Number
    match: Number
    replacement: Number | None


class EntryInputs(TypedDict, total=False):
    """The inputs of an entry of a ledger; each kind of entry has some of them."""

    bot: Number
    submission: Number
    digest: str
    skill: list[Numeral] | None
    gone: Number
    kept: Number
    corrected_by: Number
    parameters: dict[str, Numeral]


class RatingChanged(TypedDict):
    """An entry; `after` has a bot and its μ and σ, or the bot alone if it is gone."""

    ladder: str
    season: Number
    seq: Number
    kind: str
    after: list[Annotated[list[Numeral], Meta(min_length=1)]]
    game: NotRequired[Number]
    inputs: NotRequired[EntryInputs]


class AttemptEnded(TypedDict):
    game: Number


class BotNamed(TypedDict):
    """A hash of the name of a bot (`name_hash`)."""

    bot: Number
    hash: str


class BotChanged(TypedDict):
    """The status of a bot changed, on one ladder or on all."""

    bot: Number


class OperatorActed(TypedDict):
    act: str


class DatasetPublished(TypedDict):
    """A dataset is complete: its day, and the `document_digest` of its manifest."""

    day: str
    manifest: Hex


class TournamentStarted(TypedDict):
    """The entrants are their numbers, and their bots, submissions and seeds."""

    tournament: Number
    config: str
    entrants: list[tuple[Number, Number, Number, Number]]


class EntrantLeft(TypedDict):
    tournament: Number
    entrant: Number


class FixtureDecided(TypedDict):
    """A result; `fixture` is round, pool, table and leg. Open again if `how` is ""."""

    tournament: Number
    fixture: tuple[Number, int, Number, Number]
    match: Number | None
    games: list[Number]
    how: Literal["", "played", "bye", "walkover", "dead"]
    entrants: Annotated[list[Number], Meta(min_length=1)]
    points: list[Annotated[str, Meta(pattern=_FRACTION)]]
    scores: list[Number]


class Sealed(TypedDict):
    hash: str


class Unsealed(TypedDict):
    leaf: Number
    text: str
    salt: Hex


KEYS_OF_KINDS: Mapping[LeafKind, type] = {
    LeafKind.LOG_STARTED: LogNamed,
    LeafKind.LOG_RESTORED: LogNamed,
    LeafKind.BATCH_COMMITTED: BatchCommitted,
    LeafKind.BATCH_REVEALED: BatchRevealed,
    LeafKind.SUBMISSION_ACCEPTED: SubmissionAccepted,
    LeafKind.MATCH_PLANNED: MatchPlanned,
    LeafKind.PAIRINGS_MADE: PairingsMade,
    LeafKind.DECKS_FIXED: DecksFixed,
    LeafKind.DECKS_RENEWED: DecksRenewed,
    LeafKind.ATTEMPT_ENDED: AttemptEnded,
    LeafKind.GAME_FINISHED: GameFinished,
    LeafKind.GAME_ENDED: GameEnded,
    LeafKind.GAME_VOIDED: GameVoided,
    LeafKind.RATING_CHANGED: RatingChanged,
    LeafKind.BOT_NAMED: BotNamed,
    LeafKind.BOT_STATUS: BotChanged,
    LeafKind.OPERATOR_ACTED: OperatorActed,
    LeafKind.DATASET_PUBLISHED: DatasetPublished,
    LeafKind.TOURNAMENT_STARTED: TournamentStarted,
    LeafKind.ENTRANT_LEFT: EntrantLeft,
    LeafKind.FIXTURE_DECIDED: FixtureDecided,
    LeafKind.SEALED: Sealed,
    LeafKind.UNSEALED: Unsealed,
}
"""The keys of each kind that are read; they are checked. A leaf may have more keys."""


class _Document(TypedDict):
    type: str
    time: str
    data: JsonObject


class BadLeaf(ValueError):
    """A leaf is not one that this version knows; the text says why."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """One leaf, read from its text. `data` has the keys that its kind has."""

    kind: LeafKind
    time: datetime
    data: Mapping[str, Any]


def leaf_text(kind: str, time: datetime, data: str) -> str:
    """Return the text of a leaf: its data, the time to the second, and its kind.

    `data` is a text of `canonical`, and so is the result.
    """
    # As _TIME, but `strftime` takes four times as long.
    moment = time.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="seconds")
    return f'{{"data":{data},"time":"{moment}Z","type":"{kind}"}}'


def _kind(name: str) -> LeafKind:
    try:
        return LeafKind(name)
    except ValueError:
        raise BadLeaf(
            f"this torres does not know its kind, {name!r}: install the newest version"
        ) from None


def parse_leaf(text: bytes | str) -> Leaf:
    """Return the leaf that a text contains. Raises BadLeaf."""
    try:
        document = checked(_Document, parse(text))
        kind = _kind(document["type"])
        time = datetime.strptime(document["time"], _TIME).replace(tzinfo=UTC)
        data: JsonObject = checked(
            KEYS_OF_KINDS.get(kind, JsonObject), document["data"]
        )
    except ValueError as error:
        raise BadLeaf(f"a leaf cannot be read: {error}") from None
    if not _FIRST_YEAR <= time.year < _LAST_YEAR:
        raise BadLeaf(f"a leaf cannot be read: its time is {time.year}")
    return Leaf(kind, time, data)


_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def canonical(document: Mapping[str, Any]) -> str:
    """Return JSON with sorted keys and without spaces; floats are written as texts.

    So the text does not depend on how a language writes floats (RFC 8785).
    """
    return _ENCODER.encode(_exact(document))


def _exact(value: object) -> object:
    # The most frequent types come first: leaves of games are written all the time.
    if isinstance(value, (str, int)):
        return value
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, (list, tuple)):
        return [_exact(inner) for inner in value]
    if isinstance(value, Mapping):
        return {str(key): _exact(inner) for key, inner in value.items()}
    return value


def new_salt() -> bytes:
    """Return random bytes, without which a sealed text could be guessed."""
    return secrets.token_bytes(SALT_BYTES)


def seal(salt: bytes, text: str) -> str:
    """Return the hash that stands in the log for the text of a sealed leaf."""
    return sha256(salt + text.encode()).hexdigest()


def name_hash(salt: bytes, slug: str, name: str) -> str:
    """Return the hash that stands in the log for the slug and the name of a bot."""
    return seal(salt, f"{slug}\n{name}")


def replay_digest(replay: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a replay without its players, as hexadecimal digits.

    The players are left out, because a deleted account takes its names out of replays.
    Their submissions stand in the leaf of the match.
    """
    return document_digest({k: v for k, v in replay.items() if k != "players"})


def document_digest(document: Mapping[str, Any]) -> str:
    """Return the SHA-256 of JSON with sorted keys and without spaces."""
    text = json.dumps(document, sort_keys=True, separators=(",", ":"))
    return sha256(text.encode()).hexdigest()
