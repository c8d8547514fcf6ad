"""Void games and play them again, unless a season has ended with them.

The results of an archived season are final. Everything that voids or revives a game of
a ladder goes through this module, which locks the season: so an archive that happens at
the same time either sees the void, or is seen by it.
"""

from django.db import transaction

from ladder.games import services as games
from ladder.games.models import Game
from ladder.games.services import NotNow
from ladder.ratings.models import Season


@transaction.atomic
def void(game: int, note: str, *, replay_again: bool = True) -> Game | None:
    """Declare a finished game invalid; return its replacement, if there is one.

    Raises NotNow if the game is not finished, or if its season is archived.
    """
    _lock_season(game)
    return games.void(game, note, replay_again=replay_again)


@transaction.atomic
def revive(game: int) -> bool:
    """Schedule a dead game again; return False if the game is not dead.

    Raises NotNow if its season is archived.
    """
    _lock_season(game)
    return games.revive(game)


def _lock_season(game: int) -> None:
    """Lock the season that rates a game, if there is one. Raises NotNow."""
    seasons = Season.objects.filter(pairings__match__games=game)
    season = seasons.select_related("ladder").select_for_update(of=("self",)).first()
    if season is not None and season.status == Season.Status.ARCHIVED:
        raise NotNow(
            f"Game {game} belongs to {season}, which is archived: its results are"
            " final, so the game can neither be voided nor played again."
        )
