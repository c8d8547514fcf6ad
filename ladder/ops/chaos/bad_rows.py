"""Rows that no form accepts, planted with SQL as a person with a database shell would.

Each row must stop only its own ladder or tournament. The invariants of the other games
must hold, and the dispatcher must go on.
"""

import random
import secrets

from django.utils import timezone

from ladder.bots.models import Bot
from ladder.ratings import memberships
from ladder.ratings.models import Ladder
from ladder.ratings.seasons import start_season
from ladder.tournaments.models import Tournament
from torres.runner.protocol import Limits

LADDER_FIELDS: list[dict[str, object]] = [
    {"tables": [2]},
    {"tables": {"two": 1}},
    {"tables": {"5": 1}},
    {"tables": {"2": "0.4"}},
    {"ruleset": "nope"},
    {"limits": {"move_ms": "fast"}},
]
TOURNAMENT_FIELDS: list[dict[str, object]] = [
    {"config": {"format": "swis"}},
    {"config": [1, 2]},
    {"limits": {"move_ms": "fast"}},
    {"ruleset": "nope"},
]


def plant_ladder(rng: random.Random) -> None:
    """Add a ladder with all bots and an open season, and make its row wrong."""
    ladder = Ladder.objects.create(
        slug=f"bad-{secrets.token_hex(4)}",
        name="Bad",
        ruleset="yucata",
        tables={"2": 1.0},
        limits=Limits().as_dict(),
    )
    start_season(ladder)
    for bot in Bot.objects.filter(status=Bot.Status.ACTIVE):
        memberships.join(bot, ladder)
    Ladder.objects.filter(pk=ladder.pk).update(**rng.choice(LADDER_FIELDS))


def plant_tournament(rng: random.Random) -> None:
    """Add a tournament whose entry is to be opened now, and make its row wrong."""
    row = Tournament.objects.create(
        slug=f"bad-{secrets.token_hex(4)}", name="Bad", opens_at=timezone.now()
    )
    Tournament.objects.filter(pk=row.pk).update(**rng.choice(TOURNAMENT_FIELDS))
