"""`torres play`: games between bots on this machine, with the server's referee."""

import json
import secrets
from collections.abc import Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from pathlib import Path

import click
from rich.console import Console
from rich.progress import Progress

from engine.game import TorresGame
from engine.referee import GameRecord, ServiceFault, play as referee
from engine.rulesets import Rules, resolve
from engine.setup import derive
from ladder.cli.report import LocalStanding, game_lines, json_line, standing_table
from ladder.runner.compiler import home_cache, prepared
from ladder.runner.languages import locate
from ladder.runner.process import BotProcess, Direction, ProtocolLog
from ladder.runner.protocol import Limits
from ladder.runner.sandbox import LEVELS, Level, Program, Sandbox, open_sandbox

HOUSE = Path(__file__).resolve().parent.parent / "bots" / "house"
MIN_SEATS, MAX_SEATS = 2, 4
TRIES = 3
PathArgument = click.Path(path_type=Path, dir_okay=True)


@dataclass(frozen=True, slots=True)
class LocalBot:
    """One BOT argument: the name to print, and what to run."""

    name: str
    box: Program


@dataclass(frozen=True, slots=True)
class GameFiles:
    """Where a game's files go; None where nobody asked."""

    replay: Path | None
    replays: Path | None
    logs: Path | None
    protocol_log: Path | None

    def replay_of(self, number: int) -> Path | None:
        """Return the replay file of a game, numbered from 1."""
        return self.replay or (self.replays and self.replays / f"game-{number}.json")

    def log_of(self, number: int, seat: int) -> Path | None:
        """Return the file of a seat's stderr."""
        return self.logs and self.logs / f"game-{number}-seat-{seat}.log"

    def prepare(self, games: int) -> None:
        """Make the folders; refuse one file for many games, before any is played."""
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
        for folder in filter(None, (self.replays, self.logs)):
            try:
                folder.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise click.BadParameter(f"{folder}: {error.strerror}") from error


def entrant(bot: str) -> LocalBot:
    """Find the bot that an argument names: a file, a folder, or house:NAME."""
    if not bot.startswith("house:"):
        path = Path(bot)
        box = locate(path)
        return LocalBot(
            path.resolve().stem if path.is_file() else path.resolve().name, box
        )
    name = bot.removeprefix("house:")
    known = sorted(folder.name for folder in HOUSE.iterdir() if folder.is_dir())
    if name not in known:
        raise click.BadParameter(f"no house bot {name!r}; there are {', '.join(known)}")
    return LocalBot(name, locate(HOUSE / name))


def switch(text: str) -> tuple[str, object]:
    """Read NAME=VALUE; the value is JSON where it can be, else a word."""
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise click.BadParameter(f"{text!r} is not NAME=VALUE", param_hint="--switch")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def seating(number: int, seats: int, *, rotate: bool) -> list[int]:
    """Return which BOT sits on each seat in a game, numbered from 1."""
    turn = number - 1 if rotate else 0
    return [(seat + turn) % seats for seat in range(seats)]


@dataclass(frozen=True, slots=True)
class GameRunner:
    """What all games of one call share."""

    rules: Rules
    sandbox: Sandbox
    files: GameFiles
    limits: Limits

    def play(self, number: int, seed: str, seated: Sequence[LocalBot]) -> GameRecord:
        """Play one game and write its files; our own faults are tried again."""
        for _ in range(TRIES - 1):
            try:
                return self._play(number, seed, seated)
            except ServiceFault as fault:
                click.echo(f"torres: game {number} is played again: {fault}", err=True)
        return self._play(number, seed, seated)

    def _play(self, number: int, seed: str, seated: Sequence[LocalBot]) -> GameRecord:
        with ExitStack() as stack:
            tell = self._protocol_log(stack)
            players = [
                BotProcess(
                    who.box,
                    self.sandbox,
                    self.limits,
                    log=self.files.log_of(number, seat),
                    protocol_log=tell,
                )
                for seat, who in enumerate(seated)
            ]
            game = TorresGame(self.rules, derive(self.rules, seed))
            limits = self.limits.as_dict()
            outcome = referee(game, players, seed=seed, limits=limits)
        if path := self.files.replay_of(number):
            names = [{"name": who.name} for who in seated]
            replay = outcome.replay(seed=seed, players=names)
            path.write_text(json.dumps(replay) + "\n", encoding="utf-8")
        return outcome

    def _protocol_log(self, stack: ExitStack) -> ProtocolLog | None:
        """Open the file of raw lines: `0 < …` was sent to seat 0, `0 > …` came back."""
        if self.files.protocol_log is None:
            return None
        file = stack.enter_context(self.files.protocol_log.open("wb"))

        def tell(direction: Direction, seat: int, line: bytes) -> None:
            arrow = b"<" if direction == "sent" else b">"
            file.write(b"%d %s %s\n" % (seat, arrow, line))

        return tell


