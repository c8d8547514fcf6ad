"""The act of operators on practice games."""

from ladder.extras.practice.endings import close
from ladder.extras.practice.models import PracticeGame, PracticeStatus
from ladder.games.services import NotNow
from ladder.moderation.audit import Operator
from ladder.moderation.declaration import Act, Target
from ladder.moderation.models import AuditEntry

PRACTICE_GAME = Target(
    "practice game",
    "the number of a practice game",
    "operate/practice/<int:pk>/",
    PracticeGame,
)


def _end(_: Operator, game: PracticeGame) -> None:
    note = "An operator ended this game. Nothing of it counts."
    if not close(game.pk, PracticeStatus.FAILED, note):
        raise NotNow("The practice game has ended already.")


ACTS = [
    Act(
        "end_practice",
        "End",
        "End a practice game. Nothing of it counts.",
        PRACTICE_GAME,
        _end,
        audit=AuditEntry.Kind.EXTRA,
        word="end",
    )
]
