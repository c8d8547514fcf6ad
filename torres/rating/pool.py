"""The pool of bots that a matchmaker chooses from, sorted by skill and by turn.

Numbers only, no database. Each change costs a binary search and moves the tail of a
list: microseconds for ten thousand bots. So nothing is ever sorted as a whole.
"""

from bisect import bisect_left, insort
from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from random import Random
from statistics import median

RECENT_OPPONENTS = 24
"""The number of latest opponents that are remembered for each bot."""
MAX_TURNS_BEHIND = 10.0
"""A bot that enters late is at most this many turns behind the middle of the pool, so
that it need not make up for all the games that it missed."""
NEWCOMER_GAMES = 20
"""A bot counts as new for this many games after its code changed."""
NEWCOMER_GAME_TURNS = 0.25
"""The turns that a game costs a new bot. Others pay 1, so new bots play more often."""
NEWCOMER_TURNS = NEWCOMER_GAMES * NEWCOMER_GAME_TURNS
"""A new bot enters this many turns before all bots that are not new. So its first games
come at once, however many bots there are."""
MAX_NEW_IN_FRONT = 500
"""A bot that is not new is searched among this many bots that are next in turn."""

SortKey = tuple[float, float, int]


@dataclass(frozen=True, slots=True)
class BotProfile:
    """The facts about a bot that matchmaking needs, as the ledger has them.

    `owner` is a person, or a unique value for a house bot. `games` counts the bot's
    rated games of this season, `fresh` those since its code changed last. `latest` has
    a bit for each of its latest games (`ledger.BotState`), 1 for a forfeit. `house` is
    true for a bot of the service.
    """

    bot: int
    name: str
    submission: int
    owner: Hashable
    mu: float
    sigma: float
    games: int = 0
    fresh: int = 0
    latest: int = 0
    house: bool = False

    @property
    def recent_forfeits(self) -> int:
        return self.latest.bit_count()


@dataclass(slots=True)
class Candidate:
    """A bot in the pool: its profile, and what the matchmaker remembers of it.

    `turns` counts the turns that the bot has used; the bot with the fewest is next.
    `tiebreak` is a random number that orders equal bots. `open_games` counts games that
    are scheduled or running. `unrated` counts what the present submission cost without
    a rated game: attempts that failed in its seat, and dead games. `seat_counts` is
    keyed by (number of seats, seat).
    """

    profile: BotProfile
    turns: float
    tiebreak: float
    open_games: int = 0
    unrated: int = 0
    opponents: deque[int] = field(
        default_factory=lambda: deque(maxlen=RECENT_OPPONENTS)
    )
    seat_counts: Counter[tuple[int, int]] = field(default_factory=Counter)

    @property
    def bot(self) -> int:
        return self.profile.bot

    @property
    def skill_key(self) -> SortKey:
        return self.profile.mu, self.tiebreak, self.bot

    @property
    def turn_key(self) -> SortKey:
        return self.turns, self.tiebreak, self.bot


