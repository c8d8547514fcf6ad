"""The acts on tournaments, for their organisers and for operators."""

from collections.abc import Mapping
from typing import Any

from ladder.bots.models import Bot
from ladder.moderation.acts import ACCOUNT, BOT
from ladder.moderation.audit import Operator
from ladder.moderation.declaration import Act, Argument, ArgumentKind, Target
from ladder.moderation.models import AuditEntry
from ladder.tournaments import corrections, organising, services
from ladder.tournaments.document import read_document
from ladder.tournaments.models import Fixture, Tournament
from ladder.tournaments.organising import MAX_SEED, Step

TOURNAMENT = Target(
    "tournament",
    "the slug of a tournament",
    "operate/tournaments/<slug:slug>/",
    Tournament,
    "slug",
)
FIXTURE = Target(
    "fixture", "the number of a fixture", "operate/fixtures/<int:pk>/", Fixture
)
ENTRANT = (Argument("bot", "the slug of a bot that has entered", target=BOT),)


def _step(step: Step, label: str, help_: str, done: str) -> Act:
    def take(operator: Operator, tournament: Tournament) -> AuditEntry:
        return organising.take(operator, tournament, step)

    return Act(
        f"tournament_{step.replace('-', '_')}",
        label,
        help_,
        TOURNAMENT,
        take,
        who=organising.manages,
        word=step,
        over_rest=False,  # `organiser_views` answers with the tournament
        done=done,
    )


def _edit(
    operator: Operator, tournament: Tournament, document: Mapping[str, Any]
) -> AuditEntry:
    read = read_document(document, tournament)
    return organising.edit(operator, tournament, read)


def _withdraw(operator: Operator, tournament: Tournament, bot: Bot) -> AuditEntry:
    return organising.withdraw(operator, services.entrant_of(tournament, bot))


def _check_in(operator: Operator, tournament: Tournament, bot: Bot) -> AuditEntry:
    return organising.check_in(operator, services.entrant_of(tournament, bot))


def _give_up(_: Operator, fixture: Fixture) -> None:
    corrections.give_up(fixture)


STEPS = {
    Step.OPEN: _step(
        Step.OPEN, "Open entry", "Let owners enter their bots.", "Entry is open."
    ),
    Step.CLOSE_ENTRY: _step(
        Step.CLOSE_ENTRY,
        "Close entry",
        "End the entry of bots.",
        "Entry is closed.",
    ),
    Step.START: _step(
        Step.START, "Start", "Start a tournament.", "The tournament has started."
    ),
    Step.PAUSE: _step(
        Step.PAUSE,
        "Pause",
        "Schedule no more matches. Matches that have begun are played.",
        "The tournament is paused. Matches that have begun are played.",
    ),
    Step.RESUME: _step(
        Step.RESUME,
        "Resume",
        "Continue a tournament that is paused.",
        "The tournament goes on.",
    ),
    Step.REVEAL: _step(
        Step.REVEAL,
        "Reveal the next round",
        "Show the results of the next round, if they are held back.",
        "The results of the next round are shown.",
    ),
    Step.CANCEL: _step(
        Step.CANCEL,
        "Cancel",
        "End a tournament without a winner. Its page shows the reason.",
        "The tournament is cancelled.",
    ),
    Step.ARCHIVE: _step(
        Step.ARCHIVE,
        "Archive",
        "Leave a tournament that is over out of the lists.",
        "The tournament is archived.",
    ),
}
ACTS = [
    *STEPS.values(),
    Act(
        "edit_tournament",
        "Edit",
        "Change the keys of a tournament that the document holds.",
        TOURNAMENT,
        _edit,
        (
            Argument(
                "document",
                "the keys of the tournament as JSON, as in the REST API",
                ArgumentKind.DOCUMENT,
                most=20_000,
            ),
        ),
        who=organising.manages,
        over_rest=False,
    ),
    Act(
        "assign",
        "Assign",
        "Make a user the organiser of a tournament.",
        TOURNAMENT,
        organising.assign,
        (
            Argument(
                "organiser",
                "the user name of the new organiser",
                ArgumentKind.TEXT,
                most=150,
                target=ACCOUNT,
            ),
        ),
    ),
    Act(
        "enter",
        "Enter a bot",
        "Enter a bot before the start, or set its seed.",
        TOURNAMENT,
        organising.enter,
        (
            Argument("bot", "the slug of a bot", target=BOT),
            Argument(
                "seed",
                "1 is the best",
                ArgumentKind.NUMBER,
                most=MAX_SEED,
                required=False,
            ),
        ),
        who=organising.manages,
        over_rest=False,
    ),
    Act(
        "check_in",
        "Check a bot in",
        "Confirm in the name of its owner that a bot will play.",
        TOURNAMENT,
        _check_in,
        ENTRANT,
    ),
    Act(
        "withdraw_entrant",
        "Withdraw a bot",
        "Withdraw a bot from a tournament.",
        TOURNAMENT,
        _withdraw,
        ENTRANT,
        who=organising.manages,
        over_rest=False,
    ),
    Act(
        "give_up",
        "Give up",
        "Decide a fixture without its dead games.",
        FIXTURE,
        _give_up,
        audit=AuditEntry.Kind.TOURNAMENT,
    ),
]
