"""The findings of an audit: one object for each thing that should not be."""

from dataclasses import dataclass
from enum import StrEnum


class Check(StrEnum):
    """The checks of an audit, as they are printed. docs/public-log.md explains each."""

    LOG = "log"
    FORK = "fork"
    SPLIT_VIEW = "split-view"
    WITNESSES = "witnesses"
    TIMES = "times"
    SECRETS = "secrets"
    DECKS = "decks"
    SUBMISSIONS = "submissions"
    GAMES = "games"
    REPLAYS = "replays"
    OVERDUE = "overdue"
    MATCHMAKING = "matchmaking"
    RATINGS = "ratings"
    LEADERBOARDS = "leaderboards"
    STATISTICS = "statistics"
    STRENGTHS = "strengths"
    NAMES = "names"
    TOURNAMENTS = "tournaments"
    DATASETS = "datasets"
    HAND = "operator's hand"


@dataclass(frozen=True, slots=True)
class AuditFinding:
    """Something that is not as it should be. `leaf` is the leaf that shows it."""

    check: Check
    text: str
    leaf: int | None = None

    def __str__(self) -> str:
        where = "" if self.leaf is None else f"leaf {self.leaf}: "
        return f"{self.check}: {where}{self.text}"
