"""The description of a tournament, checked before it is used.

The services and the dispatcher use `problems`; the file of `torres tournament` is
checked by the same readers (`read_config`, `read_limits`). The database can still hold
a wrong row, because a person may write it with SQL; then the dispatcher stops this
tournament only.
"""

from dataclasses import dataclass, replace
from datetime import datetime
from itertools import pairwise
from typing import Any

from engine.rulesets import MIN_SEATS
from torres.common.errors import BadFields
from torres.formats.config import BadConfig, read_config
from torres.rating.description import rules_problems
from torres.runner.limits import BadLimits, read_limits

DATES = ("opens_at", "closes_at", "starts_at")
"""The scheduled times, in their order."""


class BadTournament(BadFields, code="bad-tournament"):
    """The tournament cannot be played as it is described; the message says why."""


@dataclass(frozen=True, slots=True)
class TournamentDescription:
    """The fields of a tournament that people write, as they are stored."""

    ruleset: str
    switches: Any
    limits: Any
    config: Any
    opens_at: datetime | None = None
    closes_at: datetime | None = None
    starts_at: datetime | None = None

    def without_dates(self) -> "TournamentDescription":
        return replace(self, opens_at=None, closes_at=None, starts_at=None)


def problems(description: TournamentDescription) -> list[str]:
    """Return what is wrong; each text starts with the field."""
    found = []
    seats = MIN_SEATS
    try:
        seats = read_config(description.config).seats
    except BadConfig as error:
        found.append(f"config: {str(error).removeprefix('config: ')}")
    # A table may have fewer seats than configured if there are few entrants, and the
    # final of groups is played by two.
    sizes = range(MIN_SEATS, seats + 1)
    found += rules_problems(description.ruleset, description.switches, sizes)
    try:
        read_limits(description.limits)
    except BadLimits as error:
        found.append(str(error))
    times = [(name, getattr(description, name)) for name in DATES]
    known = [(name, time) for name, time in times if time is not None]
    for (earlier, first), (later, second) in pairwise(known):
        if first > second:
            found.append(f"{later}: it must not be earlier than {earlier}")
    return found


def past_dates(
    description: TournamentDescription,
    now: datetime,
    before: TournamentDescription | None = None,
) -> list[str]:
    """Return what is wrong with dates in the past that ``before`` did not have.

    Only `opens_at` may be in the past: then entry opens at once.
    """
    return [
        f"{name}: {getattr(description, name):%Y-%m-%d %H:%M} UTC is in the past;"
        " choose a later time, or remove it"
        for name in DATES[1:]
        if (time := getattr(description, name)) is not None
        and time <= now
        and (before is None or getattr(before, name) != time)
    ]


def check(description: TournamentDescription) -> None:
    """Raise BadTournament with everything that is wrong."""
    if found := problems(description):
        raise BadTournament(found)
