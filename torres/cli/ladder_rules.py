"""Read the rules and limits of a ladder from its server."""

from dataclasses import asdict

import click

from engine.rulesets import MIN_SEATS, resolve
from torres.cli.client import LadderClient, Login, clean_address
from torres.cli.local_rules import LocalRules, with_limits
from torres.runner.protocol import Limits


def read_ladder(url: str) -> LocalRules:
    """Return the rules of a ladder of a server.

    The address is that of a ladder (its page or its API), or that of the server, whose
    default ladder is then taken. Raises BadParameter and RemoteError.
    """
    address, _, path = url.partition("/ladders/")
    slug = path.split("/")[0]
    with LadderClient(Login(clean_address(address), "")) as client:
        if slug:
            document = client.ladder(slug)
        else:
            rows = [row for row in client.ladders() if row.get("default")]
            document = rows[0] if rows else {}
    try:
        ruleset, switches = document["ruleset"], dict(document["switches"])
        tables = {str(int(k)): float(v) for k, v in dict(document["tables"]).items()}
        known = {k: v for k, v in document["limits"].items() if k in asdict(Limits())}
        limits = with_limits(Limits(), ",".join(f"{k}={v}" for k, v in known.items()))
        resolve(ruleset, MIN_SEATS, switches)
    except (TypeError, KeyError, ValueError, AttributeError) as error:
        raise click.BadParameter(
            f"{url} does not answer like a ladder of Torres Ladder; check the address",
            param_hint="--ladder",
        ) from error
    return LocalRules(ruleset, switches, limits, tables)
