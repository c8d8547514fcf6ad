"""The rules and limits of games that are played here."""

from dataclasses import asdict, dataclass, field, replace

import click

from torres.common.json_object import JsonObject
from torres.runner.protocol import Limits

MAX_LIMIT = 2**31


@dataclass(frozen=True, slots=True)
class LocalRules:
    """A ruleset with its switches, and the limits of the bots."""

    ruleset: str = "yucata"
    switches: JsonObject = field(default_factory=dict)
    limits: Limits = field(default_factory=Limits)
    tables: dict[str, float] = field(default_factory=dict)
    """The share of matches by number of seats, if a ladder was read."""


def with_limits(limits: Limits, text: str) -> Limits:
    """Return the limits with the changes that ``NAME=VALUE,…`` describes.

    Raises BadParameter.
    """
    names = list(asdict(limits))
    changes: dict[str, int] = {}
    for word in filter(None, text.split(",")):
        name, _, value = (part.strip() for part in word.partition("="))
        if name not in names:
            raise click.BadParameter(
                f"{name!r} is no limit; the limits are {', '.join(names)}",
                param_hint="--limits",
            )
        if not value.isdecimal() or int(value) > MAX_LIMIT:
            raise click.BadParameter(
                f"{word.strip()!r} is not NAME=NUMBER", param_hint="--limits"
            )
        changes[name] = int(value)
    return replace(limits, **changes)
