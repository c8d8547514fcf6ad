"""The end of a practice game: its result, its replay, and the logs of own bots."""

from collections.abc import Mapping

import structlog
from django.db import transaction
from django.db.models.functions import Now

from engine.documents import Replay
from ladder.common.storable import storable
from ladder.extras.practice import position, selectors
from ladder.extras.practice.models import (
    OPEN_PRACTICE,
    PracticeGame,
    PracticeMove,
    PracticeOpponent,
    PracticeStatus,
)
from ladder.games import replays
from ladder.games.models import MAX_REASON_CHARS
from torres.runner.verdict import SeatOutput

log = structlog.get_logger()


@transaction.atomic
def close(
    pk: int,
    status: PracticeStatus,
    note: str = "",
    *,
    fence: int | None = None,
    outputs: Mapping[int, SeatOutput] | None = None,
) -> bool:
    """End an open game; return False if it has ended, or belongs to a newer claim.

    1. Lock the row. With `fence` it must still belong to this claim.
    2. Compute the replay from the moves. A game that ended early has a replay without a
       result.
    3. Store the notes and the stderr of the bots that the person owns.
    4. Delete the moves, because the replay holds them. Then the game ends.
    """
    rows = PracticeGame.objects.select_for_update().filter(
        pk=pk, status__in=OPEN_PRACTICE
    )
    game = (rows if fence is None else rows.filter(fence=fence)).first()
    if game is None:
        return False
    moves = list(game.moves.order_by("index"))
    _store_logs(game, moves, outputs or {})
    document = _replay(game, moves)
    # The role of a worker may delete the moves of open games only.
    PracticeMove.objects.filter(game=pk).delete()
    PracticeGame.objects.filter(pk=pk).update(
        status=status,
        note=note[:MAX_REASON_CHARS],
        ended_at=Now(),
        lease_until=None,
        ply=None,
        deadline=None,
        replay=replays.pack(document) if document else None,
        result=document.get("result") if document else None,
    )
    return True


def _replay(game: PracticeGame, moves: list[PracticeMove]) -> Replay | None:
    if not moves:
        return None
    try:
        return position.replay(game, moves)
    except Exception:  # the game must end also if its row makes no sense
        log.exception("practice game has no replay", game=game.pk)
        return None


def _store_logs(
    game: PracticeGame, moves: list[PracticeMove], outputs: Mapping[int, SeatOutput]
) -> None:
    for opponent in selectors.sitting(game):
        if not is_own(game, opponent):
            continue
        notes = [
            {"move": move.index, "note": move.note}
            for move in moves
            if move.seat == opponent.number and move.note
        ]
        output = outputs.get(opponent.number, SeatOutput())
        PracticeOpponent.objects.filter(pk=opponent.pk).update(
            notes=notes, stderr=storable(output.stderr)
        )


def is_own(game: PracticeGame, opponent: PracticeOpponent) -> bool:
    """True if the person owns this bot, and so may read its notes and logs."""
    submission = opponent.submission
    if submission is None or game.owner_id is None:
        return False
    return submission.bot.owner_id == game.owner_id
