"""Read the rules and limits of a ladder from its server."""

from collections.abc import Mapping
from dataclasses import asdict

import click

from engine.rulesets import MIN_SEATS, resolve
from torres.cli.client import LadderClient, Login, clean_address
from torres.cli.local_rules import LocalRules
from torres.runner.limits import read_limits
from torres.runner.protocol import Limits


def read_ladder(url: str) -> LocalRules:
    """Return the rules of a ladder of a server.

    The address is that of a ladder (its page or its API), or that of the server, whose
    default ladder is then taken. Raises BadParameter, BadLimits, BadSwitch, and
    RemoteError.
    """
    address, _, path = url.partition("/ladders/")
    slug = path.split("/")[0]
    with LadderClient(Login(clean_address(address), "")) as client:
        if slug:
            document = client.ladder(slug)
        else:
            rows = [row for row in client.ladders() if row["default"]]
            if not rows:
                raise click.BadParameter(
                    f"{url} has no default ladder; name one, as in {url}/ladders/main",
                    param_hint="--ladder",
                )
            document = rows[0]
    resolve(document["ruleset"], MIN_SEATS, document["switches"])
    return LocalRules(
        document["ruleset"],
        document["switches"],
        known_limits(document["limits"]),
        {str(seats): float(share) for seats, share in document["tables"].items()},
    )


def known_limits(limits: Mapping[str, int]) -> Limits:
    """Return the limits that a server tells, without those unknown to this version.

    Raises BadLimits.
    """
    known = limits.keys() & asdict(Limits()).keys()
    return read_limits({name: limits[name] for name in known}, partial=True)
