"""The check of a bot before `torres submit` uploads it."""

import json

import click

from engine.errors import EngineError
from torres.checking.forms import GameForm, default_forms
from torres.cli.check import checked, print_findings
from torres.cli.client import LadderClient
from torres.cli.ladder_rules import known_limits
from torres.common.errors import LadderError
from torres.runner.protocol import Limits

MAX_FORMS = 12  # as many games as the ladder plays at most


def passes(path: str, client: LadderClient, *, as_json: bool) -> bool:
    """Check a bot as the ladder will, and print the findings. True if it has no faults.

    If this machine cannot run its language, only the ladder checks it.
    """
    try:
        result = checked(path, _ladder_forms(client), quiet=as_json)
    except click.UsageError as why:
        click.echo(f"not checked here: {why.message}", err=True)
        return True
    if as_json and not result.passed:
        nothing = {"submission": None, "first_game": None}
        click.echo(json.dumps({"check": result.document(), **nothing}))
    elif result.findings and not as_json:
        print_findings(result)
    return result.passed


def _ladder_forms(client: LadderClient) -> list[GameForm]:
    """Return the forms of the games on the ladders, those of the default one first.

    Forms that this version of the command does not know are left to the ladder.
    """
    forms: list[GameForm] = []
    for ladder in sorted(client.ladders(), key=lambda row: not row["default"]):
        sizes = sorted(int(seats) for seats, share in ladder["tables"].items() if share)
        for seats in sizes:
            try:
                limits = known_limits(ladder["limits"])
                form = GameForm(ladder["ruleset"], seats, limits, ladder["switches"])
                _ = form.rules
            except (EngineError, LadderError):
                continue
            if form not in forms:
                forms.append(form)
    return forms[:MAX_FORMS] or default_forms(Limits())
