"""`torres rulesets`: the rulesets (editions of the game) and their switches."""

import json
from textwrap import fill

import click

from engine.editions import DEFAULT, PRESETS
from engine.rulesets import MAX_SEATS, MIN_SEATS, SWITCHES, resolve

_SEATS = range(MIN_SEATS, MAX_SEATS + 1)
_WIDTH = 88


def ruleset_document(ruleset: str) -> dict[str, object]:
    """Return a ruleset as `--json` prints it; its switches by the number of seats."""
    preset = PRESETS[ruleset]
    return {
        "id": ruleset,
        "default": ruleset == DEFAULT,
        "explanation": preset.explanation,
        "source": preset.source,
        "switches": {str(n): resolve(ruleset, n).switches() for n in _SEATS},
    }


def _value(ruleset: str, switch: str) -> str:
    """Return a switch's value, or one for each number of seats if they differ."""
    values = {n: resolve(ruleset, n).switches()[switch] for n in _SEATS}
    texts = {n: json.dumps(value).strip('"') for n, value in values.items()}
    if len(set(texts.values())) == 1:
        return texts[MIN_SEATS]
    return "; ".join(f"{n} seats: {text}" for n, text in texts.items())


@click.command()
@click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON list, for programs."
)
def rulesets(*, as_json: bool) -> None:
    """List the rulesets with their switches.

    A ruleset is an edition of the game. A switch changes one of its rules: give it to
    `torres play` as --switch NAME=VALUE.

    \b
    Examples:
      torres rulesets
      torres rulesets --json
    """
    if as_json:
        click.echo(
            json.dumps([ruleset_document(ruleset) for ruleset in PRESETS], indent=2)
        )
        return
    for ruleset, preset in PRESETS.items():
        click.echo(ruleset + (" (the default)" if ruleset == DEFAULT else ""))
        click.echo(
            fill(
                preset.explanation, _WIDTH, initial_indent="  ", subsequent_indent="  "
            )
        )
        click.echo(f"  Source: {preset.source}")
        for switch in SWITCHES:
            click.echo(f"    {switch:<22} {_value(ruleset, switch)}")
        click.echo()
    click.echo("Switches")
    for name, switch_ in SWITCHES.items():
        allowed = switch_.allowed() or "three lists of sizes from 1"
        click.echo(f"  {name:<22} {switch_.meaning}: {allowed}")