@click.command()
@click.argument("bots", nargs=-1, required=True, metavar="BOT BOT [BOT [BOT]]")
@click.option("--ruleset", default="yucata", show_default=True)
@click.option(
    "--switch", "switches", multiple=True, metavar="NAME=VALUE", help="Change a rule."
)
@click.option("--games", default=1, show_default=True, type=click.IntRange(1))
@click.option(
    "--seed", help="Game 1 has this seed, game i SEED/i. Random if not given."
)
@click.option(
    "--replay", type=PathArgument, metavar="FILE", help="Write the one game's replay."
)
@click.option(
    "--replays", type=PathArgument, metavar="DIR", help="Write game-1.json, …"
)
@click.option(
    "--sandbox", "level", default="none", show_default=True, type=click.Choice(LEVELS)
)
@click.option(
    "--logs", type=PathArgument, metavar="DIR", help="Write each seat's stderr."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON line a game.")
@click.option("--rotate", is_flag=True, help="Turn the seats from game to game.")
@click.option(
    "--protocol-log", type=PathArgument, metavar="FILE", help="Write the raw lines."
)
def play(  # noqa: PLR0913 - one parameter for each option that the contract names
    *,
    bots: tuple[str, ...],
    ruleset: str,
    switches: tuple[str, ...],
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

    BOT is a file, a folder that holds bot.<suffix>, or house:NAME.
    """
    if not MIN_SEATS <= len(bots) <= MAX_SEATS:
        raise click.BadParameter(f"{len(bots)} bots; a game has 2, 3 or 4 seats")
    rules = resolve(ruleset, len(bots), dict(switch(text) for text in switches))
    entrants = [entrant(bot) for bot in bots]
    files = GameFiles(replay, replays, logs, protocol_log)
    files.prepare(games)
    seed = seed if seed is not None else secrets.token_hex(16)
    seeds = [seed] + [f"{seed}/{number}" for number in range(2, games + 1)]
    with closing(open_sandbox(level)) as sandbox:
        entrants = [
            replace(who, box=prepared(who.box, sandbox, home_cache()))
            for who in entrants
        ]
        hall = GameRunner(rules, sandbox, files, Limits())
        if not as_json and level == "none":
            click.echo("no sandbox: play only bots that you trust", err=True)
        _play_all(hall, entrants, seeds, as_json=as_json, rotate=rotate)


def _play_all(
    hall: GameRunner,
    entrants: Sequence[LocalBot],
    seeds: Sequence[str],
    *,
    as_json: bool,
    rotate: bool,
) -> None:
    standings = [LocalStanding(who.name) for who in entrants]
    errors = Console(stderr=True)
    progress = Progress(console=errors, transient=True, disable=not errors.is_terminal)
    with progress:
        for number, seed in enumerate(progress.track(seeds, description="games"), 1):
            order = seating(number, len(entrants), rotate=rotate)
            seated = [entrants[who] for who in order]
            outcome = hall.play(number, seed, seated)
            for seat, who in enumerate(order):
                standings[who].add(outcome, seat)
            if as_json:
                click.echo(json_line(seed, outcome))
                continue
            for line in game_lines(number, seed, [w.name for w in seated], outcome):
                click.echo(line)
    if not as_json and len(seeds) > 1:
        Console().print(standing_table(standings))
