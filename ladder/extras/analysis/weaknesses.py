"""The mistakes that a bot makes most, from the reviews of its analysed games.

It reads 50 small rows and no replay, so that a page can show it at once.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

from engine.rulesets import PHASES
from engine.seat_reviews import KINDS, ReviewedTurn
from ladder.bots.models import Bot
from ladder.extras.analysis.models import SeatReview
from ladder.games.models import GameStatus

GAMES = 50


class ExampleTurn(NamedTuple):
    """A turn to look at, and its figure: points of chance, action points or ms."""

    game: int
    ply: int
    figure: float


@dataclass(frozen=True, slots=True)
class TurnGroup:
    """Turns of one phase, or with one kind of action.

    `losing` of them clearly lost chances. `cost` is the mean loss of a turn.
    """

    name: str
    turns: int
    losing: int
    cost: float
    example: ExampleTurn | None


@dataclass(frozen=True, slots=True)
class Weaknesses:
    """The mistakes of a bot in its last analysed games.

    Action points are the mean of a game; `bank_share` is the largest part of the bank
    that a game took.
    """

    games: int
    phases: list[TurnGroup]
    kinds: list[TurnGroup]
    unused: float
    most_unused: ExampleTurn | None
    slowest: ExampleTurn | None
    bank_share: float


class _Turn(NamedTuple):
    game: int
    turn: ReviewedTurn


def weaknesses_of(bot: Bot) -> Weaknesses | None:
    """Return the weaknesses of a bot; None if none of its games was analysed."""
    reviews = SeatReview.objects.filter(
        bot=bot,
        analysis__game__match__embargo=False,
        analysis__game__status=GameStatus.FINISHED,
    ).order_by("-analysis")
    columns = ("analysis__game", "analysis__game__match__limits", "turns")
    rows = list(reviews.values_list(*columns)[:GAMES])
    turns = [_Turn(game, turn) for game, _, played in rows for turn in played]
    if not turns:
        return None
    by_kind = {kind: _with(turns, kind) for kind in KINDS}
    kinds = [_group(kind, part) for kind, part in by_kind.items() if part]
    phases = range(1, PHASES + 1)
    by_phase = {
        phase: [t for t in turns if t.turn["phase"] == phase] for phase in phases
    }
    return Weaknesses(
        games=len(rows),
        phases=[_group(str(phase), part) for phase, part in by_phase.items() if part],
        kinds=sorted(kinds, key=lambda group: -group.cost),
        unused=sum(each.turn["unused"] for each in turns) / len(rows),
        most_unused=_greatest(turns, lambda turn: turn["unused"]),
        slowest=_greatest(turns, lambda turn: turn["ms"]),
        bank_share=max(_bank_share(limits, played) for _, limits, played in rows),
    )


def _with(turns: Iterable[_Turn], kind: str) -> list[_Turn]:
    return [each for each in turns if kind in each.turn["kinds"]]


def _group(name: str, turns: list[_Turn]) -> TurnGroup:
    drops = [each.turn["drop"] for each in turns]
    return TurnGroup(
        name=name,
        turns=len(turns),
        losing=sum(drop > 0 for drop in drops),
        cost=sum(drops) / len(turns),
        example=_greatest(turns, lambda turn: turn["drop"]),
    )


def _greatest(
    turns: Iterable[_Turn], figure: Callable[[ReviewedTurn], float]
) -> ExampleTurn | None:
    """Return the turn with the greatest figure; None if it is 0."""
    worst = max(turns, key=lambda each: figure(each.turn))
    greatest = figure(worst.turn)
    return ExampleTurn(worst.game, worst.turn["ply"], greatest) if greatest else None


def _bank_share(limits: dict[str, int], turns: Iterable[ReviewedTurn]) -> float:
    """Return which part of its bank a seat used in a game; 0 without a bank."""
    over = sum(max(0.0, turn["ms"] - limits["move_ms"]) for turn in turns)
    return min(1.0, over / limits["bank_ms"]) if limits["bank_ms"] else 0.0
