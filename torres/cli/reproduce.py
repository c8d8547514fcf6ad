"""`torres reproduce` and `torres ask`: put recorded questions to a local bot."""

import json
import sys
import tempfile
from contextlib import closing
from pathlib import Path
from typing import cast

import click
from rich.console import Console

from engine.documents import Replay
from engine.game import TorresGame
from engine.referee import Answer, PlayerFault
from engine.replay import verify
from torres.checking import playback
from torres.checking.playback import RepeatedGame
from torres.cli.bot_files import bot_digest
from torres.cli.client import LadderClient, RemoteError, find_login
from torres.cli.debugging import FollowedLog, debug_option, with_debugger
from torres.cli.ladder_rules import known_limits
from torres.cli.play import LocalBot, find_bot, sandbox_option
from torres.cli.remote import json_option, ladder_option
from torres.cli.replay_files import read_valid
from torres.common.json_object import JsonObject
from torres.common.quoting import printable
from torres.drawing.board_text import draw_board
from torres.runner.compiler import home_cache, prepared
from torres.runner.process import BotProcess
from torres.runner.protocol import Limits
from torres.runner.sandbox import Level, open_sandbox

DIFFERENT = 1  # the exit code

seat_option = click.option(
    "--seat", type=click.IntRange(0, 3), help="The seat of your bot in the game."
)


@click.command()
@click.argument("game", metavar="GAME")
@click.argument("bot", metavar="BOT")
@seat_option
@sandbox_option
@ladder_option
@json_option
def reproduce(
    *,
    game: str,
    bot: str,
    seat: int | None,
    level: Level,
    address: str | None,
    as_json: bool,
) -> None:
    """Play a game of the ladder again with your bot, up to the first difference.

    GAME is the number of a game, or a replay file. BOT is a file or a folder. Your bot
    gets the same questions, the same seed and the same clock as in the game, and the
    other seats answer as they did. The exit code is 0 if your bot does the same as in
    the game, and 1 if it does not.

    \b
    Examples:
      torres reproduce 57 my-bot/
      torres reproduce game-57.json bot.py --seat 1
    """
    local = find_bot(bot)
    replay, limits = _game(game, address)
    seat = _seat(replay, local, seat)
    with closing(open_sandbox(level)) as sandbox:
        program = prepared(local.program, sandbox, home_cache())
        player = BotProcess(program, sandbox, limits)
        comparison = playback.compare(replay, seat, player, limits.as_dict())
    if as_json:
        click.echo(json.dumps(_comparison_json(seat, comparison)))
    else:
        _print_comparison(replay, seat, comparison)
    sys.exit(DIFFERENT if comparison.difference else 0)


def _game(argument: str, address: str | None) -> tuple[Replay, Limits]:
    """Return a replay, and the limits of its game: those of the ladder if known."""
    if not argument.isdigit():
        return read_valid(argument), Limits()
    with LadderClient(find_login(address)) as client:
        game = client.game(int(argument))
        match = client.match(game["match"])
        replay = client.replay(int(argument))
    verify(replay)
    return cast(Replay, replay), known_limits(match["limits"])


def _seat(replay: Replay, bot: LocalBot, seat: int | None) -> int:
    """Return the seat of the bot: the given one, or that in which its files played."""
    players = replay["players"]
    if seat is not None:
        if seat >= len(players):
            raise click.BadParameter(
                f"the game has the seats 0 to {len(players) - 1}", param_hint="--seat"
            )
        return seat
    seats = playback.own_seats(players, bot_digest(bot))
    if not seats:
        named = [
            number
            for number, player in enumerate(players)
            if bot.name in (player.get("bot"), player.get("name"))
        ]
        seats = named if len(named) == 1 else []
    if not seats:
        names = ", ".join(
            f"{number} {printable(str(player.get('name')))}"
            for number, player in enumerate(players)
        )
        raise click.BadParameter(
            f"which of them is your bot: {names}? Your files are not the files of any"
            " seat, so name one",
            param_hint="--seat",
        )
    return seats[0]


