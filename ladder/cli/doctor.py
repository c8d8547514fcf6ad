"""`torres doctor`: what the sandbox holds on this machine, found out by trying."""

import json
import os
import sys
from dataclasses import asdict

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ladder.runner.languages import LANGUAGES, missing
from ladder.runner.sandbox import LEVELS, Level, SandboxReport, probe


@click.command()
@click.option("--json", "as_json", is_flag=True, help="For programs: one JSON object.")
def doctor(*, as_json: bool) -> None:
    """Try the sandbox's controls and say which level this machine reaches.

    Ends with exit code 1 if that is below the configured level (TORRES_SANDBOX,
    "full" unless set).
    """
    wanted = _configured()
    found = probe()
    enough = LEVELS.index(found.level) >= LEVELS.index(wanted)
    if as_json:
        report = {"configured": wanted, "enough": enough, **asdict(found)}
        lacking = {row.name: missing(row) for row in LANGUAGES}
        click.echo(json.dumps({**report, "languages": lacking}))
    else:
        _print(found, wanted, enough=enough)
    sys.exit(0 if enough else 1)


def _configured() -> Level:
    wanted = os.environ.get("TORRES_SANDBOX", "full")
    if wanted not in LEVELS:
        known = ", ".join(LEVELS)
        raise click.UsageError(f"TORRES_SANDBOX is {wanted!r}; it may be {known}.")
    return wanted


def _print(found: SandboxReport, wanted: Level, *, enough: bool) -> None:
    console = Console()
    table = Table("control", "", "what stopped the attempt", box=None, pad_edge=False)
    for control in found.controls:
        mark = Text("held", "green") if control.held else Text("NOT HELD", "bold red")
        table.add_row(control.name, mark, Text(control.how))
    console.print(table)
    cures = dict.fromkeys(c.cure for c in found.controls if not c.held and c.cure)
    if cures:
        console.print("\nWhat to do:")
        for cure in cures:
            console.print(Text(f"  - {cure}"))
    console.print("\nLanguages of sandboxed bots:")
    for row in LANGUAGES:
        lacking = missing(row)
        how = f"apt-get install {' '.join(lacking)}" if lacking else "here"
        console.print(Text(f"  {row.name:11} {how}"))
    verdict = "enough" if enough else "NOT enough"
    console.print(f"\nLevel: {found.level}; configured: {wanted} ({verdict}).")
