"""`torres tournament`: a whole tournament on this machine, from a file."""

import json
from contextlib import closing
from functools import partial
from itertools import pairwise
from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table
from rich.text import Text

from ladder.cli import tournament_folder
from ladder.cli.tournament_folder import TournamentFolder
from ladder.runner.sandbox import LEVELS, Level, open_sandbox
from ladder.tournaments.formats.tiebreaks import shown

MOST_AT_ONCE = 64
PathArgument = click.Path(path_type=Path, dir_okay=True)


@click.command()
@click.argument("file", type=PathArgument)
@click.option(
    "--replays",
    type=PathArgument,
    metavar="DIR",
    help="Where the games go, and what is gone on from. By default FILE's own name.",
)
@click.option(
    "--sandbox", "level", default="none", show_default=True, type=click.Choice(LEVELS)
)
@click.option(
    "--jobs",
    default=1,
    show_default=True,
    type=click.IntRange(1, MOST_AT_ONCE),
    help="Games at once.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the standings as JSON.")
def tournament(
    *, file: Path, replays: Path | None, level: Level, jobs: int, as_json: bool
) -> None:
    r"""Play the tournament that FILE describes, or go on with it.

    \b
    FILE is TOML:
      name = "Friday cup"
      bots = "bots"                  # a folder; each file or folder in it enters
      entrants = ["house:greedy"]    # listed ones are seeded first, in this order
      format = "swiss"               # round_robin, single_elimination,
                                     # double_elimination, groups
      seats = 2                      # at a table; 3 or 4 but in eliminations
      rounds = 5
      ruleset = "yucata"
      [limits]
      move_ms = 1000

    Every game's replay is kept. The same call goes on where it was stopped, and
    gives the same tournament; a finished one is only printed. All words of the
    format are explained in ladder/tournaments/README.md.
    """
    folder = TournamentFolder(
        replays or file.with_suffix(""), tournament_folder.load(file)
    )
    folder.open()
    with closing(open_sandbox(level)) as sandbox:
        if level == "none" and not as_json:
            click.echo("no sandbox: play only bots that you trust", err=True)
        errors = Console(stderr=True)
        with _progress(errors) as progress:
            while todo := folder.next_jobs():
                text = f"round {todo[0].place.round}"
                told = partial(
                    progress.advance, progress.add_task(text, total=len(todo))
                )
                tournament_folder.play(folder, todo, sandbox, at_once=jobs, done=told)
    if as_json:
        click.echo(json.dumps(document(folder)))
        return
    Console().print(_table(folder))
    for line in _explained(folder):
        click.echo(line)


def _progress(errors: Console) -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        console=errors,
        disable=not errors.is_terminal,
    )


def document(folder: TournamentFolder) -> dict[str, object]:
    """Return the standings for programs."""
    return {
        "name": folder.cup.name,
        "over": folder.over,
        "seed": folder.seed,
        "standings": [
            {
                "rank": line.rank,
                "bot": folder.name(line.key),
                "points": float(line.points),
                "played": line.played,
                **{str(rule): float(value) for rule, value in line.values.items()},
                "note": line.note,
            }
            for line in folder.standings().lines
        ],
    }


def _table(folder: TournamentFolder) -> Table:
    lines = folder.standings().lines
    rules = list(lines[0].values) if lines else []
    noted = any(line.note for line in lines)
    table = Table(title=folder.cup.name, box=None, pad_edge=False, header_style="bold")
    table.add_column("place", justify="right")
    table.add_column("bot", no_wrap=True)
    for head in ("points", "played", *(str(rule).replace("_", " ") for rule in rules)):
        table.add_column(head, justify="right")
    if noted:
        table.add_column("")
    for line in lines:
        cells = [shown(line.points), str(line.played)]
        cells += [
            shown(line.values[rule]) if rule in line.values else "" for rule in rules
        ]
        note = [line.note] if noted else []
        table.add_row(str(line.rank), Text(folder.name(line.key)), *cells, *note)
    return table


def _explained(folder: TournamentFolder) -> list[str]:
    """Say of neighbours with equal points why one is ahead."""
    standings = folder.standings()
    said = []
    for one, two in pairwise(standings.lines):
        if one.points == two.points and one.values and two.values:
            why = "; ".join(standings.explain(one.key, two.key)[1:])
            said.append(f"{folder.name(one.key)} – {folder.name(two.key)}: {why}")
    return said
