"""Commands that let a bot join a ladder of a service, or leave it."""

from collections.abc import Callable

import click

from torres.cli.client import LadderClient, find_login
from torres.cli.remote import ladder_option
from torres.common.answers import PlaceAnswer


@click.command()
@click.argument("ladder", metavar="LADDER")
@click.argument("bot", metavar="BOT")
@ladder_option
def join(*, ladder: str, bot: str, address: str | None) -> None:
    """Let your bot play on a ladder, also after it left or was benched there.

    A bot joins the default ladder by itself, with its first upload that is ready.

    \b
    Example:
      torres join blitz my-bot
    """
    _change(address, lambda client: client.join(ladder, bot), bot)


@click.command()
@click.argument("ladder", metavar="LADDER")
@click.argument("bot", metavar="BOT")
@ladder_option
def leave(*, ladder: str, bot: str, address: str | None) -> None:
    """Take your bot off a ladder. It keeps its rating there.

    Its games that wait are cancelled; games that run are finished and count.

    \b
    Example:
      torres leave main my-bot
    """
    _change(address, lambda client: client.leave(ladder, bot), bot)


def _change(
    address: str | None, act: Callable[[LadderClient], PlaceAnswer], bot: str
) -> None:
    with LadderClient(find_login(address)) as client:
        place = act(client)
    words = "plays" if place["status"] == "active" else "does not play"
    click.echo(f"{bot} {words} on {place['ladder']} now.")
