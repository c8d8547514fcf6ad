"""An organiser of a ladder, who acts while the service is disrupted.

Games are voided, new and old ones, alone and many at once. Seasons are archived while
games run, and dead games are played again. Each act may be prevented by a disruption
that came before it, and then has to succeed later.
"""

import random

from django.db.models import QuerySet

from ladder.games.models import Game, GameStatus
from ladder.games.services import NotNow
from ladder.moderation.audit import Operator
from ladder.moderation.models import AuditEntry
from ladder.ratings import operations, seasons, selectors, voids
from ladder.ratings.models import Ladder, Season
from torres.common.pause import pause

MAX_ARCHIVE_ATTEMPTS = 20
ARCHIVE_PAUSE_S = 0.5
MANY_GAMES = 15
LATEST_GAMES = 50

Kind = AuditEntry.Kind


class Organiser:
    """Voids games, reruns dead ones, and ends seasons of the default ladder."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._operator = Operator(None, "chaos")

    def keep_a_season_open(self) -> None:
        """Undo an archive that was interrupted, so that games go on."""
        season = _seasons().first()
        if season is None:
            operations.start(self._operator, Ladder.objects.get(default=True))
        elif season.status == Season.Status.FROZEN:
            seasons.reopen(season)

    def void_a_game(self) -> None:
        self._void(self._finished().order_by("-pk")[:LATEST_GAMES], 1)

    def void_an_old_game(self) -> None:
        self._void(self._finished().order_by("pk")[:LATEST_GAMES], 1)

    def void_many_games(self) -> None:
        self._void(self._finished(), MANY_GAMES)

    def void_an_archived_game(self) -> None:
        """Void games of a season that has ended. Each void must be refused."""
        archived = Season.objects.filter(status=Season.Status.ARCHIVED)
        games = Game.objects.filter(
            status=GameStatus.FINISHED, match__pairing__season__in=archived
        )
        for game in games.values_list("pk", flat=True)[:MANY_GAMES]:
            try:
                voids.void(game, "chaos")
            except NotNow:
                continue
            raise AssertionError(f"game {game} of an archived season was voided")

    def rerun_a_dead_game(self) -> None:
        """Declare games dead, as after three failed attempts, and play them again."""
        waiting = Game.objects.filter(status=GameStatus.SCHEDULED)
        chosen = list(waiting.values_list("pk", flat=True)[:3])
        Game.objects.filter(pk__in=chosen, status=GameStatus.SCHEDULED).update(
            status=GameStatus.DEAD, note="chaos"
        )
        for game in Game.objects.filter(status=GameStatus.DEAD):
            try:
                operations.rerun(self._operator, game.pk)
            except NotNow:
                continue  # its season is archived

    def end_the_season(self) -> None:
        """Archive the season, for which running games must end; start the next one."""
        season = _seasons().get()
        for attempt in range(1, MAX_ARCHIVE_ATTEMPTS + 1):
            try:
                operations.move_season(self._operator, season, Kind.ARCHIVE)
                break
            except NotNow:
                if attempt == MAX_ARCHIVE_ATTEMPTS:
                    raise
                pause(ARCHIVE_PAUSE_S)
        operations.start(self._operator, season.ladder)

    def _finished(self) -> QuerySet[Game]:
        return Game.objects.filter(
            status=GameStatus.FINISHED,
            match__pairing__season__in=_seasons(),
        )

    def _void(self, games: QuerySet[Game], count: int) -> None:
        found = list(games.values_list("pk", flat=True))
        for game in self._rng.sample(found, min(count, len(found))):
            try:
                voids.void(game, "chaos")
            except NotNow:
                continue  # voided or archived in the meantime


def _seasons() -> QuerySet[Season]:
    """Return the season of the default ladder that is not archived, if there is one."""
    unarchived = selectors.unarchived().select_related("ladder")
    return unarchived.filter(ladder__default=True)
