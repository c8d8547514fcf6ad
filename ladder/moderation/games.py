"""Operators' actions on games."""

from django.db import transaction

from ladder.games import services as games
from ladder.moderation.audit import Operator
from ladder.moderation.models import AuditEntry

Kind = AuditEntry.Kind


@transaction.atomic
def void(operator: Operator, game: int, *, again: bool = True) -> AuditEntry:
    """Declare a finished game invalid; the rater takes it out of the ratings."""
    new = games.void(game, operator.why, replay_again=again)
    return operator.record(
        Kind.VOID, f"game {game}", replacement=new.pk if new else None
    )


@transaction.atomic
def rerun(operator: Operator, game: int) -> AuditEntry:
    """Play a game once more: a dead one as it is, a finished one by voiding it."""
    if games.revive(game):
        return operator.record(Kind.RERUN, f"game {game}", revived=True)
    new = games.void(game, operator.why)
    replacement = new.pk if new else None
    return operator.record(Kind.RERUN, f"game {game}", replacement=replacement)
