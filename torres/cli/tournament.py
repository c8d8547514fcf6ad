"""`torres tournament`: plays a whole tournament on this machine, described by a file.

This module has the command and its output. `tournament_folder` reads the file, decides
which games come next and plays them.
"""

import json
from contextlib import closing
from functools import partial
from itertools import pairwise
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from torres.cli import tournament_folder
from torres.cli.arena_options import MAX_JOBS
from torres.cli.play import PathArgument, sandbox_option
from torres.cli.terminal import plain_table, progress_bar
from torres.cli.tournament_folder import TournamentFolder
from torres.formats.tiebreaks import format_points
from torres.runner.sandbox import Level, Sandbox, open_sandbox


@click.command()
@click.argument("file", type=PathArgument)
@click.option(
    "--replays",
    type=PathArgument,
    metavar="DIR",
    help="The folder for the replays. By default FILE without its suffix.",
)
@sandbox_option
@click.option(
    "--jobs",
    default=1,
    show_default=True,
    type=click.IntRange(1, MAX_JOBS),
    help="The number of games to play at the same time.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the standings as JSON.")
def tournament(
    *, file: Path, replays: Path | None, level: Level, jobs: int, as_json: bool
) -> None:
    """Play the tournament that FILE describes, or resume it.

    \b
    FILE is TOML, for example friday.toml:
      name = "Friday cup"
      entrants = ["house:greedy"]  # these are seeded first, in this order
      bots = "bots"                # a folder: each file or folder in it enters
      format = "swiss"             # or round_robin, single_elimination,
                                   # double_elimination, groups
      rounds = 5
      ruleset = "yucata"
      [limits]
      move_ms = 1000

    All keys are explained in docs/tournaments.md.

    The command writes the replay of each game to a folder, here friday/, and prints
    the standings. If it is interrupted, the same command resumes the tournament with
    the same result. If the tournament is over, it only prints the standings.

    \b
    Examples:
      torres tournament friday.toml
      torres tournament friday.toml --jobs 4 --sandbox full
      torres tournament friday.toml --json
    """
    loaded = tournament_folder.load(file)
    folder = TournamentFolder(replays or _folder_of(file), loaded)
    folder.open()
    with closing(open_sandbox(level)) as sandbox:
        if level == "none" and not as_json:
            click.echo("no sandbox: play only bots that you trust", err=True)
        folder.build(sandbox)
        _play_to_the_end(folder, sandbox, at_once=jobs)
    if as_json:
        click.echo(json.dumps(standings_document(folder)))
        return
    Console().print(_standings_table(folder))
    for line in _tie_explanations(folder):
        click.echo(line)


def _folder_of(file: Path) -> Path:
    """Return the folder of the replays: the file's path without its suffix."""
    folder = file.with_suffix("")
    if folder == file:
        raise click.BadParameter(
            f"{file} has no suffix such as .toml, so the folder of its replays cannot"
            " have its name. Rename the file, or name a folder with --replays"
        )
    return folder


def _play_to_the_end(
    folder: TournamentFolder, sandbox: Sandbox, *, at_once: int
) -> None:
    with progress_bar() as progress:
        jobs = folder.next_jobs()
        while jobs:
            task = progress.add_task(f"round {jobs[0].fixture.round}", total=len(jobs))
            done = partial(progress.advance, task)
            tournament_folder.play(folder, jobs, sandbox, at_once=at_once, done=done)
            jobs = folder.next_jobs()


def standings_document(folder: TournamentFolder) -> dict[str, object]:
    """Return the standings as `--json` prints them."""
    return {
        "name": folder.tournament.name,
        "over": folder.over,
        "seed": folder.seed,
        "standings": [
            {
                "rank": line.rank,
                "bot": folder.name(line.key),
                "points": float(line.points),
                "played": line.played,
                **{str(rule): float(value) for rule, value in line.tie_breaks.items()},
                "note": line.note,
            }
            for line in folder.standings().lines
        ],
    }


def _standings_table(folder: TournamentFolder) -> Table:
    lines = folder.standings().lines
    rules = list(lines[0].tie_breaks) if lines else []
    has_notes = any(line.note for line in lines)
    heads = ["rank", "bot", "points", "played"]
    heads += [str(rule).replace("_", " ") for rule in rules]
    if has_notes:
        heads.append("")
    title = folder.tournament.name
    table = plain_table(*heads, texts=("bot", ""), title=title, whole_texts=True)
    for line in lines:
        cells = [format_points(line.points), str(line.played)]
        for rule in rules:
            value = line.tie_breaks.get(rule)
            cells.append("" if value is None else format_points(value))
        if has_notes:
            cells.append(line.note)
        table.add_row(str(line.rank), Text(folder.name(line.key)), *cells)
    return table


def _tie_explanations(folder: TournamentFolder) -> list[str]:
    """Return a sentence for each pair of neighbours with equal points and tie-breaks.

    It says why one is ahead of the other. Ranks of a bracket need no explanation.
    """
    standings = folder.standings()
    sentences = []
    for one, two in pairwise(standings.lines):
        if one.points == two.points and one.tie_breaks and two.tie_breaks:
            reasons = standings.explain(one.key, two.key)[1:]  # without the points
            names = f"{folder.name(one.key)} – {folder.name(two.key)}"
            sentences.append(f"{names}: {'; '.join(reasons)}")
    return sentences
