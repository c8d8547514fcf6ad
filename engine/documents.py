"""The documents of the contract as types: replays and their parts (section 7).

A replay from a stranger has this form once `engine.replay.verify` has accepted it.
"""

from typing import NotRequired, TypedDict

from engine.game import Result, Scoring


class SetupEntry(TypedDict):
    """The set-up: `decks` has one deck a seat, or one in all, the top card first."""

    first: int
    decks: list[list[str]]
    master: str | None


class PlayerEntry(TypedDict):
    """A player; the service adds the bot, its upload and its digest."""

    name: str
    bot: NotRequired[str]
    submission: NotRequired[int]
    digest: NotRequired[str]


class MoveEntry(TypedDict):
    """One answer. `ms` is its charged time; `auto` marks answers of the referee.

    `say` and `expect` are the player's thoughts (docs/contract.md, section 8). Like all
    keys after the first two they may be of any form in the replay of a stranger.
    """

    seat: int
    actions: list[str]
    ms: NotRequired[float]
    auto: NotRequired[bool]
    say: NotRequired[str]
    expect: NotRequired[float]


class ForfeitEntry(TypedDict):
    """A forfeit; `reason` is one of `engine.faults.Fault`."""

    seat: int
    before_move: int
    reason: str


class Replay(TypedDict):
    """A replay, `torres-replay/1`. An unfinished game has no result."""

    format: str
    ruleset: str
    switches: dict[str, object]
    seats: int
    seed: NotRequired[str]
    setup: SetupEntry
    players: list[PlayerEntry]
    moves: list[MoveEntry]
    forfeits: list[ForfeitEntry]
    scoring: list[Scoring]
    result: NotRequired[Result]
    engine: NotRequired[str]
