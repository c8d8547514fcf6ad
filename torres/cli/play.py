"""`torres play`: games between bots on this machine, with the referee of the server.

`LocalBot`, `GameFiles` and `GameRunner` are also what `torres tournament` plays its
games with.
"""

import atexit
import json
import secrets
import shutil
import tempfile
from collections.abc import Collection, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import click
from click.core import ParameterSource
from rich.console import Console

from engine.documents import PlayerEntry
from engine.game import TorresGame
from engine.position_text import PlacedPosition, position_from
from engine.referee import ServiceFault, play as referee
from engine.rulesets import MAX_SEATS, MIN_SEATS, Rules, resolve
from engine.setup import derive
from torres.checking.staging import stage
from torres.cli.completion import BOT, HOUSE, RULESET, house_bot
from torres.cli.local_results import LocalGame, LocalResult, result_of
from torres.cli.match_report import game_lines, json_line, match_table, summaries
from torres.cli.terminal import progress_bar
from torres.runner.compiler import home_cache, prepared
from torres.runner.languages import locate
from torres.runner.process import BotProcess, Direction, ProtocolLog
from torres.runner.protocol import Limits
from torres.runner.sandbox import LEVELS, Level, Program, Sandbox, open_sandbox
from torres.upload.formats import is_archive

MAX_ATTEMPTS = 3  # for each game, if this machine fails
PathArgument = click.Path(path_type=Path, dir_okay=True)

# The arguments and options that several commands have.
bots_argument = click.argument(
    "bots", nargs=-1, required=True, type=BOT, metavar="BOT BOT [BOT [BOT]]"
)
sandbox_option = click.option(
    "--sandbox",
    "level",
    default="none",
    show_default=True,
    type=click.Choice(LEVELS),
    help="How to isolate the bots; `torres doctor` tests the levels.",
)
switch_option = click.option(
    "--switch",
    "switches",
    multiple=True,
    metavar="NAME=VALUE",
    help="Change one rule of the ruleset. Can be repeated.",
)


@dataclass(frozen=True, slots=True)
class LocalBot:
    """A bot that the command line or a tournament file names.

    ``is_file`` if a single file was named, and not the folder that contains it.
    """

    name: str
    program: Program
    is_file: bool = False


@dataclass(frozen=True, slots=True)
class GameFiles:
    """The files and folders to write; None for those that were not requested."""

    replay: Path | None
    replays: Path | None
    logs: Path | None
    protocol_log: Path | None

    def replay_of(self, number: int) -> Path | None:
        """Return the replay file of a game, numbered from 1."""
        if self.replays is None:
            return self.replay
        return self.replay or self.replays / f"game-{number}.json"

    def log_of(self, number: int, seat: int) -> Path | None:
        """Return the file for the stderr of a seat, numbered from 0."""
        if self.logs is None:
            return None
        return self.logs / f"game-{number}-seat-{seat}.log"

    def prepare(self, games: int) -> None:
        """Create the folders. Raises BadParameter if a file cannot be written."""
        for option, file in (
            ("--replay", self.replay),
            ("--protocol-log", self.protocol_log),
        ):
            if file and games > 1:
                raise click.BadParameter(
                    f"one file cannot hold {games} games; use --games 1",
                    param_hint=option,
                )
            if file and not file.absolute().parent.is_dir():
                raise click.BadParameter(
                    f"there is no folder {file.absolute().parent}", param_hint=option
                )
        for folder in (self.replays, self.logs):
            if folder is None:
                continue
            try:
                folder.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise click.BadParameter(f"{folder}: {error.strerror}") from error


def find_bot(argument: str) -> LocalBot:
    """Return the bot that an argument names: a file, a folder, an archive, house:NAME.

    Raises BadParameter, EntryNotFound and BadArchive.
    """
    if argument.startswith(HOUSE):
        folder = house_bot(argument.removeprefix(HOUSE))
        return LocalBot(folder.name, locate(folder))
    path = Path(argument)
    if path.is_file() and is_archive(path):
        status = path.stat()
        program = _unpacked(path.resolve(), status.st_mtime_ns, status.st_size)
        return LocalBot(path.name.partition(".")[0], program)
    program = locate(path)
    if path.is_file():
        return LocalBot(path.resolve().stem, program, is_file=True)
    return LocalBot(path.resolve().name, program)


