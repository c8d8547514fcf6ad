"""`torres analyse`: the turning points of a replay, and what if."""

import json

import click
from rich.console import Console
from rich.table import Table

from engine.documents import PlayerEntry
from engine.errors import EngineError
from engine.game import TorresGame
from engine.position_text import text_of
from engine.replay import game_at
from engine.turning_points import (
    GAMES,
    GameAnalysis,
    WhatIf,
    analyse as analyse_game,
    what_if,
    what_if_from,
)
from torres.cli.replay_files import position_in, read_valid
from torres.cli.replays import open_pipe

MAX_GAMES = 10_000


@click.command()
@click.argument("replay", metavar="REPLAY|POSITION")
@click.option(
    "--ply",
    type=click.IntRange(min=0),
    metavar="N",
    help="Compare the actions that are legal after N actions, instead of all turns.",
)
@click.option(
    "--line",
    multiple=True,
    metavar="ACTION",
    help="With --ply: play this action first. Repeat the option for a longer line.",
)
@click.option(
    "--games",
    type=click.IntRange(2, MAX_GAMES),
    default=GAMES,
    show_default=True,
    help="The games from each position. More take longer and are more exact.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def analyse(
    *, replay: str, ply: int | None, line: tuple[str, ...], games: int, as_json: bool
) -> None:
    """Find the turns that decided a game, or compare the actions of a position.

    Both play games of a strong policy from positions of the replay, which takes some
    seconds. The website shows the same figures. With --ply the command also prints the
    text of the position, which can stand in place of the replay.

    \b
    Examples:
      torres analyse game.json
      torres analyse game.json --ply 57
      torres analyse game.json --ply 57 --line "block c4"
      torres analyse torres-position/1:rules=… --line "block c4"
    """
    placed = position_in(replay)
    if placed is not None and ply is not None:
        raise click.BadParameter("a position has no plies", param_hint="--ply")
    if line and ply is None and placed is None:
        raise click.BadParameter("it needs --ply", param_hint="--line")
    try:
        with open_pipe():
            if placed is not None:
                start = placed.game()
                alternatives = what_if_from(start, line, games)
                _print_alternatives(alternatives, start, as_json=as_json)
            elif ply is None:
                document = read_valid(replay)
                course = analyse_game(document, games)
                _print_turns(course, document["players"], as_json=as_json)
            else:
                document = read_valid(replay)
                alternatives = what_if(document, ply, line, games)
                start = game_at(document, ply)
                _print_alternatives(alternatives, start, as_json=as_json)
    except EngineError as error:
        raise click.UsageError(f"{error}.") from error  # --ply or --line is wrong


def _print_turns(
    result: GameAnalysis, players: list[PlayerEntry], *, as_json: bool
) -> None:
    """Print the swing of each turn; an asterisk marks the turning points."""
    if as_json:
        click.echo(json.dumps(result))
        return
    table = Table("", "ply", "turn", "seat", "before", "after", "change", "lead")
    for index, swing in enumerate(result["swings"]):
        before, after = result["turns"][index : index + 2]
        seat = swing["seat"]
        table.add_row(
            "*" if index in result["turning_points"] else "",
            str(swing["ply"]),
            f"phase {before['phase']}, round {before['round']}",
            f"{seat} {players[seat].get('name', '')}",
            f"{before['chances'][seat]:.0%}",
            f"{after['chances'][seat]:.0%}",
            f"{100 * swing['chance']:+.0f}",
            f"{swing['lead']:+.1f}",
        )
    Console(markup=False).print(table)
    for turn in result.get("better", []):
        click.echo(
            f"ply {turn['ply']}: better was {', '.join(turn['actions'])}, with a chance"
            f" of {turn['chance']:.0%}"
        )
    for number, luck in enumerate(result["luck"]["seats"]):
        click.echo(
            f"luck of seat {number}: {luck['luck']:+.1f} ± {2 * luck['error']:.1f}"
            f" points by {luck['purchases']} purchases"
        )
    click.echo(
        "before and after: the chance of the seat to win; * marks the turning points."
    )


def _print_alternatives(result: WhatIf, start: TorresGame, *, as_json: bool) -> None:
    """Print what each action is worth; an asterisk marks the one that was played.

    The text of the position is that before the line.
    """
    if as_json:
        click.echo(json.dumps(result))
        return
    table = Table("", "action", "chance", "lead", "±", "games")
    for entry in result["alternatives"]:
        table.add_row(
            "*" if entry["played"] else "",
            entry["action"],
            f"{entry['chance']:.0%}",
            f"{entry['lead']:+.1f}",
            f"{2 * entry['error']:.1f}",
            str(entry["games"]),
        )
    Console(markup=False).print(table)
    listed = len(result["alternatives"])
    click.echo(
        f"seat {result['seat']} chooses; the best {listed} of {result['actions']}"
        " actions; * was played."
    )
    click.echo(text_of(start.position, start.rules))
