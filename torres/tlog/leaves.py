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
from typing import Any

_TIME = "%Y-%m-%dT%H:%M:%SZ"
SALT_BYTES = 16


class LeafKind(StrEnum):
    """The kinds of leaves: a closed set. docs/public-log.md explains each."""

    LOG_STARTED = "log-started"
    LOG_RESTORED = "log-restored"
    BATCH_COMMITTED = "batch-committed"
    BATCH_REVEALED = "batch-revealed"
    SUBMISSION_ACCEPTED = "submission-accepted"
    MATCH_PLANNED = "match-planned"
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


def parse_leaf(text: bytes | str) -> Leaf:
    """Return the leaf that a text contains. Raises BadLeaf."""
    try:
        document = json.loads(text)
        kind = LeafKind(document["type"])
        time = datetime.strptime(document["time"], _TIME).replace(tzinfo=UTC)
        data = document["data"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise BadLeaf(f"a leaf cannot be read: {error}") from None
    if not isinstance(data, dict):
        raise BadLeaf("a leaf cannot be read: its data is no object")
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
    document = {key: value for key, value in replay.items() if key != "players"}
    text = json.dumps(document, sort_keys=True, separators=(",", ":"))
    return sha256(text.encode()).hexdigest()