@cache
def _unpacked(archive: Path, _mtime_ns: int, _size: int) -> Program:
    """Unpack an archive as an upload, into a folder that this process deletes at last.

    An archive is unpacked again if its time or size has changed. Raises EntryNotFound
    and BadArchive.
    """
    folder = Path(tempfile.mkdtemp(prefix="torres-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return stage(archive, folder / "bot")


def parse_switch(text: str) -> tuple[str, object]:
    """Split NAME=VALUE. The value is read as JSON if possible, otherwise as text."""
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise click.BadParameter(f"{text!r} is not NAME=VALUE", param_hint="--switch")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def rotated(seats: int, by: int) -> tuple[int, ...]:
    """Return for each seat the index of its bot, after ``by`` rotations."""
    return tuple((seat + by) % seats for seat in range(seats))


@dataclass(frozen=True, slots=True)
class GameRunner:
    """Plays games that share rules, limits and sandbox, and writes their files.

    They begin at `start`, or with the set-up. The former have no replay.
    """

    rules: Rules
    sandbox: Sandbox
    files: GameFiles
    limits: Limits
    start: PlacedPosition | None = None

    def play(self, game: LocalGame, bots: Sequence[LocalBot]) -> LocalResult:
        """Play one game and write its files. ``bots`` are in the order of the seats.

        If this machine fails, the game is played again, MAX_ATTEMPTS times in all;
        then ServiceFault is raised. As on the ladder, a clock that may be the machine's
        fault counts as the bot's once an attempt has failed in its seat.
        """
        doubted: set[int | None] = set()
        for _ in range(MAX_ATTEMPTS - 1):
            try:
                return self._play(game, bots, doubted)
            except ServiceFault as fault:
                doubted.add(fault.seat)
                click.echo(
                    f"torres: game {game.number} is played again: {fault}", err=True
                )
        return self._play(game, bots, doubted)

    def _play(
        self,
        game: LocalGame,
        bots: Sequence[LocalBot],
        doubted: Collection[int | None],
    ) -> LocalResult:
        with ExitStack() as stack:
            protocol_log = self._open_protocol_log(stack)
            players = [
                BotProcess(
                    bot.program,
                    self.sandbox,
                    self.limits,
                    log=self.files.log_of(game.number, seat),
                    protocol_log=protocol_log,
                    strict_clock=seat in doubted,
                )
                for seat, bot in enumerate(bots)
            ]
            if self.start is None:
                table = TorresGame(self.rules, derive(self.rules, game.seed))
            else:
                table = self.start.game()
            limits = self.limits.as_dict()
            record = referee(table, players, seed=game.seed, limits=limits)
        path = self.files.replay_of(game.number)
        if path is not None:
            named: list[PlayerEntry] = [{"name": bot.name} for bot in bots]
            replay = record.replay(seed=game.seed, players=named)
            path.write_text(json.dumps(replay) + "\n", encoding="utf-8")
        return result_of(game, record, tuple(player.memory_peak for player in players))

    def _open_protocol_log(self, stack: ExitStack) -> ProtocolLog | None:
        """Return a function that logs raw lines: `0 < …` to seat 0, `0 > …` from it."""
        if self.files.protocol_log is None:
            return None
        file = stack.enter_context(self.files.protocol_log.open("wb"))

        def write(direction: Direction, seat: int, line: bytes) -> None:
            arrow = b"<" if direction == "sent" else b">"
            file.write(b"%d %s %s\n" % (seat, arrow, line))

        return write


@click.command()
@bots_argument
@click.option(
    "--ruleset",
    default="yucata",
    type=RULESET,
    show_default=True,
    help="The edition of the game; `torres rulesets` lists them.",
)
@switch_option
@click.option(
    "--from",
    "start",
    metavar="POSITION",
    help="Begin at a position (docs/positions.md), which has the rules and the seats.",
)
@click.option(
    "--games",
    default=1,
    show_default=True,
    type=click.IntRange(1),
    help="The number of games.",
)
@click.option(
    "--seed",
    help="The seed of game 1; game i has the seed SEED/i. Random by default.",
)
@click.option(
    "--replay",
    type=PathArgument,
    metavar="FILE",
    help="Write the replay of the game to FILE (only with one game).",
)
@click.option(
    "--replays",
    type=PathArgument,
    metavar="DIR",
    help="Write the replays to DIR as game-1.json, game-2.json, …",
)
@sandbox_option
@click.option(
    "--logs",
    type=PathArgument,
    metavar="DIR",
    help="Write the stderr of each seat to DIR as game-1-seat-0.log, …",
)
@click.option(
    "--json", "as_json", is_flag=True, help="Print one line of JSON for each game."
)
@click.option("--rotate", is_flag=True, help="Rotate the seats from game to game.")
@click.option(
    "--protocol-log",
    type=PathArgument,
    metavar="FILE",
    help="Write all lines to and from the bots to FILE (only with one game).",
)
def play(  # noqa: PLR0913 - one parameter for each option that the contract names
    *,
    bots: tuple[str, ...],
    ruleset: str,
    switches: tuple[str, ...],
    start: str | None,
    games: int,
    seed: str | None,
    replay: Path | None,
    replays: Path | None,
    level: Level,
    logs: Path | None,
    as_json: bool,
    rotate: bool,
    protocol_log: Path | None,
) -> None:
    """Play games between bots on this machine.

    BOT is a file, a folder that contains bot.<suffix>, an archive of such a folder
    (zip, tar.gz), or house:NAME for a bot that comes with Torres Ladder. The first BOT
    has seat 0.

    \b
    Examples:
      torres play bot.py house:greedy
      torres play my-bot/ house:random --games 20 --rotate --seed 1
      torres play a.py b.py c.py --replays games --logs logs
      torres play bot.py house:greedy --games 10 --from torres-position/1:rules=…
    """
    if not MIN_SEATS <= len(bots) <= MAX_SEATS:
        raise click.BadParameter(
            f"{len(bots)} bots; a game has 2, 3 or 4 seats, so name as many bots"
        )
    rules = resolve(ruleset, len(bots), dict(parse_switch(text) for text in switches))
    placed = None
    if start is not None:
        _refuse_with_start()
        placed = _start_for(len(bots), start)
        rules = placed.rules
    local_bots = [find_bot(argument) for argument in bots]
    files = GameFiles(replay, replays, logs, protocol_log)
    files.prepare(games)
    seed = seed if seed is not None else secrets.token_hex(16)
    seeds = [seed] + [f"{seed}/{number}" for number in range(2, games + 1)]
    with closing(open_sandbox(level)) as sandbox:
        local_bots = [
            replace(bot, program=prepared(bot.program, sandbox, home_cache()))
            for bot in local_bots
        ]
        runner = GameRunner(rules, sandbox, files, Limits(), placed)
        if not as_json and level == "none":
            click.echo("no sandbox: play only bots that you trust", err=True)
        _play_all(runner, local_bots, seeds, as_json=as_json, rotate=rotate)


def _start_for(bots: int, text: str) -> PlacedPosition:
    """Return the position of --from, where as many seats decide as there are bots.

    Raises BadPosition and BadParameter.
    """
    placed = position_from(text)
    if placed.rules.seats != bots:
        raise click.BadParameter(
            f"the position has {placed.rules.seats} seats; name as many bots",
            param_hint="--from",
        )
    if placed.game().over:
        raise click.BadParameter(
            "the game is over in this position; choose an earlier one",
            param_hint="--from",
        )
    return placed


def _refuse_with_start() -> None:
    """Refuse the options that a game from a position cannot have.

    The position has the rules, and a replay begins with the set-up.
    """
    context = click.get_current_context()
    for name in ("ruleset", "switches", "replay", "replays"):
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            option = "switch" if name == "switches" else name
            raise click.BadParameter(
                "it does not go together with --from; leave one of them out",
                param_hint=f"--{option}",
            )


def _play_all(
    runner: GameRunner,
    bots: Sequence[LocalBot],
    seeds: Sequence[str],
    *,
    as_json: bool,
    rotate: bool,
) -> None:
    results: list[LocalResult] = []
    with progress_bar() as progress:
        for number, seed in enumerate(progress.track(seeds, description="games"), 1):
            order = rotated(len(bots), number - 1 if rotate else 0)
            seated = [bots[k] for k in order]
            result = runner.play(LocalGame(number, seed, order), seated)
            results.append(result)
            if as_json:
                click.echo(json_line(result))
                continue
            for line in game_lines(result, [bot.name for bot in seated]):
                click.echo(line)
    if not as_json and len(seeds) > 1:
        Console().print(match_table(summaries([bot.name for bot in bots], results)))
