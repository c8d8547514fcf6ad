"""The size of a tournament before it is played: its rounds, matches and games.

`forecast` is a pure function of the configuration and the number of entrants. It
supposes that no entrant leaves. In an elimination the numbers depend on the results,
because a contest ends when it is decided, so there is a least and a largest number.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil

from torres.formats.config import ELIMINATIONS, Config, Format
from torres.formats.elimination import EmptySlot, fold_bracket
from torres.formats.groups import draw_groups
from torres.formats.round_robin import default_rounds
from torres.formats.values import FINAL, SeededEntrant


@dataclass(frozen=True, slots=True)
class ForecastStage:
    """Matches that can be played at the same time, one or several times in turn.

    ``matches`` and ``games`` are those of one turn. A stage has ``least`` to ``most``
    turns: the matches of a contest of an elimination follow each other.
    """

    rounds: int
    matches: int
    games: int
    least: int = 1
    most: int = 1


@dataclass(frozen=True, slots=True)
class Forecast:
    """The stages of a tournament, which follow each other."""

    stages: tuple[ForecastStage, ...]

    @property
    def least_rounds(self) -> int:
        return sum(stage.rounds for stage in self.stages if stage.least)

    @property
    def most_rounds(self) -> int:
        return sum(stage.rounds for stage in self.stages)

    @property
    def least_matches(self) -> int:
        return sum(stage.matches * stage.least for stage in self.stages)

    @property
    def most_matches(self) -> int:
        return sum(stage.matches * stage.most for stage in self.stages)

    @property
    def least_games(self) -> int:
        return sum(stage.games * stage.least for stage in self.stages)

    @property
    def most_games(self) -> int:
        return sum(stage.games * stage.most for stage in self.stages)

    def turns(self, slots: int) -> tuple[int, int]:
        """Return the least and the largest number of games that one slot plays.

        The games of a turn are shared by ``slots``; the next turn waits for all.
        """
        least = most = 0
        for stage in self.stages:
            turn = ceil(stage.games / slots)
            least += turn * stage.least
            most += turn * stage.most
        return least, most


def forecast(config: Config, entrants: int) -> Forecast:
    """Return the stages of a tournament of 2 or more entrants."""
    match config.format:
        case Format.ROUND_ROBIN:
            stages = [_round_robin(config, entrants)]
        case Format.SWISS:
            stages = _swiss(config, entrants)
        case Format.SINGLE_ELIMINATION | Format.DOUBLE_ELIMINATION:
            stages = list(_elimination(config, config.format, entrants))
        case Format.GROUPS:
            stages = _groups(config, entrants)
    return Forecast(tuple(stages))


def _round_robin(config: Config, entrants: int) -> ForecastStage:
    """Return one stage: all matches of a round robin can be played at once."""
    if config.seats == 2:
        cycles = config.rounds or 1
        rounds = cycles * (entrants - 1 + entrants % 2)
        matches = cycles * entrants * (entrants - 1) // 2
    else:
        rounds = config.rounds or default_rounds(entrants, config.seats)
        matches = rounds * (entrants // min(config.seats, entrants))
    seats = min(config.seats, entrants)
    return ForecastStage(rounds, matches, matches * (seats if config.duplicate else 1))


def _swiss(config: Config, entrants: int) -> list[ForecastStage]:
    if config.seats == 2:
        matches = entrants // 2
        seated = 2 * matches
    else:
        matches = ceil(entrants / config.seats)
        seated = entrants  # the tables have different sizes, and nobody has a bye
    games = seated if config.duplicate else matches
    return [ForecastStage(1, matches, games)] * config.swiss_rounds(entrants)


def _elimination(
    config: Config, form: Format, entrants: int
) -> Iterator[ForecastStage]:
    """Yield the rounds of a bracket. Its shape depends on no result.

    Without results the bracket shows each contest that will be played with two slots
    that somebody can get.
    """
    field = [SeededEntrant(key, key) for key in range(1, entrants + 1)]
    bracket = fold_bracket(config, form, field, {})
    played = [
        key
        for key, contest in bracket.contests.items()
        if EmptySlot.NOBODY not in contest.slots
    ]
    contests = Counter(key.round for key in played)
    last = max(contests, default=0)
    for round_, count in sorted(contests.items()):
        best_of = config.best_of_final if round_ == last else config.best_of
        yield _contests(config, count, ceil(best_of / 2), best_of)
    if config.reset and any(key.pool == FINAL for key in played):
        yield _contests(config, 1, 0, config.best_of_final)


def _contests(config: Config, count: int, least: int, most: int) -> ForecastStage:
    games = count * (2 if config.duplicate else 1)
    return ForecastStage(1, count, games, least, most)


def _groups(config: Config, entrants: int) -> list[ForecastStage]:
    field = [SeededEntrant(key, key) for key in range(1, entrants + 1)]
    sizes = [len(members) for members in draw_groups(config, field).values()]
    groups = [_round_robin(config, size) for size in sizes]
    stage = ForecastStage(
        max(group.rounds for group in groups),
        sum(group.matches for group in groups),
        sum(group.games for group in groups),
    )
    finalists = sum(min(config.advance, size) for size in sizes)
    if finalists < 2 or config.final not in ELIMINATIONS:
        return [stage]
    return [stage, *_elimination(config, config.final, finalists)]
