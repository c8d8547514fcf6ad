"""`torres rulesets`: the editions of the game and their switches."""

import json
from textwrap import fill

import click

from engine.editions import DEFAULT, PRESETS
from engine.rulesets import MAX_SEATS, MIN_SEATS, SWITCHES, resolve

_SEATS = range(MIN_SEATS, MAX_SEATS + 1)
_WIDTH = 88


def described(ruleset: str) -> dict[str, object]:
    """Return a preset as `--json` prints it; `switches` by the number of seats."""
    preset = PRESETS[ruleset]
    return {
        "id": ruleset,
        "default": ruleset == DEFAULT,
        "explanation": preset.explanation,
        "source": preset.source,
        "switches": {str(n): resolve(ruleset, n).switches() for n in _SEATS},
    }


def _value(ruleset: str, switch: str) -> str:
    """Return a switch's value, for each number of seats where it differs."""
    values = {n: resolve(ruleset, n).switches()[switch] for n in _SEATS}
    shown = {n: json.dumps(value).strip('"') for n, value in values.items()}
    if len(set(shown.values())) == 1:
        return shown[MIN_SEATS]
    return "; ".join(f"{n} seats: {text}" for n, text in shown.items())


@click.command()
@click.option("--json", "as_json", is_flag=True, help="One JSON list, for programs.")
def rulesets(*, as_json: bool) -> None:
    """List the rulesets, what they are in plain words, and their switches."""
    if as_json:
        click.echo(json.dumps([described(ruleset) for ruleset in PRESETS], indent=2))
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
