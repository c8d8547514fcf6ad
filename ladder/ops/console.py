"""What a person at the terminal sees of a running service: games and ratings."""

import sys

from ladder.games.models import Game, Seat
from ladder.ops.invariants import InvariantResult
from ladder.ratings import selectors
from ladder.ratings.models import Season


def say(line: str = "") -> None:
    """Print a line at once; a reader that went away does not stop the service."""
    try:
        print(line, flush=True)
    except BrokenPipeError:
        sys.stdout = None


def game_line(game: Game) -> str:
    """Say in one line who played and how it ended, the best first."""
    seats = Seat.objects.filter(game=game).select_related("submission__bot")
    told = ", ".join(
        f"{seat.submission.bot.slug} {seat.score}"
        + (f" ({seat.fault})" if seat.fault else "")
        for seat in seats.order_by("rank", "number")
    )
    return f"game {game.pk:>5}  {told}"


def leaderboard_lines(season: Season, rows: int = 20) -> list[str]:
    """Draw the leaderboard as a table."""
    lines = [f"{'rank':>4}  {'rating':>6}  {'mu':>6}  {'sigma':>5}  {'games':>5}  bot"]
    lines += [
        f"{rank:>4}  {row.rating:>6.2f}  {row.mu:>6.2f}  {row.sigma:>5.2f}"
        f"  {row.games:>5}  {row.bot.slug}"
        for rank, row in enumerate(selectors.ratings_best_first(season)[:rows], start=1)
    ]
    return lines


def told(verdict: InvariantResult) -> bool:
    """Say whether an invariant holds, and return it."""
    mark = "yes" if verdict.holds else f"NO: {verdict.against}"
    say(f"  {verdict.says}: {mark}")
    return verdict.holds
