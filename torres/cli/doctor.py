"""`torres doctor`: which controls of the sandbox work on this machine."""

import json
import os
import sys
from dataclasses import asdict

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

import engine
from torres.cli.compiling import compile_advice
from torres.runner.languages import LANGUAGES, missing
from torres.runner.sandbox import LEVELS, Level, SandboxReport, probe


@click.command()
@click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object, for programs."
)
def doctor(*, as_json: bool) -> None:
    """Test the sandbox and say which level this machine reaches.

    Each control is tested by an attempt to break it. For each control that does not
    hold, and for each language that is not installed, the command says what to do.

    The exit code is 1 if the level is below the configured one. The environment
    variable TORRES_SANDBOX configures it: none, reduced, full (the default) or
    isolated, which is tried only if it is configured.

    \b
    Examples:
      torres doctor
      TORRES_SANDBOX=reduced torres doctor --json
      TORRES_SANDBOX=isolated torres doctor
    """
    configured = _configured_level()
    report = probe(configured)
    enough = LEVELS.index(report.level) >= LEVELS.index(configured)
    if as_json:
        document = {"configured": configured, "enough": enough, **asdict(report)}
        document["engine_compiled"] = engine.compiled
        document["languages"] = {row.name: missing(row) for row in LANGUAGES}
        click.echo(json.dumps(document))
    else:
        _print(report, configured, enough=enough)
    sys.exit(0 if enough else 1)


def _configured_level() -> Level:
    level = os.environ.get("TORRES_SANDBOX", "full")
    if level not in LEVELS:
        raise click.UsageError(
            f"TORRES_SANDBOX is {level!r}. Set it to one of {', '.join(LEVELS)}."
        )
    return level


def _print(report: SandboxReport, configured: Level, *, enough: bool) -> None:
    console = Console()
    table = Table("control", "", "what stopped the attempt", box=None, pad_edge=False)
    for control in report.controls:
        mark = Text("held", "green") if control.held else Text("NOT HELD", "bold red")
        table.add_row(control.name, mark, Text(control.how))
    console.print(table)
    cures = dict.fromkeys(c.cure for c in report.controls if not c.held and c.cure)
    if cures:
        console.print("\nWhat to do:")
        for cure in cures:
            console.print(Text(f"  - {cure}"))
    console.print("\nLanguages of sandboxed bots:")
    for row in LANGUAGES:
        packages = missing(row)
        advice = f"apt-get install {' '.join(packages)}" if packages else "installed"
        console.print(Text(f"  {row.name:11} {advice}"))
    speed = "compiled" if engine.compiled else compile_advice()
    console.print(Text(f"\nEngine: {speed}"))
    comparison = "enough" if enough else "NOT enough"
    console.print(f"\nLevel: {report.level}; configured: {configured} ({comparison}).")
