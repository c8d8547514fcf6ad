"""`torres self-check`: whether this command and a service understand each other."""

import json
import sys

import click
from rich.console import Console
from rich.table import Table

from torres.cli.client import LadderClient, find_login
from torres.cli.remote import json_option, ladder_option
from torres.runner.versions import UNKNOWN, versions

FORMATS = ("rules", "protocol", "replay", "api")
"""These have to be equal, or one side reads games and replays differently."""


@click.command("self-check")
@ladder_option
@json_option
def self_check(*, address: str | None, as_json: bool) -> None:
    """Compare the versions of this command and of a service.

    The rules, the bot protocol, the format of replays and the API have to be the same.
    Different releases that have these in common work together.

    The exit code is 1 if they differ.

    \b
    Example:
      torres self-check --ladder https://ladder.example.org
    """
    own = versions()
    with LadderClient(find_login(address)) as client:
        found = client.versions()
    differing = [name for name in FORMATS if found.get(name, UNKNOWN) != own[name]]
    if as_json:
        document = {"here": own, "service": found, "differing": differing}
        click.echo(json.dumps(document))
    else:
        table = Table("", "here", "service", box=None)
        for name, version in own.items():
            table.add_row(name, version, found.get(name, UNKNOWN))
        Console().print(table)
        click.echo(_verdict(found, differing))
    sys.exit(1 if differing else 0)


def _verdict(found: dict[str, str], differing: list[str]) -> str:
    if not found:
        return "The service does not tell its versions, so it is older than this one."
    if not differing:
        return "This command and the service understand each other."
    return (
        f"Different: {', '.join(differing)}. Install the release of torres-ladder that"
        " the service runs."
    )
