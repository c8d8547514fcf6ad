"""Operators' actions on games."""

from django.db import transaction

from ladder.games import services as games
from ladder.moderation.audit import Operator
from ladder.moderation.models import AuditEntry

Kind = AuditEntry.Kind


@transaction.atomic
def void(operator: Operator, game: int, *, again: bool = True) -> AuditEntry:
    """Declare a finished game invalid. The rater takes it out of the ratings.

    With ``again`` the game is played once more with the same seed and seats.
    """
    new = games.void(game, operator.why, replay_again=again)
    replacement = new.pk if new else None
    return operator.record(Kind.VOID, f"game {game}", replacement=replacement)


@transaction.atomic
def rerun(operator: Operator, game: int) -> AuditEntry:
    """Play a game once more.

    A dead game is scheduled again. A finished game is voided and gets a replacement.
    """
    if games.revive(game):
        return operator.record(Kind.RERUN, f"game {game}", revived=True)
    new = games.void(game, operator.why)
    replacement = new.pk if new else None
    return operator.record(Kind.RERUN, f"game {game}", replacement=replacement)
