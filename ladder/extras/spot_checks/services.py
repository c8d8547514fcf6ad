"""Choose the seats that are asked again: a random share of the games of an hour."""

import math
import secrets
from datetime import timedelta

from django.conf import settings
from django.db.models import Count, Exists, Max, Min, OuterRef
from django.db.models.functions import Now
from django.db.models.query import QuerySet

from ladder.bots.models import Submission
from ladder.extras.spot_checks import selectors
from ladder.extras.spot_checks.models import SpotCheck, SpotCheckVerdict
from ladder.games import selectors as games
from ladder.games.models import (
    Attempt,
    Game,
    GameStatus,
    Seat,
    installation_of,
)

WINDOW = timedelta(hours=1)
MAX_OPEN = 20
"""Spot checks that wait. If no host can do them, they must not become many."""
TRIES = 4
"""Numbers that are drawn for each seat: not every number is that of a fit game."""


def tick() -> int:
    """Choose seats for spot checks; return how many spot checks wait for a worker.

    No worker knows in advance which games will be chosen, because they are chosen
    after their end. One installation alone cannot check itself, so nothing is chosen
    then.
    """
    missing = _missing()
    if missing > 0:
        for game in _drawn(missing):
            _choose(game)
    return selectors.waiting().count()


def _missing() -> int:
    """Return how many seats are to be chosen now."""
    if settings.TORRES_SPOT_CHECKS <= 0 or len(_installations()) < 2:
        return 0
    wanted = math.ceil(_finished().count() * settings.TORRES_SPOT_CHECKS)
    made = SpotCheck.objects.filter(created_at__gt=Now() - WINDOW).count()
    return min(wanted - made, MAX_OPEN - selectors.open_rows().count())


def _installations() -> set[str]:
    names = games.live_workers().values_list("name", flat=True)
    return {installation_of(name) for name in names}


def _finished() -> QuerySet[Game]:
    """Return the games of the last hour that have a replay."""
    return Game.objects.filter(
        status=GameStatus.FINISHED,
        finished_at__gt=Now() - WINDOW,
        replay__isnull=False,
    )


def _drawn(count: int) -> list[Game]:
    """Return at most `count` random games of the last hour that were not checked."""
    ends = _finished().aggregate(first=Min("pk"), last=Max("pk"), all=Count("pk"))
    if not ends["all"]:
        return []
    numbers = range(ends["first"], ends["last"] + 1)
    drawn = {secrets.choice(numbers) for _ in range(TRIES * count)}
    unchecked = _finished().exclude(
        Exists(SpotCheck.objects.filter(game=OuterRef("pk")))
    )
    found = list(unchecked.filter(pk__in=drawn).only("replay"))
    return found[:count]


def _choose(game: Game) -> None:
    """Choose one seat of a game, but none of a bot that is known to vary."""
    attempt = Attempt.objects.filter(game=game, outcome=Attempt.Outcome.FINISHED)
    played_on = attempt.values_list("worker__name", flat=True).first()
    varying = SpotCheck.objects.filter(
        submission=OuterRef("submission"), verdict=SpotCheckVerdict.VARIES
    )
    seats = list(Seat.objects.filter(~Exists(varying), game=game, blamed=False))
    if played_on is None or not seats:
        return
    seat = secrets.choice(seats)
    SpotCheck.objects.get_or_create(
        game=game,
        seat=seat.number,
        defaults={
            "submission": Submission(pk=seat.submission_id),
            "replay": game.replay,
            "played_on": installation_of(played_on),
        },
    )