class CandidatePool:
    """All candidates. `rng` draws the numbers that order equal bots."""

    def __init__(self, rng: Random) -> None:
        self._rng = rng
        self._candidates: dict[int, Candidate] = {}
        self._by_skill: list[SortKey] = []
        self._by_turn: list[SortKey] = []
        self.owners: dict[Hashable, dict[int, Candidate]] = {}

    def __len__(self) -> int:
        return len(self._candidates)

    def __getitem__(self, bot: int) -> Candidate:
        return self._candidates[bot]

    def get(self, bot: int) -> Candidate | None:
        return self._candidates.get(bot)

    def bots(self) -> set[int]:
        return set(self._candidates)

    def fill(self, profiles: Iterable[BotProfile]) -> None:
        """Add many bots at once, after a start that forgot their turns."""
        known = list(profiles)
        middle = median(profile.games for profile in known) if known else 0
        first_turn = middle - MAX_TURNS_BEHIND
        settled = [profile for profile in known if not _is_new(profile)]
        for profile in settled:
            self._enter(profile, max(float(profile.games), first_turn))
        front = self._by_turn[0][0] if settled else 0.0
        for profile in known:
            if _is_new(profile):
                used = profile.fresh * NEWCOMER_GAME_TURNS
                self._enter(profile, front - NEWCOMER_TURNS + used)

    def update(self, profile: BotProfile) -> None:
        """Add a bot, or replace its profile."""
        candidate = self._candidates.get(profile.bot)
        if candidate is None:
            self._enter(profile, self._first_turn(profile))
            return
        self._unlink(candidate)
        if candidate.profile.submission != profile.submission:
            candidate.unrated = 0
        candidate.profile = profile
        candidate.tiebreak = self._rng.random()
        self._link(candidate)

    def remove(self, bot: int) -> None:
        if candidate := self._candidates.pop(bot, None):
            self._unlink(candidate)

    def charge(self, candidate: Candidate, turns: float) -> None:
        """Move a bot back in the queue by this many turns."""
        del self._by_turn[bisect_left(self._by_turn, candidate.turn_key)]
        candidate.turns += turns
        insort(self._by_turn, candidate.turn_key)

    def in_turn(self) -> Iterator[Candidate]:
        """Yield the bots in the order of their turns, the next one first."""
        return (self._candidates[bot] for _, _, bot in self._by_turn)

    def nearest(
        self, center: Candidate, limit: int, may_play: Callable[[Candidate], bool]
    ) -> list[Candidate]:
        """Return up to `limit` other bots that may play, nearest in mean skill first.

        Walk outwards from the center of the sorted list, and take the nearer of the two
        next neighbours in each step.
        """
        keys = self._by_skill
        mu = center.profile.mu
        here = bisect_left(keys, center.skill_key)
        below = here - 1
        above = here + 1
        neighbours: list[Candidate] = []
        while len(neighbours) < limit and (below >= 0 or above < len(keys)):
            up = keys[above][0] - mu if above < len(keys) else float("inf")
            down = mu - keys[below][0] if below >= 0 else float("inf")
            if up < down:
                other = self._candidates[keys[above][2]]
                above += 1
            else:
                other = self._candidates[keys[below][2]]
                below -= 1
            if may_play(other):
                neighbours.append(other)
        return neighbours

    def _first_turn(self, profile: BotProfile) -> float:
        """Return the turns with which a bot enters a pool that is in use."""
        if not self._by_turn:
            return 0.0
        if not _is_new(profile):
            middle = self._by_turn[len(self) // 2][0]
            return max(float(profile.games), middle - MAX_TURNS_BEHIND)
        for candidate in islice(self.in_turn(), MAX_NEW_IN_FRONT):
            if not _is_new(candidate.profile):
                return candidate.turns - NEWCOMER_TURNS
        # All are new: this one is next, together with those that wait already.
        return self._by_turn[0][0]

    def _enter(self, profile: BotProfile, turns: float) -> None:
        candidate = Candidate(profile, turns, self._rng.random())
        self._candidates[profile.bot] = candidate
        self._link(candidate)

    def _link(self, candidate: Candidate) -> None:
        owned = self.owners.setdefault(candidate.profile.owner, {})
        owned[candidate.bot] = candidate
        insort(self._by_skill, candidate.skill_key)
        insort(self._by_turn, candidate.turn_key)

    def _unlink(self, candidate: Candidate) -> None:
        owner = candidate.profile.owner
        del self.owners[owner][candidate.bot]
        if not self.owners[owner]:
            del self.owners[owner]
        del self._by_skill[bisect_left(self._by_skill, candidate.skill_key)]
        del self._by_turn[bisect_left(self._by_turn, candidate.turn_key)]


def _is_new(profile: BotProfile) -> bool:
    return profile.fresh < NEWCOMER_GAMES
