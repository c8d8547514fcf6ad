"""The acts on games, seasons, ladders, and the bots of a ladder."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from ladder.common.storable import storable
from ladder.games.models import Game
from ladder.moderation.acts import BOT, GAME
from ladder.moderation.audit import Operator
from ladder.moderation.declaration import (
    Act,
    Argument,
    ArgumentKind,
    Target,
    UnknownTarget,
)
from ladder.moderation.models import AuditEntry
from ladder.ratings import editing, memberships, operations
from ladder.ratings.models import Ladder, Season
from ladder.ratings.seasons import MAX_PRIZES
from torres.common.quoting import quoted

Kind = AuditEntry.Kind


def newest_season(ladder: str) -> Season:
    """Return the newest season of a ladder. Raises UnknownTarget."""
    newest = Season.objects.filter(ladder__slug=storable(ladder)).order_by("-number")
    if season := newest.select_related("ladder").first():
        return season
    raise UnknownTarget(f"There is no ladder {quoted(ladder)}, or it has no season.")


ROUTE = "operate/ladders/<slug:slug>/"
LADDER = Target("ladder", "the slug of a ladder", ROUTE, Ladder, "slug")
NEW_LADDER = Target("new ladder", "the slug of the new ladder", lookup=str)
SEASON = Target("season", "the slug of its ladder", ROUTE, lookup=newest_season)
ON_LADDER = (Argument("ladder", "the slug of the bot's ladder", target=LADDER),)
DOCUMENT = (
    Argument(
        "document",
        "the keys of the ladder as JSON, as in the REST API",
        ArgumentKind.DOCUMENT,
        most=20_000,
    ),
)


def _void(operator: Operator, game: Game) -> AuditEntry:
    return operations.void(operator, game.pk)


def _rerun(operator: Operator, game: Game) -> AuditEntry:
    return operations.rerun(operator, game.pk)


def _start_finals(
    operator: Operator, season: Season, prizes: int | None = None
) -> AuditEntry:
    if prizes is not None:
        season.prizes = prizes
    return operations.move_season(operator, season, Kind.FINALS)


def _create_ladder(
    operator: Operator, slug: str, document: Mapping[str, Any]
) -> AuditEntry:
    return editing.create(operator, {**document, "slug": slug}).entry


def _edit_ladder(
    operator: Operator, ladder: Ladder, document: Mapping[str, Any]
) -> AuditEntry:
    return editing.edit(operator, ladder, document).entry


ACTS = [
    Act(
        "join",
        "Let play on a ladder",
        "Let a bot play on a ladder.",
        BOT,
        memberships.admit,
        ON_LADDER,
    ),
    Act(
        "leave",
        "Take off a ladder",
        "Take a bot off a ladder. Its owner cannot undo it.",
        BOT,
        memberships.remove,
        ON_LADDER,
    ),
    Act(
        "merge",
        "Merge",
        "Merge a bot into another one, if one person has entered both.",
        BOT,
        operations.merge,
        (Argument("into", "the slug of the bot that stays", target=BOT),),
    ),
    Act("void", "Void", "Void a finished game, and play it again.", GAME, _void),
    Act(
        "rerun",
        "Play again",
        "Play a dead game again, or void a finished one and replace it.",
        GAME,
        _rerun,
    ),
    Act(
        "start",
        "Start the next season",
        "Start the next season of a ladder.",
        LADDER,
        operations.start,
    ),
    Act(
        "freeze",
        "Freeze",
        "Make no more matches in the newest season of a ladder.",
        SEASON,
        partial(operations.move_season, kind=Kind.FREEZE),
    ),
    Act(
        "reopen",
        "Reopen",
        "Make matches again in the newest season of a ladder.",
        SEASON,
        partial(operations.move_season, kind=Kind.REOPEN),
    ),
    Act(
        "finals",
        "Start the finals",
        "Start the finals of the newest season of a ladder.",
        SEASON,
        _start_finals,
        (
            Argument(
                "prizes",
                "the number of prizes, by default as the season says",
                ArgumentKind.NUMBER,
                most=MAX_PRIZES,
                required=False,
            ),
        ),
    ),
    Act(
        "archive",
        "Archive",
        "End the newest season of a ladder.",
        SEASON,
        partial(operations.move_season, kind=Kind.ARCHIVE),
    ),
    Act(
        "create_ladder",
        "Create",
        "Create a ladder, without a season.",
        NEW_LADDER,
        _create_ladder,
        DOCUMENT,
        over_rest=False,
    ),
    Act(
        "edit_ladder",
        "Edit",
        "Change the keys of a ladder that the document holds.",
        LADDER,
        _edit_ladder,
        DOCUMENT,
        over_rest=False,
    ),
]