def _print_comparison(replay: Replay, seat: int, comparison: RepeatedGame) -> None:
    name = printable(str(replay["players"][seat].get("name")))
    same = (
        f"{comparison.decisions} decisions of seat {seat} ({name}) are the same;"
        f" thinking time {comparison.given_ms:.0f} ms here,"
        f" {comparison.recorded_ms:.0f} ms in the game"
    )
    difference = comparison.difference
    if difference is None:
        click.echo(f"No difference: all {same}.")
        return
    click.echo(f"{same[0].upper()}{same[1:]}.")
    click.echo(f"First difference: {difference.where()}")
    if difference.ask is not None:
        console = Console(highlight=False, markup=False, emoji=False)
        console.print(draw_board(difference.ask.state))
    click.echo(f"  in the game: {difference.recorded_text()}")
    click.echo(f"  here:        {difference.given_text()}")
    if difference.ask is not None:
        click.echo(
            f"  clock: {difference.ask.move_ms:.0f} ms of the move and"
            f" {difference.ask.bank_ms:.0f} ms of the bank were left"
        )


def _comparison_json(seat: int, comparison: RepeatedGame) -> JsonObject:
    row: JsonObject = {
        "seat": seat,
        "decisions": comparison.decisions,
        "ms": round(comparison.given_ms, 1),
        "recorded_ms": round(comparison.recorded_ms, 1),
        "difference": None,
    }
    if difference := comparison.difference:
        row["difference"] = {
            "ply": difference.ask.ply if difference.ask else None,
            "decision": difference.ask.decision if difference.ask else None,
            "recorded": difference.recorded_text(),
            "here": difference.given_text(),
        }
    return row


@click.command()
@click.argument("bot", metavar="BOT")
@click.argument("replay", metavar="REPLAY")
@click.option(
    "--ply",
    required=True,
    type=click.IntRange(0),
    help="The number of the action to ask for, from 0, as in `torres trace`.",
)
@click.option("--no-clock", is_flag=True, help="Let the bot think as long as it wants.")
@debug_option
@sandbox_option
@ladder_option
@json_option
def ask(  # noqa: PLR0913 - one parameter for each option
    *,
    bot: str,
    replay: str,
    ply: int,
    no_clock: bool,
    debug: int | None,
    level: Level,
    address: str | None,
    as_json: bool,
) -> None:
    """Put one position of a game to a bot; print its answer and its stderr.

    REPLAY is a replay file, or the number of a game of the ladder. The bot takes the
    seat that decides at that ply. It is started for this question, gets all events of
    the game so far, and has a full clock. With --debug a bot in Python waits for the
    debugger of an editor before its first line, and no clock runs.

    \b
    Examples:
      torres ask bot.py game-57.json --ply 40
      torres ask house:greedy 57 --ply 40
      torres ask bot.py game-57.json --ply 40 --debug 5678
    """
    local = find_bot(bot)
    program = local.program if debug is None else with_debugger(local, debug, level)
    document, limits = _game(replay, address)
    with (
        closing(open_sandbox(level)) as sandbox,
        tempfile.TemporaryDirectory() as folder,
    ):
        program = prepared(program, sandbox, home_cache())
        log = FollowedLog(Path(folder) / "stderr")
        untimed = no_clock or debug is not None
        player = BotProcess(program, sandbox, limits, log=log.path, untimed=untimed)
        try:
            with log.followed():
                game, answer = playback.ask_at(document, ply, player, limits.as_dict())
        except PlayerFault as fault:
            raise RemoteError(f"the bot would forfeit: {fault}") from None
    if as_json:
        row = {
            "seat": game.seat,
            "actions": answer.actions,
            "note": answer.note,
            "say": answer.say or None,
            "expect": answer.expect,
            "ms": round(answer.ms, 1),
        }
        click.echo(json.dumps(row))
    else:
        _print_answer(document, game, answer)


def _print_answer(document: Replay, game: TorresGame, answer: Answer) -> None:
    state = game.state()
    click.echo(
        f"ply {game.ply}: seat {game.seat} decides ({game.decision}), phase"
        f" {state['phase']}, round {state['round']}"
    )
    console = Console(highlight=False, markup=False, emoji=False)
    console.print(draw_board(state))
    click.echo(f"  recorded: {', '.join(recorded_at(document, game.ply))}")
    given = ", ".join(map(printable, answer.actions or []))
    click.echo(f"  answer:   {given} ({answer.ms:.1f} ms)")
    if answer.note:
        click.echo(f"  note:     {printable(answer.note)}")
    if answer.say:
        click.echo(f"  says:     {answer.say}")
    if answer.expect is not None:
        click.echo(f"  expects:  {answer.expect:.1%} to win")


def recorded_at(document: Replay, ply: int) -> list[str]:
    """Return the rest of the recorded answer that contains a ply."""
    first = 0
    for entry in document["moves"]:
        actions: list[str] = entry["actions"]
        if ply < first + len(actions):
            return actions[ply - first :]
        first += len(actions)
    return []
