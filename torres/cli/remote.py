"""Commands that talk to a ladder: login, status, leaderboard, logs, replays, watch."""

import json
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import click
from rich.console import Console
from rich.text import Text

from torres.cli.client import (
    LadderClient,
    Login,
    RemoteError,
    clean_address,
    config_file,
    find_login,
    save_logins,
    saved_logins,
)
from torres.cli.cosign import cosign, cosign_option
from torres.cli.terminal import leaderboard_table, plain_table, progress_bar
from torres.common.answers import BotAnswer, SeatLogAnswer, SubmissionAnswer
from torres.common.json_object import JsonObject
from torres.common.pause import pause
from torres.common.quoting import printable
from torres.common.whole_file import write_whole
from torres.drawing.board_text import frames

DEFAULT_LADDER = "main"
STDIN = "-"
DOWNLOADS_AT_ONCE = 8
WORTH_AN_EXPORT = 20
"""With fewer missing replays, each is requested by itself."""
MAX_EXPORTED_SHARE = 4
"""An export is used if it has at most this many times the missing replays."""
RECENT_GAMES = 100
"""The latest forfeit is searched for in this many games."""
WATCH_INTERVAL_S = 0.5


ladder_option = click.option(
    "--ladder",
    "address",
    metavar="ADDRESS",
    help="The address of the service; by default that of the latest `torres login`.",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.command()
@click.argument("address")
@click.option(
    "--token",
    help="The token; `-` reads it from stdin. By default the command asks for it.",
)
@cosign_option
def login(address: str, token: str | None, *, with_cosign: bool | None) -> None:
    """Store the address of a ladder and your token for the other commands.

    You find your tokens on the page `Your bots` of the ladder. `make demo` prints one.
    This command and `torres submit` cosign the public log of the service with a key of
    this machine, so that it cannot show you another log later. The login stores
    --no-cosign.

    \b
    Examples:
      torres login http://127.0.0.1:8000
      torres login https://ladder.example.org --token - < token.txt
    """
    address = clean_address(address)
    if token is None:
        token = click.prompt("Token", hide_input=True, err=True)
    elif token == STDIN:
        token = sys.stdin.readline()
    new = Login(address, str(token).strip())
    with LadderClient(new) as client:
        me = client.me()
    user = me["name"]
    logins = saved_logins()
    logins.pop(address, None)
    logins[address] = Login(address, new.token, user, with_cosign is not False)
    save_logins(logins)
    click.echo(f"You are {user} at {address}. The token is in {config_file()}.")
    # Services before scopes did not tell them.
    if "submit" not in me.get("scopes", ["submit"]):
        click.echo(
            "This token only reads. For `torres submit` create one with the scope"
            " `submit`.",
            err=True,
        )
    if logins[address].cosign:
        cosign(address, wanted=bool(with_cosign))


@click.command()
@click.argument("address", required=False)
def logout(address: str | None) -> None:
    """Forget the token for a ladder, by default the latest one.

    The token stays valid. You can revoke it on the page `Your bots` of the ladder.

    \b
    Example:
      torres logout
    """
    logins = saved_logins()
    forgotten = find_login(address).address
    if logins.pop(forgotten, None) is None:
        raise RemoteError(f"you are not logged in to {forgotten}")
    save_logins(logins)
    click.echo(f"The token for {forgotten} is forgotten.")


@click.command()
@click.argument("slug", required=False, metavar="LADDER")
@click.option("--top", default=50, show_default=True, type=click.IntRange(1, 200))
@click.option("--season", type=click.IntRange(1), help="By default the newest season.")
@ladder_option
@json_option
def leaderboard(
    *,
    slug: str | None,
    top: int,
    season: int | None,
    address: str | None,
    as_json: bool,
) -> None:
    """Print the leaderboard of a ladder, by default the ladder `main`.

    \b
    Examples:
      torres leaderboard --top 10
      torres leaderboard master --ladder https://ladder.example.org --json
    """
    filters: dict[str, object] = {"limit": top}
    if season is not None:
        filters["season"] = season
    with LadderClient(find_login(address)) as client:
        page = client.leaderboard(slug or DEFAULT_LADDER, **filters)
    if as_json:
        click.echo(json.dumps(page["results"]))
        return
    Console().print(leaderboard_table(page["results"]))


@click.command()
@click.argument("slug", required=False, metavar="BOT")
@ladder_option
@json_option
def status(*, slug: str | None, address: str | None, as_json: bool) -> None:
    """Print how your bots do: rank, rating, last forfeit, newest upload.

    With BOT it prints the validation of that bot's newest upload, too.

    \b
    Examples:
      torres status
      torres status my-bot
    """
    with LadderClient(find_login(address)) as client:
        if slug:
            bots = [client.bot(slug)]
        else:
            bots = list(client.bots(owner=client.me()["name"]))
        rows = [_bot_status(client, bot) for bot in bots]
        newest = next(client.submissions(slug), None) if slug else None
    if as_json:
        click.echo(json.dumps(rows))
        return
    if not rows:
        click.echo("You have no bot yet; `torres submit FILE` makes one.")
        return
    heads = (
        "bot",
        "status",
        "rank",
        "rating",
        "games",
        "last forfeit",
        "newest upload",
    )
    table = plain_table(
        *heads, texts=("bot", "status", "last forfeit", "newest upload")
    )
    for row in rows:
        table.add_row(
            Text(printable(row["bot"])),
            Text(row["status"] or "–"),
            str(row["rank"] or "–"),
            "–" if row["rating"] is None else f"{row['rating']:.1f}",
            str(row["games"]),
            Text(row["last_forfeit"] or "–"),
            Text(row["newest_upload"] or "none"),
        )
    Console().print(table)
    if newest:
        for line in report_lines(newest):
            click.echo(line)


def _bot_status(client: LadderClient, bot: BotAnswer) -> JsonObject:
    slug = bot["slug"]
    record = None
    status: str | None = bot["status"]
    places = client.places(slug)
    for place in places:
        if place["default"]:
            record = client.record(place["ladder"], slug)
            status = place["status"] if status == "active" else status
    newest = next(client.submissions(slug), None)
    forfeits = [
        f"{seat['forfeit']} in game {game['id']}"
        for game in client.latest_games(slug, RECENT_GAMES)
        for seat in game["seats"]
        if seat["bot"] == slug and seat["forfeit"]
    ]
    return {
        "bot": slug,
        "status": status,
        "ladders": {place["ladder"]: place["status"] for place in places},
        "rank": record and record["rank"],
        "rating": record and record["rating"],
        "games": record["games"] if record else 0,
        "last_forfeit": forfeits[0] if forfeits else None,
        "newest_upload": f"#{newest['number']} {newest['status']}" if newest else None,
    }


def report_lines(submission: SubmissionAnswer) -> Iterator[str]:
    """Yield the lines that tell how the validation of an upload went."""
    report = submission["report"]
    status = f"#{submission['number']} is {submission['status']}."
    # The summary of a ready upload is "Ready.".
    is_new = report["summary"].rstrip(".").lower() != submission["status"]
    yield f"{status} {report['summary']}" if is_new else status
    for step in report["steps"]:
        mark = "✓" if step["ok"] else "✗"
        detail = f": {printable(step['detail'])}" if step["detail"] else ""
        yield f"  {mark} {step['name']}{detail}"


@click.command()
@click.argument("number", type=click.IntRange(1), metavar="GAME")
@click.option(
    "--submission",
    is_flag=True,
    help="GAME is the number of a submission; print the log of its validation.",
)
@ladder_option
@json_option
def logs(*, number: int, submission: bool, address: str | None, as_json: bool) -> None:
    """Print what your bots wrote in a game: the forfeit, the notes, and stderr.

    \b
    Examples:
      torres logs 57
      torres logs 12 --submission
    """
    with LadderClient(find_login(address)) as client:
        if submission:
            lines = _submission_lines(client.submission(number), as_json=as_json)
        else:
            lines = _game_lines(client.logs(number), as_json=as_json)
        for line in lines:
            click.echo(line)


def _submission_lines(row: SubmissionAnswer, *, as_json: bool) -> Iterator[str]:
    if "log" not in row:
        raise RemoteError("only the owner of a bot sees its log")
    if as_json:
        yield json.dumps(row)
    else:
        yield from log_lines(row)


def log_lines(submission: SubmissionAnswer) -> Iterator[str]:
    """Yield the lines of the log of an own submission, safe for a terminal."""
    for line in submission.get("log", "").splitlines():
        yield f"  | {printable(line)}"


def _game_lines(rows: list[SeatLogAnswer], *, as_json: bool) -> Iterator[str]:
    if as_json:
        yield json.dumps(rows)
        return
    if not rows:
        click.echo("none of your bots left anything behind in this game", err=True)
    for row in rows:
        yield f"seat {row['seat']} {row['bot']}, attempt {row['attempt']}"
        if row["forfeit"]:
            yield f"  forfeit: {row['forfeit']}: {printable(row['detail'])}"
        for note in row["notes"]:
            yield f"  move {note.get('move')}: {printable(str(note.get('note')))}"
        for line in row["stderr"].splitlines():
            yield f"  | {printable(line)}"
        if not (row["forfeit"] or row["notes"] or row["stderr"]):
            yield "  it wrote no notes, and nothing to stderr"


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.option("--bot", metavar="SLUG", help="Only games of this bot.")
@click.option("--last", default=100, show_default=True, type=click.IntRange(1))
@click.option("--lost", is_flag=True, help="Only games that --bot did not win.")
@click.option("--forfeits", is_flag=True, help="Only games that --bot forfeited.")
@ladder_option
def replays(
    *,
    folder: Path,
    bot: str | None,
    last: int,
    lost: bool,
    forfeits: bool,
    address: str | None,
) -> None:
    """Download the replays of the latest games into FOLDER as game-57.json, ….

    Replays that are there already are kept, so a repeated download is quick.

    \b
    Examples:
      torres replays games --bot my-bot --last 200
      torres replays losses --bot my-bot --lost
      torres verify games/*.json
    """
    if (lost or forfeits) and not bot:
        raise click.BadParameter("name the bot with --bot", param_hint="--lost")
    folder.mkdir(parents=True, exist_ok=True)
    filters: dict[str, object] = {"status": "finished"}
    if bot:
        filters["bot"] = bot
    if forfeits:
        filters["result"] = "forfeited"  # such games are lost, too
    elif lost:
        filters["result"] = "lost"
    with LadderClient(find_login(address)) as client:
        numbers = client.game_numbers(last, **filters)
        files = {n: folder / f"game-{n}.json" for n in numbers}
        missing = [n for n in numbers if not files[n].exists()]
        if _are_close(missing, numbers):
            hidden = _download_together(client, filters, missing, files)
        else:
            hidden = _download(client, missing, files)
    click.echo(
        f"{len(missing) - hidden} new, {len(numbers) - len(missing)} there already"
        + (f", {hidden} not public yet" if hidden else "")
        + f": {folder}"
    )


def _are_close(missing: list[int], numbers: list[int]) -> bool:
    """True if an export from the first to the last missing one has few others."""
    if len(missing) < WORTH_AN_EXPORT:
        return False
    span = numbers.index(missing[-1]) - numbers.index(missing[0]) + 1
    return span <= MAX_EXPORTED_SHARE * len(missing)


def _download_together(
    client: LadderClient,
    filters: dict[str, object],
    missing: list[int],
    files: dict[int, Path],
) -> int:
    """Download replays with an export; return how many are not public yet."""
    wanted = set(missing)
    lowest = missing[-1]
    # The games are listed newest first, so the export begins behind the first one.
    rows = client.exported_replays(**filters, cursor=missing[0] + 1)
    with progress_bar() as progress:
        for row in progress.track(rows, total=len(missing)):
            if row["id"] in wanted:
                _store(files[row["id"]], row["replay"])
                wanted.remove(row["id"])
            if row["id"] <= lowest:
                break
    return len(wanted)


def _store(file: Path, replay: JsonObject) -> None:
    write_whole(file, json.dumps(replay) + "\n")


def _download(client: LadderClient, numbers: list[int], files: dict[int, Path]) -> int:
    """Download replays; return how many are not public yet."""

    def one(number: int) -> bool:
        try:
            replay = client.replay(number)
        except RemoteError as error:
            if error.status == 409:
                return False
            raise
        _store(files[number], replay)
        return True

    with progress_bar() as progress, ThreadPoolExecutor(DOWNLOADS_AT_ONCE) as pool:
        done = list(progress.track(pool.map(one, numbers), total=len(numbers)))
    return done.count(False)


@click.command()
@click.argument("number", type=click.IntRange(1), metavar="GAME")
@ladder_option
def watch(*, number: int, address: str | None) -> None:
    """Follow a running game: print each move as it is made, then the last board.

    \b
    Example:
      torres watch 57
    """
    with LadderClient(find_login(address)) as client:
        game = client.game(number)
        names = {seat["seat"]: printable(seat["name"]) for seat in game["seats"]}
        attempt, shown = None, 0
        while True:
            moves = client.moves(number)
            if moves["attempt"] != attempt and shown:
                click.echo("the game is played again")
                shown = 0
            attempt = moves["attempt"]
            for move in moves["moves"][shown:]:
                actions = ", ".join(map(printable, move["actions"]))
                click.echo(f"{names.get(move['seat'])}: {actions}")
            shown = len(moves["moves"])
            if moves["status"] not in ("scheduled", "running"):
                break
            pause(WATCH_INTERVAL_S)
        if moves["status"] != "finished":
            click.echo(f"the game is {moves['status']}")
            return
        try:
            replay = client.replay(number)
        except RemoteError as error:
            if error.status == 409:
                click.echo(str(error))
                return
            raise
    *_, board, end = frames(replay)
    console = Console(highlight=False, markup=False, emoji=False)
    console.print(board, soft_wrap=True)
    console.print(end, soft_wrap=True)
