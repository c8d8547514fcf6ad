"""`torres render`: pictures and animations of a replay as files."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from engine.position_text import PlacedPosition
from torres.cli.replay_files import position_in, read_valid
from torres.common.lazy_import import lazy_import
from torres.common.quoting import printable
from torres.drawing.board_svg import board_svg
from torres.drawing.board_text import seat_names
from torres.drawing.frames import frame_of, of_replay
from torres.runner.protocol import Limits

if TYPE_CHECKING:
    from torres.drawing import raster
else:
    raster = lazy_import("torres.drawing.raster")  # it needs Pillow

STILLS = (".svg", ".png")
ANIMATION = ".gif"
MIN_WIDTH, MAX_WIDTH = 100, 2_000  # pixels
END_PAUSE_MS = 3_000


@click.command()
@click.argument("replay", metavar="REPLAY|POSITION")
@click.option(
    "--output",
    required=True,
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="The file to write. Its ending is .svg, .png or .gif.",
)
@click.option(
    "--ply",
    type=click.IntRange(min=0),
    metavar="N",
    help="The position after N actions. Without it, the last one.",
)
@click.option(
    "--width",
    type=click.IntRange(MIN_WIDTH, MAX_WIDTH),
    default=524,
    show_default=True,
    help="The width of a .png or .gif, in pixels.",
)
@click.option(
    "--ms",
    type=click.IntRange(20, 10_000),
    default=400,
    show_default=True,
    help="How long a .gif shows each position, in milliseconds.",
)
def render(replay: str, output: Path, ply: int | None, width: int, ms: int) -> None:
    """Draw a position (.svg, .png), or the whole game of a replay (.gif).

    \b
    Examples:
      torres render game.json --output game.gif
      torres render game.json --ply 57 --output move-57.png
      torres render torres-position/1:rules=… --output position.svg
    """
    kind = output.suffix.lower()
    if kind not in (*STILLS, ANIMATION):
        raise click.BadParameter(
            "a file name that ends with .svg, .png or .gif is needed",
            param_hint="--output",
        )
    if kind == ANIMATION and ply is not None:
        raise click.UsageError(
            "A .gif shows the whole game. Use --ply with .svg or .png."
        )
    placed = position_in(replay)
    if placed is not None and (kind == ANIMATION or ply is not None):
        raise click.UsageError(
            "A position is one picture. Use .svg or .png, and leave --ply out."
        )
    names, frames = _frames(replay) if placed is None else _frame(placed)
    index = _index(frames, ply)
    try:
        if kind == ".svg":
            output.write_text(board_svg(frames[index], names), encoding="utf-8")
        elif kind == ".png":
            film = raster.Film(names, frames, width)
            film.picture(index).save(output, format="PNG", optimize=True)
        else:
            _animate(raster.Film(names, frames, width), output, ms)
    except OSError as error:
        raise click.ClickException(
            f"{printable(str(output))} cannot be written: {error.strerror}"
        ) from None
    click.echo(str(output))


def _frames(replay: str) -> tuple[list[str], list[dict[str, object]]]:
    """Return the names of the players of a replay, and its frames."""
    document = read_valid(replay)
    names = [printable(player["name"]) for player in document["players"]]
    return names, of_replay(document, Limits().as_dict())


def _frame(placed: PlacedPosition) -> tuple[list[str], list[dict[str, object]]]:
    """Return names for the seats of a position, and its only frame."""
    return seat_names(placed), [frame_of(placed.game())]


def _index(frames: list[dict[str, object]], ply: int | None) -> int:
    last = len(frames) - 1
    if ply is None:
        return last
    if ply > last:
        raise click.BadParameter(
            f"the game has {last} actions, so N is at most {last}", param_hint="--ply"
        )
    return ply


def _animate(film: "raster.Film", output: Path, ms: int) -> None:
    with click.progressbar(
        length=len(film.frames), label="drawing", file=sys.stderr
    ) as bar:
        raster.save_animation(
            film, output, ms=ms, pause_ms=END_PAUSE_MS, progress=bar.update
        )
