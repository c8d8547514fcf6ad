"""`torres ladder`: a rated ladder over a folder of bots, on this machine."""

import json
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from torres.cli.arena_options import ArenaOptions, arena_options
from torres.cli.completion import BOT
from torres.cli.game_pool import GamePool
from torres.cli.local_ladder import LocalLadder
from torres.cli.play import PathArgument, find_bot
from torres.cli.terminal import leaderboard_table
from torres.common.lazy_import import lazy_import

if TYPE_CHECKING:
    from torres.cli import ladder_pages
else:
    ladder_pages = lazy_import("torres.cli.ladder_pages")

SCAN_S = 1.0  # how often the folder is looked at
INTERRUPTED = 130


@click.command(name="ladder")
@click.argument("folder", type=PathArgument, metavar="DIR")
@click.option(
    "--games",
    default=0,
    type=click.IntRange(0),
    help="Stop at this number of games. By default the ladder plays until Ctrl-C.",
)
@click.option(
    "--with",
    "extra",
    multiple=True,
    type=BOT,
    metavar="BOT",
    help="Let a bot play that is not in DIR, such as house:greedy. Can be repeated.",
)
@click.option(
    "--web",
    is_flag=True,
    help="Write the leaderboard, the bots and the games as pages for a browser, too.",
)
@arena_options
def ladder(
    *,
    folder: Path,
    games: int,
    extra: tuple[str, ...],
    web: bool,
    options: ArenaOptions,
) -> int:
    """Play a rated ladder between the bots in DIR, and show the leaderboard.

    Each file and each folder in DIR is a bot. The matchmaker and the ratings are those
    of the server. A new file joins while the ladder runs, a changed file plays as a new
    version of its bot, and a removed one leaves.

    The ladder is stored in DIR/.torres-ladder, so the same command continues it;
    --fresh begins a new one.

    With --web the leaderboard, the rating of each bot over time, and the latest games
    in the viewer are pages for your browser. The command prints their address; they are
    files in DIR/.torres-ladder/pages, and stay when the command ends.

    Exit codes: 0 the ladder has its games, or runs without --games and was ended by
    Ctrl-C; 2 a bad argument; 130 Ctrl-C before the ladder had its --games.

    \b
    Examples:
      torres ladder bots
      torres ladder bots --with house:greedy --with house:climber --games 500
      torres ladder bots --web
      torres ladder bots --ladder http://127.0.0.1:8000 --json --games 100
    """
    if not folder.is_dir():
        raise click.BadParameter(f"there is no folder {folder}")
    if options.state is not None:
        raise click.BadParameter(
            "a ladder is stored in its folder; leave the option out",
            param_hint="--state",
        )
    errors = Console(stderr=True)
    local = LocalLadder(
        folder,
        options.rules,
        options.level,
        options.seed,
        [find_bot(argument) for argument in extra],
        lambda line: errors.print(Text(line), soft_wrap=True),
    )
    if options.level == "none" and not options.as_json:
        errors.print("no sandbox: play only bots that you trust")
    with local.opened(fresh=options.fresh):
        pages = ladder_pages.LadderPages(local) if web else None
        if pages is not None:
            pages.write()
            errors.print(f"The pages are at {pages.address}", soft_wrap=True)
        interrupted = _run(local, options, games, errors, pages)
    if options.as_json:
        rows = [asdict(row) for row in local.leaderboard()]
        click.echo(json.dumps({"games": local.games, "leaderboard": rows}))
    else:
        Console().print(_table(local))
    return INTERRUPTED if interrupted and games else 0


def _run(
    local: LocalLadder,
    options: ArenaOptions,
    games: int,
    errors: Console,
    pages: "ladder_pages.LadderPages | None",
) -> bool:
    """Play until the ladder has its games. Return True if the user ended it before."""
    settings = options.pool((), local.replays)
    live = Live(_table(local), console=errors, transient=True, auto_refresh=False)
    shown = errors.is_terminal and not options.as_json
    try:
        with GamePool(settings, options.jobs) as pool:
            if shown:
                live.start()
            next_scan = 0.0
            while True:
                if time.monotonic() >= next_scan:
                    local.scan(pool)
                    next_scan = time.monotonic() + SCAN_S
                if games and local.games >= games:
                    break
                local.start_games(pool, games)
                for result in pool.wait(SCAN_S):
                    local.finish(result)
                _show(local, live if shown else None, pages)
    except KeyboardInterrupt:
        return True
    finally:
        live.stop()
    return False


def _show(
    local: LocalLadder, live: Live | None, pages: "ladder_pages.LadderPages | None"
) -> None:
    """Show the ladder as it is now, in the terminal and in the browser."""
    if live is not None:
        live.update(_table(local), refresh=True)
    if pages is not None:
        pages.write()


def _table(local: LocalLadder) -> Table:
    rows = [asdict(row) for row in local.leaderboard()]
    title = f"{local.games} games"
    return leaderboard_table(rows, more=("version",), title=title)
