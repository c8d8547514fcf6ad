"""`torres submit`: check a bot, upload it, and follow it to its first rated game."""

import io
import json
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import TypeVar

import click

from torres.cli.bot_files import bot_files
from torres.cli.client import LadderClient, RemoteError, find_login
from torres.cli.cosign import cosign, cosign_option
from torres.cli.play import LocalBot, find_bot
from torres.cli.remote import json_option, ladder_option, log_lines, report_lines
from torres.common.answers import GameAnswer, SubmissionAnswer
from torres.common.pause import pause
from torres.common.quoting import printable
from torres.upload.archive import pack
from torres.upload.formats import is_archive

POLL_S = 0.3
ENDED = ("ready", "rejected", "retired")
REJECTED = 1  # the exit code
LOG_LINES = 40  # of the log of a rejected upload

T = TypeVar("T")


class UploadRejected(click.ClickException):
    """The upload was rejected."""

    exit_code = REJECTED


@click.command()
@click.argument("path", metavar="BOT")
@click.option(
    "--bot", "slug", metavar="SLUG", help="Your bot; by default named as the file is."
)
@click.option(
    "--no-check", is_flag=True, help="Upload at once; the ladder checks it in any case."
)
@click.option("--no-wait", is_flag=True, help="Return as soon as the upload is stored.")
@click.option(
    "--timeout",
    "timeout_s",
    default=300,
    show_default=True,
    type=click.IntRange(1),
    help="How many seconds to wait for the validation, and for a game.",
)
@cosign_option
@ladder_option
@json_option
def submit(  # noqa: PLR0913 - one parameter for each option
    *,
    path: str,
    slug: str | None,
    no_check: bool,
    no_wait: bool,
    timeout_s: int,
    with_cosign: bool | None,
    address: str | None,
    as_json: bool,
) -> None:
    """Check a bot, upload it, and wait for its validation and first rated game.

    BOT is a file, a folder or an archive (zip, tar.gz), as in `torres play`. First
    it plays the games of the ladder's validation on this machine, as `torres check`
    does; a bot with faults is not uploaded. If you have no bot with this name yet, it
    is made. The exit code is 1 if the bot has faults, or if the upload is rejected.

    \b
    Examples:
      torres submit bot.py --bot my-bot
      torres submit my-bot/
      torres submit bot.py --no-check --no-wait
    """
    if path.startswith("house:"):
        raise click.BadParameter("house bots are there already", param_hint="BOT")
    name, filename, content = _upload(Path(path))
    show = _ignore if as_json else click.echo
    with LadderClient(find_login(address)) as client:
        if not no_check:
            _check(path, client, as_json=as_json)
        slug = _own_bot(client, slug or name)
        submission = client.upload(slug, filename, content)
        show(
            f"{slug} #{submission['number']} is uploaded"
            f" (submission {submission['id']}, {len(content):,} bytes)"
        )
        game = None
        if not no_wait:
            submission = _validated(client, submission["id"], timeout_s, show)
            if submission["status"] == "ready":
                game = _first_game(client, slug, submission["number"], timeout_s)
                show(_game_line(client.login.address, game))
        # At the end, when the log has the upload.
        if client.login.cosign if with_cosign is None else with_cosign:
            cosign(client.login.address, wanted=bool(with_cosign))
    if as_json:
        click.echo(json.dumps({"submission": submission, "first_game": game}))
    if submission["status"] == "rejected":
        raise UploadRejected(
            f"{submission['report']['summary']} `torres logs {submission['id']}"
            " --submission` prints the whole log"
        )


def _ignore(_text: str) -> None:
    """Print nothing: the result is printed as JSON."""


def _upload(path: Path) -> tuple[str, str, bytes]:
    """Return the name of a bot, and the file name and the content of its upload."""
    if path.is_file() and is_archive(path):
        return path.name.partition(".")[0], path.name, path.read_bytes()
    bot = find_bot(str(path))
    return bot.name, *packed(bot)


def packed(bot: LocalBot) -> tuple[str, bytes]:
    """Return the file name and the content of an upload with all files of a bot."""
    folder = bot.program.folder
    if bot.is_file:
        entry = Path(bot.program.entry)
        return f"bot{entry.suffix}", (folder / entry).read_bytes()
    archive = io.BytesIO()
    pack(folder, bot_files(bot), archive)
    return "bot.zip", archive.getvalue()


def _check(path: str, client: LadderClient, *, as_json: bool) -> None:
    """Check a bot before its upload. Raises UploadRejected if it has faults."""
    # Imported only now, so that the command starts quickly.
    upload_check = import_module("torres.cli.upload_check")
    if not upload_check.passes(path, client, as_json=as_json):
        raise UploadRejected(
            "the bot has faults, so nothing was uploaded; --no-check uploads it anyway"
        )


def _own_bot(client: LadderClient, name: str) -> str:
    """Return the slug of the own bot with a name or slug; make it if it is missing."""
    user = client.me()["name"]
    for bot in client.bots(owner=user):
        if name in (bot["slug"], bot["name"]):
            return str(bot["slug"])
    return str(client.create_bot(name)["slug"])


def _validated(
    client: LadderClient, number: int, timeout_s: int, show: Callable[[str], None]
) -> SubmissionAnswer:
    """Return the submission when its validation has ended; show what happens."""
    seen = ""
    for row in _polled(timeout_s, lambda: client.submission(number)):
        if row["status"] != seen:
            seen = row["status"]
            show(f"  {seen}")
        if seen in ENDED:
            break
    else:
        summary = row["report"]["summary"]  # the deadline lies at least a second ahead
        raise RemoteError(
            f"the upload is still {seen} after {timeout_s} s"
            f" ({summary or 'no reason is known'}); `torres status` shows it later"
        )
    for line in report_lines(row):
        show(line)
    if seen == "rejected":
        for line in list(log_lines(row))[-LOG_LINES:]:
            show(line)
    return row


def _polled(timeout_s: int, read: Callable[[], T]) -> Iterator[T]:
    """Yield what `read` returns, again and again, until the time is over."""
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        yield read()
        pause(POLL_S)


def _first_game(
    client: LadderClient, slug: str, number: int, timeout_s: int
) -> GameAnswer | None:
    """Return the first finished ladder game of an upload; None after the timeout."""
    for games in _polled(timeout_s, lambda: client.latest_games(slug, 20)):
        for game in reversed(games):
            if game["ladder"] and any(
                seat["bot"] == slug and seat["number"] == number
                for seat in game["seats"]
            ):
                return game
    return None


def _game_line(address: str, game: GameAnswer | None) -> str:
    if game is None:
        return "no rated game yet; `torres status` shows the next ones"
    seats = sorted(game["seats"], key=lambda seat: seat["rank"] or 0)
    places = ", ".join(
        f"{seat['rank']}. {printable(seat['name'])} {seat['score']}"
        + (f" (forfeit: {seat['forfeit']})" if seat["forfeit"] else "")
        for seat in seats
    )
    return f"first rated game: {places}\n{address}/games/{game['id']}/"
