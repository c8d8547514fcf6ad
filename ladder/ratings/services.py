"""Ladders and seasons, and the matches that they make. Nothing here sends anything."""

from random import Random

from django.db import transaction

from ladder.ratings.matchmaking import Desk
from ladder.ratings.models import Ladder, Season
from ladder.ratings.seasons import start_season

LIMITS = {
    "memory_mb": 256,
    "pids": 64,
    "tmp_mb": 16,
    "line_bytes": 65536,
    "output_bytes": 1048576,
    "start_ms": 10000,
    "move_ms": 1000,
    "bank_ms": 10000,
}
"""What a new ladder starts with (the contract's example)."""


def ensure_default_ladder() -> Ladder:
    """Return the ladder that bots join by themselves; make it where there is none."""
    with transaction.atomic():
        ladder, _ = Ladder.objects.get_or_create(
            default=True,
            defaults={
                "slug": "main",
                "name": "Main ladder",
                "ruleset": "yucata",
                "tables": {"2": 0.4, "3": 0.2, "4": 0.4},
                "limits": LIMITS,
            },
        )
        if not ladder.seasons.exists():
            start_season(ladder)
    return ladder


def pair(season: Season, wanted: int, rng: Random | None = None) -> int:
    """Make up to `wanted` matches now; whoever does so again and again keeps a desk."""
    return Desk(rng).pair(season, wanted)
