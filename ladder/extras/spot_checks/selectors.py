"""Queries about spot checks. Reads only."""

from collections import defaultdict
from datetime import timedelta

from django.db.models import Q, QuerySet
from django.db.models.functions import Now

from ladder.common import leases
from ladder.extras.spot_checks.models import SpotCheck, SpotCheckVerdict
from ladder.games.models import Game

DAY = timedelta(days=1)
MIN_BOTS = 3
"""An installation is named after disputes about this number of bots."""


def open_rows() -> QuerySet[SpotCheck]:
    """Return the spot checks that have no verdict yet."""
    return SpotCheck.objects.filter(verdict=SpotCheckVerdict.OPEN)


def claimable(installation: str) -> QuerySet[SpotCheck]:
    """Return the spot checks that this installation can take now, the oldest first.

    A process that was killed leaves one behind whose lease ends.
    """
    rows = open_rows().filter(leases.is_free()).exclude(played_on=installation)
    return rows.order_by("pk")


def waiting() -> QuerySet[SpotCheck]:
    """Return the spot checks that no worker has taken."""
    return open_rows().filter(Q(lease_until=None) | leases.is_over())


def ended(game: Game) -> QuerySet[SpotCheck]:
    """Return the verdicts about the seats of a game, in the order of its seats."""
    verdicts = SpotCheck.objects.filter(game=game).defer("replay")
    shown = (
        SpotCheckVerdict.SAME,
        SpotCheckVerdict.VARIES,
        SpotCheckVerdict.DISPUTED,
    )
    return verdicts.filter(verdict__in=shown).order_by("seat")


def suspects() -> dict[str, list[int]]:
    """Return the games of a day that were disputed, by the installation that is named.

    A dispute names the host that played and the host that asked again. An installation
    that disputes of at least MIN_BOTS bots name is a suspect: a bot whose answers
    depend on its time or its host disturbs alone.
    """
    disputed = SpotCheck.objects.filter(
        created_at__gt=Now() - DAY, verdict=SpotCheckVerdict.DISPUTED
    )
    games = defaultdict(list)
    bots = defaultdict(set)
    rows = disputed.values_list("game", "submission__bot", "played_on", "checked_on")
    for game, bot, *named in rows.order_by("game"):
        for installation in named:
            games[installation].append(game)
            bots[installation].add(bot)
    return {name: games[name] for name in games if len(bots[name]) >= MIN_BOTS}
