"""A matchmaker whose decisions anyone can repeat.

It records each step that changes it. Its decisions follow from these steps, from the
ratings of the bots and from the seeds of its random numbers. So an audit makes the same
seatings again (`torres.auditing.pairings`).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum
from hashlib import sha256
from random import Random
from typing import Any, NamedTuple

from torres.rating.ledger import BotState
from torres.rating.pairing import Matchmaker, PairingTerms, Seating
from torres.rating.pool import BotProfile, CandidatePool

ROWS_AT_ONCE = 200
"""A step has at most this many rows, so that each leaf of the log stays small."""
UNWRITTEN = 0
"""Stands for the match of a seating that was made and not written."""

Step = list[Any]
ReadTree = Callable[[], tuple[int, bytes]]
"""Returns the size and the root of the newest tree of the log."""


class StepKind(StrEnum):
    """The first element of a step; docs/public-log.md names the others."""

    ROWS = "rows"
    FILL = "fill"
    UPDATE = "update"
    REMOVE = "remove"
    MET = "met"
    CHARGE = "charge"
    OPEN = "open"
    MAKE = "make"


class PooledBot(NamedTuple):
    """A bot that enters the pool, as a row of a step.

    `seq` is the last entry of the ledger that changed the bot, and `digest` identifies
    the rating after it (`rating_digest`). Owners have numbers in order of appearance.
    """

    bot: int
    submission: int
    seq: int
    owner: int
    house: int
    digest: str


class Recorded(NamedTuple):
    """The steps of one part. Its random numbers follow from the tree of this size."""

    number: int
    size: int
    steps: list[Step]


def rating_digest(profile: BotProfile | BotState, mu: float, sigma: float) -> str:
    """Return eight digits by which the rating and the record of a bot are known."""
    facts = (mu, sigma, profile.games, profile.fresh, profile.latest)
    return sha256(repr(facts).encode()).hexdigest()[:8]


def seed(root: bytes, ladder: str, season: int, part: int) -> int:
    """Return the seed of the random numbers of a part, from the root of a tree."""
    text = f"torres matchmaking {ladder} {season} {part} ".encode()
    return int.from_bytes(sha256(text + root).digest())


class RecordedMatchmaker:
    """A matchmaker with a record of what has changed it since the last part."""

    def __init__(
        self, terms: PairingTerms, ladder: str, season: int, read_tree: ReadTree
    ) -> None:
        self._rng = Random()  # noqa: S311 -- pairs are public
        self._matchmaker = Matchmaker(terms, self._rng)
        self._season = ladder, season
        self._read_tree = read_tree
        self._parts = 0
        self._size = 0
        self._steps: list[Step] = []
        self._made: list[int] = []
        self._owners: dict[object, int] = {}

    @property
    def terms(self) -> PairingTerms:
        return self._matchmaker.terms

    @property
    def pool(self) -> CandidatePool:
        """The pool, to be read; the methods of this class change it."""
        return self._matchmaker.pool

    def fill(self, bots: Sequence[tuple[int, BotProfile]]) -> None:
        """Add many bots at once: entries of the ledger, and profiles."""
        rows = [self._row(seq, profile) for seq, profile in bots]
        for some in _chunks(rows):
            self._add(StepKind.ROWS, some)
        self._add(StepKind.FILL)
        self.pool.fill(profile for _, profile in bots)

    def update(self, seq: int, profile: BotProfile) -> None:
        """Add a bot, or replace its profile, which has been so since entry `seq`."""
        self._add(StepKind.UPDATE, *self._row(seq, profile))
        self._matchmaker.update(profile)

    def remove(self, bot: int) -> None:
        self._add(StepKind.REMOVE, bot)
        self.pool.remove(bot)

    def remember(self, matches: Mapping[int, Sequence[int]]) -> None:
        """Remember who met and who sat where: the bots by seat of some matches."""
        for some in _chunks(list(matches)):
            self._add(StepKind.MET, some)
        for seats in matches.values():
            self._matchmaker.remember(seats)

    def charge_unrated(self, bot: int, submission: int, turns: int) -> None:
        """Charge a bot for an attempt or a game that will never be rated."""
        self._add(StepKind.CHARGE, bot, submission, turns)
        self._matchmaker.charge_unrated(bot, submission, turns)

    def count_open(self, counts: Mapping[int, int]) -> None:
        """Set how many games of these bots are open."""
        changed = [
            [bot, games]
            for bot, games in counts.items()
            if (candidate := self.pool.get(bot)) and candidate.open_games != games
        ]
        for some in _chunks(changed):
            self._add(StepKind.OPEN, some)
        for bot, games in changed:
            self.pool[bot].open_games = games

    def next_seatings(self, wanted: int) -> list[Seating]:
        """Make up to `wanted` seatings. `written` says then what became of them."""
        self._made = []
        self._add(StepKind.MAKE, self._made)
        seatings: list[Seating] = []
        while len(seatings) < wanted and (seating := self._matchmaker.next_seating()):
            seatings.append(seating)
            self._made.append(UNWRITTEN)
        if not seatings:
            self._steps.pop()
        return seatings

    def written(self, matches: Sequence[int]) -> None:
        """Name the matches of the latest seatings, in order, or UNWRITTEN."""
        self._made[:] = matches

    def take(self) -> Recorded:
        """Return the part that ends here. The next step begins another one."""
        part = Recorded(self._parts, self._size, self._steps)
        self._steps = []
        self._parts += 1
        return part

    def _add(self, kind: StepKind, *rest: object) -> None:
        if not self._steps:
            self._size, root = self._read_tree()
            self._rng.seed(seed(root, *self._season, self._parts))
        self._steps.append([kind.value, *rest])

    def _row(self, seq: int, profile: BotProfile) -> PooledBot:
        owner = self._owners.setdefault(profile.owner, len(self._owners) + 1)
        digest = rating_digest(profile, profile.mu, profile.sigma)
        house = int(profile.house)
        return PooledBot(profile.bot, profile.submission, seq, owner, house, digest)


def _chunks(rows: Sequence[Any]) -> Iterator[list[Any]]:
    for start in range(0, len(rows), ROWS_AT_ONCE):
        yield list(rows[start : start + ROWS_AT_ONCE])
