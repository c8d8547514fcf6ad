"""The bracket of an elimination as columns of contests, with the lines between them.

The style sheet draws the lines. This module decides which contests they connect and how
they look: a contest that is decided has a solid line to the next one, and the lines on
the way of the winner of the tournament are thick.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from django.utils.translation import gettext as _, gettext_noop

from ladder.tournaments.visibility import VisibleContest


class Join(StrEnum):
    """The way from the contests of a column to those of the next one."""

    PAIR = "pair"
    """The winners of two neighbours meet."""
    STRAIGHT = "straight"
    """The winner meets an entrant that drops from the main bracket, or plays again."""
    NONE = "last"


@dataclass(frozen=True, slots=True)
class BracketSlot:
    """One side of a contest. `wins` is None before the first match, and without one."""

    bot: str | None
    name: str
    won: bool
    wins: float | None


@dataclass(frozen=True, slots=True)
class BracketContest:
    """One contest. `is_empty` if no entrant can ever get here.

    `on_path` if the winner of the tournament won it, and `from_path` if that entrant
    came here from the contest before.
    """

    table: int
    why: str
    slots: list[BracketSlot]
    is_decided: bool
    is_empty: bool
    on_path: bool
    from_path: bool


@dataclass(frozen=True, slots=True)
class BracketColumn:
    """The contests of one round, one below the other."""

    round: int
    join: Join
    contests: list[BracketContest]


@dataclass(frozen=True, slots=True)
class BracketPart:
    """The main bracket, the losers' bracket, or the grand final."""

    name: str
    title: str
    rounds: list[BracketColumn]


TITLES = {
    "main": gettext_noop("Bracket"),
    "losers": gettext_noop("Losers’ bracket"),
    "final": gettext_noop("Grand final"),
}
Rounds = dict[int, list[VisibleContest]]
"""The contests of one part by round, in the order of the tables."""


def bracket(
    contests: Sequence[VisibleContest], names: Mapping[str, str]
) -> list[BracketPart]:
    """Arrange the contests of an elimination by part, round and table.

    `names` are those of the bots by slug.
    """
    parts: dict[str, Rounds] = {}
    for contest in contests:
        rounds = parts.setdefault(contest.pool, {})
        rounds.setdefault(contest.round, []).append(contest)
    winner = _champion(parts)
    return [_part(name, rounds, names, winner) for name, rounds in parts.items()]


def is_won(parts: Sequence[BracketPart]) -> bool:
    """True if the bracket shows the way of the winner of the tournament."""
    return any(
        contest.on_path
        for part in parts
        for column in part.rounds
        for contest in column.contests
    )


def _champion(parts: Mapping[str, Rounds]) -> str | None:
    """Return the winner of the tournament, if the last contest is decided and shown."""
    name = "final" if "final" in parts else "main"
    if name not in parts or (name == "main" and len(parts) > 1):
        return None
    *_, last = parts[name].values()
    return last[0].winner if len(last) == 1 else None


def _part(
    name: str, rounds: Rounds, names: Mapping[str, str], champion: str | None
) -> BracketPart:
    columns = []
    numbers = list(rounds)
    for index, number in enumerate(numbers):
        here = rounds[number]
        before = rounds[numbers[index - 1]] if index else []
        after = rounds[numbers[index + 1]] if index + 1 < len(numbers) else []
        # The winners of both brackets come to the grand final.
        is_entrance = name == "final" and not index
        contests = [
            _contest(
                contest,
                names,
                champion,
                from_path=champion is not None
                and (is_entrance or champion in _winners(k, here, before)),
            )
            for k, contest in enumerate(here)
        ]
        columns.append(BracketColumn(number, _join(here, after), contests))
    return BracketPart(name, TITLES.get(name, name.capitalize()), columns)


def _join(here: Sequence[VisibleContest], after: Sequence[VisibleContest]) -> Join:
    if not after:
        return Join.NONE
    return Join.PAIR if len(here) > len(after) else Join.STRAIGHT


def _winners(
    index: int, here: Sequence[VisibleContest], before: Sequence[VisibleContest]
) -> list[str | None]:
    """Return the winners of the column before that come to a contest of this one."""
    feeders = before[index : index + 1]
    if _join(before, here) == Join.PAIR:
        feeders = before[2 * index : 2 * index + 2]
    return [feeder.winner for feeder in feeders]


def _contest(
    contest: VisibleContest,
    names: Mapping[str, str],
    champion: str | None,
    *,
    from_path: bool,
) -> BracketContest:
    is_played = all(contest.slots) and (contest.winner is not None or any(contest.wins))
    is_empty = contest.winner is None and bool(contest.why)
    nobody = _("open") if contest.winner is None else _("bye")
    slots = [
        BracketSlot(
            bot=bot,
            name=names.get(bot, bot) if bot else nobody,
            won=bot is not None and bot == contest.winner,
            wins=points if is_played else None,
        )
        for bot, points in zip(contest.slots, contest.wins, strict=True)
    ]
    return BracketContest(
        table=contest.table,
        why=contest.why,
        slots=slots,
        is_decided=contest.winner is not None,
        is_empty=is_empty,
        on_path=champion is not None and contest.winner == champion,
        from_path=from_path,
    )
