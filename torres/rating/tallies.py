"""Count the rated games of bots: by seat, and by opponent. Numbers only, no database.

The counts are sums over the games of a ledger. So a void takes its game out by adding
the same counts with the opposite sign.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple


class SeatKey(NamedTuple):
    """A seat of games with this number of players, as a bot took it. From 0."""

    bot: int
    players: int
    seat: int


class MeetingKey(NamedTuple):
    """Two bots, as seen from the first."""

    bot: int
    other: int


@dataclass(slots=True)
class SeatCount:
    """Games in one seat, those won, and opponents behind (2 each) or tied (1 each)."""

    games: int = 0
    wins: int = 0
    halves: int = 0


@dataclass(slots=True)
class MeetingCount:
    """Games together, and in how many of them the first bot was ahead or tied."""

    games: int = 0
    before: int = 0
    ties: int = 0


@dataclass(slots=True)
class Tallies:
    """The counts of some games, or the difference that some entries make."""

    seats: dict[SeatKey, SeatCount] = field(
        default_factory=lambda: defaultdict(SeatCount)
    )
    meetings: dict[MeetingKey, MeetingCount] = field(
        default_factory=lambda: defaultdict(MeetingCount)
    )

    def add(self, seats: Sequence[Mapping[str, Any]], sign: int = 1) -> None:
        """Count a game, or with `sign` -1 take it out again.

        `seats` are the inputs of its entry: a bot and a rank for each seat, in order.
        """
        for number, own in enumerate(seats):
            halves = 0
            for other_number, other in enumerate(seats):
                if other_number == number:
                    continue
                ahead = own["rank"] < other["rank"]
                tied = own["rank"] == other["rank"]
                halves += 2 * ahead + tied
                meeting = self.meetings[MeetingKey(own["bot"], other["bot"])]
                meeting.games += sign
                meeting.before += sign * ahead
                meeting.ties += sign * tied
            count = self.seats[SeatKey(own["bot"], len(seats), number)]
            count.games += sign
            count.wins += sign * (own["rank"] == 1)
            count.halves += sign * halves
