"""`torres match`: many games between two to four bots, on all processors.

Games come in *deals*: as many games as bots, with the same decks and rotated seats. The
deals are independent of each other, and so they, not the games, are what the confidence
intervals count.
"""

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import click
from rich.console import Console

from engine.rulesets import MAX_SEATS, MIN_SEATS, resolve
from torres.cli.arena_options import (
    ArenaOptions,
    arena_options,
    changed_bots,
    find_bots,
)
from torres.cli.game_pool import GamePool, PoolSettings
from torres.cli.local_results import LocalGame, LocalResult
from torres.cli.match_report import match_table, print_forfeits, summaries, summary_line
from torres.cli.play import GameFiles, LocalBot, PathArgument, bots_argument, rotated
from torres.cli.results_folder import ResultsFolder, default_folder
from torres.cli.terminal import progress_bar

DEAD_GAMES = 1
INTERRUPTED = 130

games_option = click.option(
    "--games",
    default=100,
    show_default=True,
    type=click.IntRange(1),
    help="The number of games.",
)


@click.command(name="match")
@bots_argument
@games_option
@click.option(
    "--replays",
    type=PathArgument,
    metavar="DIR",
    help="Write the replays of new games to DIR as game-1.json, …",
)
@click.option(
    "--logs",
    type=PathArgument,
    metavar="DIR",
    help="Write the stderr of each seat of new games to DIR as game-1-seat-0.log, …",
)
@arena_options
def match(
    *,
    bots: tuple[str, ...],
    games: int,
    replays: Path | None,
    logs: Path | None,
    options: ArenaOptions,
) -> int:
    """Play many games on all processors, and print a table.

    The bots play each deal (the same decks) once from each seat. The table has the
    score (the share of opponents beaten, a tie counts half) and the points, each with
    its 95 % confidence interval, the charged thinking time of a decision, the peak
    memory, and the forfeits with their reasons. The interval of the score holds at all
    times: look as often as you like, and add games when you like.

    The results are stored in ~/.local/state/torres-ladder. If the command is
    interrupted, the same command continues; with more --games it plays only the new
    ones. A bot whose files changed is another bot. The number of --jobs changes
    neither the results nor their order.

    With --json, each game is one line, in order, and the last line is the summary.

    Exit codes: 0 all games were played, 1 this machine could not play some, 2 a bad
    argument, 130 interrupted.

    \b
    Examples:
      torres match bot.py house:greedy --games 50
      torres match a.py b.py c.py d.py --games 400 --jobs 4 --replays games
      torres match bot.py house:climber --limits move_ms=200,bank_ms=0
      torres match bot.py house:climber --ladder http://127.0.0.1:8000
    """
    if not MIN_SEATS <= len(bots) <= MAX_SEATS:
        raise click.BadParameter(
            f"{len(bots)} bots; a game has 2, 3 or 4 seats, so name as many bots"
        )
    resolve(options.rules.ruleset, len(bots), options.rules.switches)
    entrants = find_bots(bots)
    GameFiles(None, replays, logs, None).prepare(games)
    identity = options.identity(entrants)
    folder = ResultsFolder(
        options.state or default_folder("matches", identity), identity
    )
    settings = options.pool(entrants, replays, logs)
    announce(options, folder.path)
    numbers = range(1, games + 1)
    jobs = [deal_game(number, len(bots), options.seed) for number in numbers]
    with folder.opened(fresh=options.fresh):
        interrupted = play_missing(folder, settings, jobs, options)
    if not interrupted:
        warn_of_changes(entrants, identity)
    _print_summary(folder, entrants, games, as_json=options.as_json)
    return exit_code(folder, jobs, interrupted=interrupted)


def deal_game(number: int, seats: int, seed: str) -> LocalGame:
    """Return a game, numbered from 1. Each deal is played from all rotated seats."""
    deal, rotation = divmod(number - 1, seats)
    return LocalGame(number, f"{seed}/{deal + 1}", rotated(seats, rotation))


def announce(options: ArenaOptions, folder: Path) -> None:
    """Say where the results are, and that bots without a sandbox must be trusted."""
    if options.as_json:
        return
    if options.level == "none":
        click.echo("no sandbox: play only bots that you trust", err=True)
    click.echo(f"results: {folder}", err=True)


def warn_of_changes(bots: Sequence[LocalBot], identity: dict[str, object]) -> None:
    """Say which bots were changed while they played."""
    for name in changed_bots(bots, identity):
        click.echo(
            f"torres: the files of {name} changed during the match, so its games may"
            " be those of two versions; play again with --fresh",
            err=True,
        )


def play_missing(
    folder: ResultsFolder,
    settings: PoolSettings,
    jobs: Sequence[LocalGame],
    options: ArenaOptions,
    keep: Callable[[LocalResult], None] = lambda result: None,
) -> bool:
    """Play the games without a result. Return True if the user interrupted that.

    Each result is stored after ``keep`` was called with it.
    """
    report = _in_order(folder, jobs, as_json=options.as_json)
    missing = [job for job in jobs if job.number not in folder.results]
    report()
    if not missing:
        return False
    try:
        with (
            progress_bar() as progress,
            GamePool(settings, min(options.jobs, len(missing))) as pool,
        ):
            task = progress.add_task("games", total=len(jobs))
            progress.advance(task, len(jobs) - len(missing))
            for result in pool.play_all(missing):
                keep(result)
                folder.add(result)
                progress.advance(task)
                report()
    except KeyboardInterrupt:
        return True
    return False


def _in_order(
    folder: ResultsFolder, jobs: Sequence[LocalGame], *, as_json: bool
) -> Callable[[], None]:
    """Return a function that prints the results that are complete up to a game."""
    waiting = iter(jobs)
    following = next(waiting, None)

    def report() -> None:
        nonlocal following
        while following is not None and following.number in folder.results:
            result = folder.results[following.number]
            if as_json:
                click.echo(json.dumps(result.outcome()))
            following = next(waiting, None)

    return report


def _print_summary(
    folder: ResultsFolder, bots: Sequence[LocalBot], games: int, *, as_json: bool
) -> None:
    results = [
        folder.results[number]
        for number in sorted(folder.results)
        if number <= games and not folder.results[number].dead
    ]
    rows = summaries([bot.name for bot in bots], results)
    if as_json:
        click.echo(summary_line(rows, len(results), games))
        return
    Console().print(match_table(rows))
    details = [detail for row in rows for detail in row.details]
    print_forfeits(details)


def exit_code(
    folder: ResultsFolder, jobs: Sequence[LocalGame], *, interrupted: bool
) -> int:
    """Say what was not played, and return the exit code of the command."""
    results = folder.results
    dead = [r for job in jobs if (r := results.get(job.number)) and r.dead]
    for result in dead:
        click.echo(
            f"torres: game {result.game} was not played, because this machine failed:"
            f" {result.dead}. The same command tries it again.",
            err=True,
        )
    if interrupted:
        played = sum(job.number in results for job in jobs) - len(dead)
        click.echo(
            f"torres: interrupted after {played} of {len(jobs)} games; the same"
            " command continues",
            err=True,
        )
        return INTERRUPTED
    return DEAD_GAMES if dead else 0
