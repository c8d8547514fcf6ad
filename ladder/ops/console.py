"""Text for the terminal: finished games, the leaderboard, and results of checks."""

import sys

from ladder.common.output import PatientOutput
from ladder.games.models import Game
from ladder.games.selectors import GameTally
from ladder.ops.invariants import InvariantResult
from ladder.ratings import selectors
from ladder.ratings.models import Season


def say(line: str = "") -> None:
    """Print a line and flush it. A closed pipe does not stop the service."""
    try:
        print(line, flush=True)
    except BrokenPipeError:
        sys.stdout = None


def say_or_drop(line: str = "") -> None:
    """Print a line, or drop it if nobody reads the output: this never waits.

    A pipe that is full, or a terminal that was paused, would otherwise hold up the
    process, which could then neither restart its parts nor stop.
    """
    PatientOutput(sys.stdout).write(f"{line}\n")


def game_line(game: Game) -> str:
    """Return one line with the bots of a game and their scores, best first."""
    seats = sorted(game.seats.all(), key=lambda seat: (seat.rank or 0, seat.number))
    results = ", ".join(
        f"{seat.bot.slug} {seat.score}" + (f" ({seat.fault})" if seat.fault else "")
        for seat in seats
    )
    return f"game {game.pk:>5}  {results}"


def leaderboard_lines(season: Season, rows: int = 20) -> list[str]:
    """Return the first rows of the leaderboard as the lines of a table."""
    lines = [f"{'rank':>4}  {'rating':>6}  {'mu':>6}  {'sigma':>5}  {'games':>5}  bot"]
    lines += [
        f"{rank:>4}  {row.rating:>6.2f}  {row.mu:>6.2f}  {row.sigma:>5.2f}"
        f"  {row.games:>5}  {row.bot.slug}"
        for rank, row in enumerate(selectors.ratings_best_first(season)[:rows], start=1)
    ]
    return lines


def tally_line(tally: GameTally) -> str:
    """Return the totals of all games as one equation."""
    return (
        f"{tally.created} games created = {tally.finished} finished"
        f" + {tally.voided} voided + {tally.dead} dead"
        f" + {tally.cancelled} cancelled + {tally.open} open"
    )


def report(result: InvariantResult) -> bool:
    """Print the result of one invariant. True if it holds."""
    mark = "yes" if result.holds else f"NO: {result.violation}"
    say(f"  {result.invariant}: {mark}")
    return result.holds
