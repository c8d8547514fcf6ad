"""The story that the leaves of a log tell: batches of decks, plans, games, findings."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from torres.auditing.findings import AuditFinding, Check
from torres.formats.config import Config
from torres.formats.values import FixtureRecord, SeededEntrant
from torres.tlog.leaves import Leaf
from torres.tlog.notes import VerifierKey


@dataclass(slots=True)
class Batch:
    """A batch of decks: when its secret was committed to, and the secret if known.

    `witnesses` are those whose cosignatures enter its seeds. `revealed` is the leaf
    that made the secret public.
    """

    leaf: int
    time: datetime
    commitment: str
    witnesses: Sequence[VerifierKey] = ()
    secret: bytes | None = None
    revealed: int | None = None


class Asking(NamedTuple):
    """The leaf with which a match asks for decks: its plan, or a later leaf.

    `batch` is the one that it names; None in a log of an older version, where the leaf
    of the game names it.
    """

    leaf: int
    hash: bytes
    batch: int | None


class FixedDecks(NamedTuple):
    """The decks of a match before it is played: a hash, and what they follow from.

    `size` is that of the tree, and `source` the hash of the leaf that asked for them.
    """

    leaf: int
    batch: int
    size: int
    source: bytes
    entropy: bytes
    seed_hash: str


@dataclass(slots=True)
class Plan:
    """A planned match. `open` counts its games that have not ended."""

    leaf: int
    hash: bytes
    time: datetime
    data: Mapping[str, Any]
    open: int
    asking: Asking
    fixed: FixedDecks | None = None

    @property
    def deadline(self) -> datetime:
        return self.time + timedelta(hours=float(self.data["hours"]))


@dataclass(slots=True)
class LoggedGame:
    """A finished game, and the plan of its match. A voided one counts no more.

    Since the leaf `public` everybody may see the result, and since the leaf
    `voided_by`, of the time `voided_at`, that it counts no more. `fixed` are the decks
    that the log had fixed.
    """

    leaf: int
    time: datetime
    data: Mapping[str, Any]
    plan: Plan
    public: int
    fixed: FixedDecks | None = None
    voided_by: int | None = None
    voided_at: datetime | None = None

    @property
    def voided(self) -> bool:
        return self.voided_by is not None


class Change(NamedTuple):
    """A change of a bot, and the leaf that has it."""

    leaf: int
    time: datetime


class DecidedFixture(NamedTuple):
    """The result of a fixture, None if it is open again, and the leaf that has it.

    `games` are those of the match that counted.
    """

    leaf: int
    time: datetime
    record: FixtureRecord
    match: int | None
    games: Sequence[int]


@dataclass(slots=True)
class LoggedTournament:
    """A tournament that has started: its format, its entrants, and all decisions.

    `bots` and `submissions` are those of the entrants. `left` has the leaves with which
    entrants left.
    """

    leaf: int
    config: Config
    entrants: Sequence[SeededEntrant]
    bots: Mapping[int, int]
    submissions: Mapping[int, int]
    left: dict[int, Change] = field(default_factory=dict)
    decisions: list[DecidedFixture] = field(default_factory=list)


class LoggedName(NamedTuple):
    """The hash of a bot's name, and the leaf that has it."""

    leaf: int
    hash: str


class CancelledGame(NamedTuple):
    """A game that was cancelled, and the plan of its match."""

    time: datetime
    plan: Plan


@dataclass(slots=True)
class Story:
    """Everything that a log tells, after all its leaves were read.

    `dealt` counts the matches whose decks were fixed before play, and `witnessed` those
    of them whose seeds have the cosignatures of all witnesses of their batches.
    `failed` has the number of attempts at a game that failed or were given back,
    `renewed` that of matches that got other decks, `acts` that of operators' acts of
    each kind, and `changed` when the status or the version of a bot changed. `pairings`
    are the leaves with steps of matchmakers, which are read once more if needed.
    """

    end: datetime
    submissions: dict[int, str] = field(default_factory=dict)
    datasets: dict[str, set[str]] = field(default_factory=dict)
    batches: dict[int, Batch] = field(default_factory=dict)
    plans: dict[int, Plan] = field(default_factory=dict)
    games: dict[int, LoggedGame] = field(default_factory=dict)
    ratings: list[tuple[int, Leaf]] = field(default_factory=list)
    pairings: list[int] = field(default_factory=list)
    ended: set[int] = field(default_factory=set)
    dead: set[int] = field(default_factory=set)
    replacements: set[int] = field(default_factory=set)
    failed: Counter[int] = field(default_factory=Counter)
    cancelled: dict[int, CancelledGame] = field(default_factory=dict)
    renewed: int = 0
    tournaments: dict[int, LoggedTournament] = field(default_factory=dict)
    names_since: datetime | None = None
    names: dict[int, list[LoggedName]] = field(default_factory=dict)
    changed: dict[int, list[Change]] = field(default_factory=dict)
    acts: Counter[str] = field(default_factory=Counter)
    sealed: int = 0
    dealt: int = 0
    witnessed: int = 0
    findings: list[AuditFinding] = field(default_factory=list)

    def end_game(self, game: int, plan: Plan) -> None:
        """Count the end of a game once: a dead game may be revived or given up."""
        if game not in self.ended:
            self.ended.add(game)
            plan.open -= 1

    def change_bot(self, bot: int, number: int, leaf: Leaf) -> None:
        """Remember that a leaf changes the status or the version of a bot."""
        self.changed.setdefault(bot, []).append(Change(number, leaf.time))

    def add(self, check: Check, text: str, leaf: int | None = None) -> None:
        self.findings.append(AuditFinding(check, text, leaf))
