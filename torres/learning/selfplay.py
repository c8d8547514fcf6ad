"""`torres selfplay`: games of bots, as data for programs that learn.

The games are played as in `torres match`: the referee of the server, deals with rotated
seats, all processors. The command can also read replays that exist.
"""

import json
from collections.abc import Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from engine.rulesets import MAX_SEATS, MIN_SEATS, resolve
from torres.cli.arena_options import ArenaOptions, arena_options, find_bots
from torres.cli.completion import BOT
from torres.cli.local_results import LocalResult
from torres.cli.match import (
    announce,
    deal_game,
    exit_code,
    games_option,
    play_missing,
    warn_of_changes,
)
from torres.cli.play import GameFiles, PathArgument
from torres.cli.replay_files import read_valid
from torres.cli.results_folder import ResultsFolder
from torres.cli.terminal import progress_bar
from torres.common.whole_file import write_whole

FORMATS = ("npz", "ndjson")


@click.command(name="selfplay")
@click.argument("bots", nargs=-1, type=BOT, metavar="BOT BOT [BOT [BOT]]")
@games_option
@click.option(
    "--out",
    required=True,
    type=PathArgument,
    metavar="DIR",
    help="The folder of the data: game-1.npz, …, and the replays of the games.",
)
@click.option(
    "--format",
    "form",
    default="npz",
    show_default=True,
    type=click.Choice(FORMATS),
    help="npz for numpy, or ndjson: one JSON object for each decision, with gzip.",
)
@click.option(
    "--from",
    "replays",
    multiple=True,
    type=PathArgument,
    metavar="PATH",
    help="Read a replay, or all replays of a folder, instead of playing games. Can be"
    " repeated.",
)
@partial(arena_options, state=False)
def selfplay(
    *,
    bots: tuple[str, ...],
    games: int,
    out: Path,
    form: str,
    replays: tuple[Path, ...],
    options: ArenaOptions,
) -> int:
    """Write games of bots as training data, on all processors.

    Each game becomes one file with what the seats saw at each decision, the legal
    actions, the action that was played, and how the game ended for the seat. The page
    docs/environments.md explains the arrays, and names a function that reads them.

    If the command is interrupted, the same command continues; with more --games it
    plays only the new ones. To let a bot play against itself, name it twice.

    With --from, the decisions are those of existing replays.

    Exit codes: 0 all data was written, 1 this machine could not play some games or a
    replay is invalid, 2 a bad argument, 130 interrupted.

    \b
    Examples:
      torres selfplay house:greedy house:greedy --games 200 --out data
      torres selfplay bot.py house:climber bot.py --out data --format ndjson
      torres selfplay --from games --from game.json --out data
    """
    # It needs numpy, which the command line itself does not.
    data: Any = import_module("torres.learning.samples")
    if replays and bots:
        raise click.BadParameter("name bots or --from, and not both")
    if replays:
        files = _files(replays)
        GameFiles(None, out, None, None).prepare(len(files))
        _convert(data, files, out, form)
        _summarise(data, out, as_json=options.as_json)
        return 0
    if not MIN_SEATS <= len(bots) <= MAX_SEATS:
        raise click.BadParameter(
            f"{len(bots)} bots; a game has 2, 3 or 4 seats, so name as many bots, or"
            " name replays with --from"
        )
    resolve(options.rules.ruleset, len(bots), options.rules.switches)
    entrants = find_bots(bots)
    identity = options.identity(entrants) | {"format": form}
    folder = ResultsFolder(out, identity)
    settings = options.pool(entrants, folder.replays)
    announce(options, folder.path)
    jobs = [deal_game(k, len(bots), options.seed) for k in range(1, games + 1)]

    def keep(result: LocalResult) -> None:
        if not result.dead:
            name = f"game-{result.game}"
            _write(data, folder.replays / f"{name}.json", out / name, form)

    with folder.opened(fresh=options.fresh):
        GameFiles(None, folder.replays, None, None).prepare(games)
        _forget_lost(data, folder, form, fresh=options.fresh)
        interrupted = play_missing(folder, settings, jobs, options, keep)
    if not interrupted:
        warn_of_changes(entrants, identity)
    _summarise(data, out, as_json=options.as_json)
    return exit_code(folder, jobs, interrupted=interrupted)


def _files(paths: Sequence[Path]) -> list[Path]:
    """Return the replays of some files and folders. Raises BadParameter."""
    files: list[Path] = []
    for path in paths:
        found = sorted(path.glob("*.json")) if path.is_dir() else [path]
        if not found:
            raise click.BadParameter(f"{path}: there is no replay (*.json)")
        files += found
    names = [file.stem for file in files]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice:
        raise click.BadParameter(
            f"two replays have the name {twice}.json; convert their folders one by one"
        )
    return files


def _convert(data: Any, files: Sequence[Path], out: Path, form: str) -> None:  # noqa: ANN401 - a module
    """Write the decisions of existing replays."""
    with progress_bar() as progress:
        for file in progress.track(files, description="replays"):
            _write(data, file, out / file.stem, form)


def _write(data: Any, replay: Path, target: Path, form: str) -> None:  # noqa: ANN401 - a module
    """Write the decisions of a replay. Raises ClickException for an invalid one."""
    try:
        content = data.encode(data.sample(read_valid(str(replay))), form)
    except ValueError as error:
        raise click.ClickException(f"{replay}: {error}") from None
    write_whole(target.with_name(f"{target.name}{data.SUFFIXES[form]}"), content)


def _forget_lost(data: Any, folder: ResultsFolder, form: str, *, fresh: bool) -> None:  # noqa: ANN401 - a module
    """Forget the results of games whose data is not there, so that they are played."""
    if fresh:
        for file in data.sample_files(folder.path):
            file.unlink()
    for game in list(folder.results):
        if not (folder.path / f"game-{game}{data.SUFFIXES[form]}").exists():
            del folder.results[game]


def _summarise(data: Any, out: Path, *, as_json: bool) -> None:  # noqa: ANN401 - a module
    files = data.sample_files(out)
    size = sum(file.stat().st_size for file in files)
    if as_json:
        summary = {"files": len(files), "bytes": size}
        click.echo(json.dumps({"summary": summary}))
    else:
        click.echo(f"{len(files)} games in {out}, {size / 1e6:.1f} MB")
