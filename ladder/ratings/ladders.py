"""The default ladder."""

from django.db import transaction

from ladder.ratings.models import Ladder
from ladder.ratings.seasons import start_season
from torres.runner.protocol import Limits


def ensure_default_ladder() -> Ladder:
    """Return the ladder that all bots join; create it and a season if there is none."""
    with transaction.atomic():
        ladder, _ = Ladder.objects.get_or_create(
            default=True,
            defaults={
                "slug": "main",
                "name": "Main ladder",
                "ruleset": "yucata",
                "tables": {"2": 0.4, "3": 0.2, "4": 0.4},
                "limits": Limits().as_dict(),
            },
        )
        if not ladder.seasons.exists():
            start_season(ladder)
    return ladder
