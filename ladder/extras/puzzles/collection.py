"""The puzzles of `collection.txt`, which `making` wrote, and what a turn gains.

A puzzle is the last turn before a scoring. Nothing in it is left to chance, and nobody
plays between it and the scoring, so that the engine says exactly what a turn gains.
"""

from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from functools import cache
from pathlib import Path

from engine.game import TorresGame
from engine.position_text import position_from

FILE = Path(__file__).with_name("collection.txt")
_STEP = 37  # has no common factor with 100, so that each puzzle has its day


class Level(StrEnum):
    """How wide a search must be to find the best turn (`making.WIDTHS`)."""

    EASY = "easy"
    MEDIUM = "medium"
    HARD = "hard"


@dataclass(frozen=True, slots=True)
class Puzzle:
    """A position in which one turn is clearly the best.

    `text` is the position at the beginning of the turn. `solution` has the actions of
    the best turn, with its `end`. `gain` is what it gains, in points.
    """

    level: Level
    gain: int
    text: str
    solution: tuple[str, ...]

    def game(self) -> TorresGame:
        """Return a new game that begins at the position."""
        return position_from(self.text).game()

    def gain_of(self, after: TorresGame) -> int:
        """Return what a turn gains, from the game after its end.

        This is the lead over the best rival after the scoring, minus the lead after a
        turn that ends at once. It may be negative.
        """
        idle = self.game()
        seat = idle.position.seat
        end_turn(idle)
        return lead(after, seat) - lead(idle, seat)

    def line(self) -> str:
        """Return the puzzle as a line of the file."""
        return f"{self.level}\t{self.gain}\t{self.text}\t{','.join(self.solution)}"


def puzzle_of(line: str) -> Puzzle:
    """Return the puzzle of a line of the file."""
    level, gain, text, solution = line.split("\t")
    return Puzzle(Level(level), int(gain), text, tuple(solution.split(",")))


@cache
def puzzles() -> tuple[Puzzle, ...]:
    """Return all puzzles, the easy ones first. The first one has the number 1."""
    lines = FILE.read_text(encoding="ascii").splitlines()
    found = [puzzle_of(line) for line in lines if not line.startswith("#")]
    return tuple(sorted(found, key=lambda puzzle: list(Level).index(puzzle.level)))


def number_of_day(day: date) -> int:
    """Return the page number of the puzzle of a day, another one each day."""
    return day.toordinal() * _STEP % len(puzzles()) + 1


def end_turn(game: TorresGame) -> str:
    """End the present turn, and return the action that did it."""
    end = next(action for action in game.legal() if action.split()[0] == "end")
    game.play(end)
    return end


def lead(game: TorresGame, seat: int) -> int:
    """Return the score of a seat minus that of its best rival."""
    track = game.position.track
    scores = [track.scores[each] for each in range(game.rules.seats)]
    own = scores.pop(seat)
    return int(own - max(scores))
