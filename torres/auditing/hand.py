"""The operator's hand: what operators may do, counted and tested against results.

An operator may void games, cancel them, and let them be played again. None of these
acts is wrong by itself, but they must not depend on how games ended. So each act is
counted for each bot, and for each owner of several bots. An exact test tells how
surprising the counts are if the acts did not depend on results:

- Of the n games of a bot, b were lost. If an act met m of them by chance, the number of
  lost ones among the m has the hypergeometric distribution.
- Of the n games whose decks were fixed, b had this bot. If m of them were cancelled by
  chance, the number of those with this bot has the same distribution.

All tests of an audit together call an honest service guilty with a probability of at
most `GUILTY` (Bonferroni: each probability is multiplied by the number of tests).
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from math import exp, lgamma
from typing import NamedTuple

from torres.auditing.findings import AuditFinding, Check
from torres.auditing.logged import LoggedGame, Plan, Story
from torres.auditing.ratings import RatingsAudit
from torres.auditing.story import LATE
from torres.rating.ledger import EntryKind

GUILTY = 0.001
REMARKABLE = 0.05
"""The report names an act if its probability, by itself, is at most this."""


class HandAct(StrEnum):
    """The acts that are tested, as a person reads them."""

    VOIDED_LOSSES = "voided games that it had lost"
    VOIDED_WINS = "voided games that it had not lost"
    REPEATED_WINS = "games that it did not lose after failed attempts"
    REPEATED_LOSSES = "games that it lost after failed attempts"
    CANCELLED = "games cancelled after their decks were fixed"


class Draw(NamedTuple):
    """A sample: `hits` of `drawn` games are marked, and `marked` of `games` in all."""

    hits: int
    drawn: int
    marked: int
    games: int

    def probability(self) -> float:
        """Return the probability of this number of hits or more in a random sample."""
        most = min(self.drawn, self.marked)
        return min(1.0, sum(self._exactly(hits) for hits in range(self.hits, most + 1)))

    def _exactly(self, hits: int) -> float:
        """Return the hypergeometric probability of this number of hits."""
        others = self.games - self.marked
        if self.drawn - hits > others:
            return 0.0
        return exp(
            _log_choose(self.marked, hits)
            + _log_choose(others, self.drawn - hits)
            - _log_choose(self.games, self.drawn)
        )


def _log_choose(n: int, k: int) -> float:
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)


@dataclass(frozen=True, slots=True)
class HandTest:
    """How often an act met the games of one bot or owner, and how surprising that is.

    `adjusted` is the probability after all tests of the audit are taken into account.
    """

    whose: str
    act: HandAct
    draw: Draw
    p: float
    adjusted: float

    def document(self) -> dict[str, object]:
        """Return the test for JSON."""
        return {
            "whose": self.whose,
            "act": self.act,
            "p": self.p,
            "adjusted": self.adjusted,
            **self.draw._asdict(),
        }

    def __str__(self) -> str:
        draw = self.draw
        return (
            f"{self.whose}: {draw.hits:,} of {draw.drawn:,} {self.act},"
            f" by chance {draw.drawn * draw.marked / draw.games:.1f}"
            f" (p = {self.p:.2g}, {self.adjusted:.2g} after all tests)"
        )


@dataclass(slots=True)
class OperatorsHand:
    """The acts in a log: how many there are of each kind, and the tests."""

    counts: dict[str, int] = field(default_factory=dict)
    tests: list[HandTest] = field(default_factory=list)

    def remarkable(self) -> list[HandTest]:
        """Return the tests that a reader should look at, the least likely first."""
        few = [test for test in self.tests if test.p <= REMARKABLE]
        return sorted(few, key=lambda test: test.p)

    def findings(self) -> Iterator[AuditFinding]:
        """Yield what cannot be chance."""
        for test in self.remarkable():
            if test.adjusted <= GUILTY:
                yield AuditFinding(Check.HAND, f"not by chance: {test}")


@dataclass(slots=True)
class HandTally:
    """The games of one bot or owner: how many, how many lost, and which acts met."""

    games: int = 0
    lost: int = 0
    voided: int = 0
    voided_lost: int = 0
    repeated: int = 0
    repeated_lost: int = 0
    dealt: int = 0
    cancelled: int = 0

    def add(self, *, lost: bool, voided: bool, repeated: bool) -> None:
        """Count a game with a result."""
        self.games += 1
        self.lost += lost
        self.voided += voided
        self.voided_lost += voided and lost
        self.repeated += repeated
        self.repeated_lost += repeated and lost

    def draws(self, dealt: int, cancelled: int) -> dict[HandAct, Draw]:
        """Return the samples to test. `dealt` and `cancelled` count all games."""
        won = self.games - self.lost
        voided_won = self.voided - self.voided_lost
        repeated_won = self.repeated - self.repeated_lost
        lost, games = self.lost, self.games
        return {
            HandAct.VOIDED_LOSSES: Draw(self.voided_lost, self.voided, lost, games),
            HandAct.VOIDED_WINS: Draw(voided_won, self.voided, won, games),
            HandAct.REPEATED_WINS: Draw(repeated_won, self.repeated, won, games),
            HandAct.REPEATED_LOSSES: Draw(
                self.repeated_lost, self.repeated, lost, games
            ),
            HandAct.CANCELLED: Draw(self.cancelled, cancelled, self.dealt, dealt),
        }


def is_lost(rank: int, seats: int) -> bool:
    """True if fewer than half of the opponents are behind this rank (1 is best)."""
    return 2 * rank > seats + 1


def hand_tests(
    tallies: Mapping[str, HandTally], dealt: int = 0, cancelled: int = 0
) -> list[HandTest]:
    """Test all tallies, which are named. Samples without a game need no test."""
    draws = [
        (whose, act, draw)
        for whose, tally in tallies.items()
        for act, draw in tally.draws(dealt, cancelled).items()
        if draw.drawn
    ]
    chances = [draw.probability() for _, _, draw in draws]
    return [
        HandTest(whose, act, draw, p, min(1.0, p * len(draws)))
        for (whose, act, draw), p in zip(draws, chances, strict=True)
    ]


def operators_hand(
    ratings: RatingsAudit, names: Mapping[int, str], owners: Mapping[int, str]
) -> OperatorsHand:
    """Return the acts that the log shows. The service names the bots and owners."""
    story = ratings.story
    several = {owner for owner, bots in Counter(owners.values()).items() if bots > 1}
    tallies: dict[str, HandTally] = defaultdict(HandTally)

    def whose(submissions: Iterable[int]) -> set[str]:
        seated = [ratings.bot_of(submission) for submission in submissions]
        bots = {bot for bot in seated if bot is not None}
        people = {
            f"{owners[bot]} (owner)" for bot in bots if owners.get(bot) in several
        }
        return {names.get(bot, f"bot {bot}") for bot in bots} | people

    for number, game in story.games.items():
        repeated = number in story.failed
        for name, lost in _results(game, whose):
            tallies[name].add(lost=lost, voided=game.voided, repeated=repeated)
    cancelled = _unexplained(story, ratings)
    for game in story.games.values():
        for name in whose(_seats(game.plan)):
            tallies[name].dealt += 1
    for plan in cancelled:
        for name in whose(_seats(plan)):
            tallies[name].dealt += 1
            tallies[name].cancelled += 1
    hand = OperatorsHand(_counts(story, ratings, len(cancelled)))
    dealt = len(story.games) + len(cancelled)
    hand.tests = hand_tests(tallies, dealt, len(cancelled))
    return hand


def _results(
    game: LoggedGame, whose: Callable[[Iterable[int]], set[str]]
) -> Iterator[tuple[str, bool]]:
    """Yield whose seats a game had, and if they lost it; one result for each name."""
    seats = game.plan.data["games"][game.data["index"]]
    ranks: Sequence[int] = game.data["ranks"]
    best: dict[str, int] = {}
    for submission, rank in zip(seats, ranks, strict=True):
        for name in whose([submission]):
            best[name] = min(rank, best.get(name, rank))
    for name, rank in best.items():
        yield name, is_lost(rank, len(seats))


def _seats(plan: Plan) -> set[int]:
    return {seat for game in plan.data["games"] for seat in game}


def _unexplained(story: Story, ratings: RatingsAudit) -> list[Plan]:
    """Return the plans of cancelled ladder games with decks if no other leaf says why.

    A new version, or a change of a bot's status, ends the scheduled games of the bot.
    """
    plans = []
    for number, (time, plan) in story.cancelled.items():
        if number in story.games or plan.fixed is None or not plan.data["ladder"]:
            continue
        changes = [
            change
            for submission in _seats(plan)
            for change in story.changed.get(ratings.bot_of(submission) or 0, ())
        ]
        if not any(plan.leaf < leaf and at <= time + LATE for leaf, at in changes):
            plans.append(plan)
    return plans


def _counts(story: Story, ratings: RatingsAudit, unexplained: int) -> dict[str, int]:
    """Return how many acts of each kind the log has, those without any left out."""
    dealt = sum(plan.fixed is not None for _, plan in story.cancelled.values())
    kinds = Counter(
        line.kind for season in ratings.seasons.values() for line in season.lines
    )
    counts = {
        "voided games": sum(game.voided for game in story.games.values()),
        "games cancelled after their decks were fixed": dealt,
        "of these without another leaf that says why": unexplained,
        "failed or returned attempts": story.failed.total(),
        "matches that got other decks": story.renewed,
        "merged bots": kinds[EntryKind.MERGE],
        "changes of the parameters of ratings": kinds[EntryKind.PARAMETERS],
    }
    counts |= {f"acts of the kind {act}": n for act, n in story.acts.items()}
    return {name: count for name, count in counts.items() if count}
