"""Choose which bots meet next, and record why. No database, no clock.

The bot whose turn it is gets the first seat. The other seats go to bots of similar
skill, one by one: each time to the bot whose result is expected to give the most
information about all bots that already have a seat, with a discount for bots that are
ahead of their turn. Each match records in numbers and in words why it was made.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, permutations
from random import Random

from torres.common.json_object import JsonObject
from torres.rating.pool import (
    NEWCOMER_GAME_TURNS,
    NEWCOMER_GAMES,
    BotProfile,
    Candidate,
    CandidatePool,
)
from torres.rating.trueskill import (
    Parameters,
    Skill,
    expected_information,
    win_probability,
)

NEIGHBOURS = 24
"""The number of nearest bots in skill that are weighed for a seat. Only if they cannot
fill the seats, eight times as many are weighed, and then all."""
MAX_FIRST_BOTS = 9
"""The number of bots, in the order of their turns, that are tried for the first seat
before a number of seats is given up."""
LEAD_DISCOUNT = 0.05
"""The worth of a bot is divided by 1 + this × its turns ahead of the first bot."""
REMATCH_DISCOUNT = 0.25
"""The worth of a pair is divided by 1 + this × its meetings among the last opponents
(`pool.RECENT_OPPONENTS`)."""
PROBATION_GAMES = 5
"""A bot is on probation for this many games after its code changed, and while it fails.
House bots are never on probation for being new."""
OWNER_PROBATION_GAMES = 2
"""The bots on probation of one owner play this many games at a time, all together. So
hostile bots cannot hold all slots of the workers before anybody knows them."""
FAILING_FORFEITS = 2
"""A bot fails while this many of its latest games (`ledger.LATEST_GAMES`) are forfeits.
It plays one game at a time and pays more turns for it, so that a crashing bot does not
fill the queue."""


@dataclass(frozen=True, slots=True)
class Seating:
    """A match to be made: bots by seat, and the reasons as a JSON document."""

    seats: tuple[BotProfile, ...]
    why: JsonObject


@dataclass(frozen=True, slots=True)
class PairingTerms:
    """A ladder's settings for matchmaking.

    `shares` maps a number of seats, as text, to its share of the matches. In a
    `duplicate` match as many games are played as there are seats.
    """

    shares: Mapping[str, float]
    parameters: Parameters = field(default_factory=Parameters)
    duplicate: bool = False


def seats_by_lag(shares: Mapping[str, float], made: Mapping[int, int]) -> list[int]:
    """Return the numbers of seats, the one furthest behind its share first.

    `made` counts the matches so far by number of seats.
    """
    total = sum(made.values()) + 1
    whole = sum(shares.values())
    lag = {
        int(seats): total * share / whole - made.get(int(seats), 0)
        for seats, share in shares.items()
        if share > 0
    }
    return sorted(lag, key=lambda seats: (-lag[seats], seats))


class Matchmaker:
    """Make one seating after another from a pool that the caller keeps up to date."""

    def __init__(self, terms: PairingTerms, rng: Random) -> None:
        self.terms = terms
        self.pool = CandidatePool(rng)
        self._rng = rng
        self._made: Counter[int] = Counter()

    def next_seating(self) -> Seating | None:
        """Make a seating and charge its bots; None if too few bots may meet."""
        for seats in seats_by_lag(self.terms.shares, self._made):
            if seating := self._seating(seats):
                return seating
        return None

    def update(self, profile: BotProfile) -> None:
        """Add a bot, or replace its profile."""
        self.pool.update(profile)

    def charge_unrated(self, bot: int, submission: int, turns: float) -> None:
        """Charge a bot for an attempt or a game that will never be rated.

        A bot that can break attempts would otherwise stay new, and play four times as
        often as others (`NEWCOMER_GAME_TURNS`), for ever.
        """
        candidate = self.pool.get(bot)
        if candidate and candidate.profile.submission == submission:
            candidate.unrated += 1
            self.pool.charge(candidate, turns)

    def game_ended(self, bot: int) -> None:
        """Count one open game less for a bot."""
        if candidate := self.pool.get(bot):
            candidate.open_games = max(0, candidate.open_games - 1)

    def remember(self, bots: Sequence[int]) -> None:
        """Remember who met and who sat where; charge no turns. `bots` is by seat."""
        self._made[len(bots)] += 1
        seated = {bot: self.pool.get(bot) for bot in bots}
        present = [candidate for candidate in seated.values() if candidate]
        for seat, bot in enumerate(bots):
            if candidate := seated[bot]:
                candidate.seat_counts[len(bots), seat] += 1
                candidate.opponents.extend(
                    other.bot for other in present if other is not candidate
                )

    def _seating(self, seats: int) -> Seating | None:
        if len(self.pool.owners) < seats:
            return None
        ready = (c for c in self.pool.in_turn() if not self._must_wait(c))
        for first in islice(ready, MAX_FIRST_BOTS):
            bots = self._choose_bots(first, seats)
            if bots:
                return self._seat(bots)
        return None

    def _choose_bots(self, first: Candidate, seats: int) -> list[Candidate]:
        """Return the bots of a full match, `first` first; empty if there is none.

        1. List the nearest bots in skill that may meet the first bot.
        2. Add to each its worth for the bot that got the last seat. So a bot's worth is
           the sum over all bots with a seat.
        3. Give the next seat to the bot with the highest worth, discounted for its
           lead. Drop the bots that may not meet it.
        4. Repeat from 2 until all seats are taken. If the list is empty before, repeat
           from 1 with a longer one.
        """
        for limit in (NEIGHBOURS, 8 * NEIGHBOURS, len(self.pool)):
            options = self.pool.nearest(
                first, limit, lambda c: self._may_meet(first, c)
            )
            chosen = [first]
            worth = {option.bot: 0.0 for option in options}
            while options and len(chosen) < seats:
                for option in options:
                    worth[option.bot] += self._worth(chosen[-1], option)
                best = max(
                    options, key=lambda c: worth[c.bot] / _lead_divisor(first, c)
                )
                chosen.append(best)
                options = [option for option in options if self._may_meet(best, option)]
            if len(chosen) == seats:
                return chosen
        return []

    def _may_meet(self, one: Candidate, other: Candidate) -> bool:
        """True if the owners differ and the other bot may start a game."""
        return one.profile.owner != other.profile.owner and not self._must_wait(other)

    def _must_wait(self, candidate: Candidate) -> bool:
        """True if the bot fails or is new, and too many games of its owner are open."""
        if _fails(candidate) and candidate.open_games:
            return True
        if not _on_probation(candidate):
            return False
        owned = self.pool.owners[candidate.profile.owner].values()
        open_games = sum(c.open_games for c in owned if _on_probation(c))
        return open_games >= OWNER_PROBATION_GAMES

    def _worth(self, one: Candidate, other: Candidate) -> float:
        """Return what a game of two bots is worth: nats, discounted for rematches."""
        a = one.profile
        b = other.profile
        beta = self.terms.parameters.beta
        nats = expected_information(a.mu - b.mu, a.sigma**2, b.sigma**2, beta)
        return nats / (1 + REMATCH_DISCOUNT * one.opponents.count(other.bot))

    def _seat(self, bots: list[Candidate]) -> Seating:
        """Give out the seats, remember the meeting, and charge the turns."""
        why = _why(bots, self.terms.parameters)
        by_seat = self._by_seat(bots)
        games = len(by_seat) if self.terms.duplicate else 1
        self.remember([candidate.bot for candidate in by_seat])
        for candidate in by_seat:
            candidate.open_games += games
            self.pool.charge(candidate, games * _turns_per_game(candidate))
        return Seating(tuple(candidate.profile for candidate in by_seat), why)

    def _by_seat(self, bots: list[Candidate]) -> tuple[Candidate, ...]:
        """Give the bots the seats that they had least often, by the sum of squares."""
        size = len(bots)
        self._rng.shuffle(bots)
        return min(
            permutations(bots),
            key=lambda order: sum(
                candidate.seat_counts[size, seat] ** 2
                for seat, candidate in enumerate(order)
            ),
        )


def _fails(candidate: Candidate) -> bool:
    return candidate.profile.recent_forfeits >= FAILING_FORFEITS


def _on_probation(candidate: Candidate) -> bool:
    profile = candidate.profile
    is_new = profile.fresh < PROBATION_GAMES and not profile.house
    return is_new or _fails(candidate)


def _lead_divisor(first: Candidate, other: Candidate) -> float:
    return 1 + LEAD_DISCOUNT * max(0.0, other.turns - first.turns)


def _turns_per_game(candidate: Candidate) -> float:
    profile = candidate.profile
    if _fails(candidate):
        return 1.0 + profile.recent_forfeits
    is_new = profile.fresh + candidate.unrated < NEWCOMER_GAMES
    return NEWCOMER_GAME_TURNS if is_new else 1.0


def _why(bots: list[Candidate], parameters: Parameters) -> JsonObject:
    """Return why the bots meet, as JSON. The first of them was next in turn.

    Differences are in points of skill, information is in nats, and `chance` is the
    probability that the first bot finishes ahead of the other one.
    """
    first = bots[0]
    head = first.profile
    skill = Skill(head.mu, head.sigma)
    others = []
    for candidate in bots[1:]:
        other = candidate.profile
        chance = win_probability(skill, Skill(other.mu, other.sigma), parameters)
        nats = expected_information(
            head.mu - other.mu, head.sigma**2, other.sigma**2, parameters.beta
        )
        others.append(
            {
                "bot": other.bot,
                "apart": round(abs(other.mu - head.mu), 3),
                "chance": round(chance, 3),
                "information": round(nats, 4),
                "met": first.opponents.count(other.bot),
                "surplus": round(max(0.0, candidate.turns - first.turns), 2),
            }
        )
    return {
        "rule": "turn, then information",
        "first": {
            "bot": head.bot,
            "turn": round(first.turns, 2),
            "games": head.games,
            "mu": round(head.mu, 3),
            "sigma": round(head.sigma, 3),
        },
        "others": others,
        "reasons": _reasons([c.profile for c in bots], others),
    }


def _reasons(bots: list[BotProfile], others: list[JsonObject]) -> list[str]:
    head = bots[0]
    fresh = f", {head.fresh} with this upload" if head.fresh < NEWCOMER_GAMES else ""
    reasons = [f"{head.name} was next in line ({head.games} games{fresh})"]
    reasons += [
        f"{bot.name} is {other['apart']:.1f} points apart;"
        f" {head.name} beats it with a probability of {other['chance']:.0%},"
        f" and the game should give {other['information']:.3f} nats of information;"
        f" they {_meetings(other['met'])}"
        for bot, other in zip(bots[1:], others, strict=True)
    ]
    return reasons


def _meetings(times: int) -> str:
    if times == 0:
        return "have not met lately"
    return "have met once lately" if times == 1 else f"have met {times} times lately"
