"""The kinds of events: a closed set. docs/events.md shows an example of each."""

from enum import StrEnum


class EventKind(StrEnum):
    SUBMISSION_CREATED = "submission.created"
    SUBMISSION_READY = "submission.ready"
    SUBMISSION_REJECTED = "submission.rejected"
    SUBMISSION_ACTIVATED = "submission.activated"
    BOT_STATUS = "bot.status"
    GAME_FINISHED = "game.finished"
    GAME_DEAD = "game.dead"
    GAME_VOIDED = "game.voided"
    RATING_CHANGED = "rating.changed"
    RATING_CORRECTED = "rating.corrected"
    SEASON_STARTED = "season.started"
    SEASON_FROZEN = "season.frozen"
    SEASON_REOPENED = "season.reopened"
    SEASON_FINALS = "season.finals"
    SEASON_ARCHIVED = "season.archived"
    TOURNAMENT_OPENED = "tournament.opened"
    TOURNAMENT_ENTRY_CLOSED = "tournament.entry-closed"
    TOURNAMENT_STARTED = "tournament.started"
    TOURNAMENT_ROUND_STARTED = "tournament.round-started"
    TOURNAMENT_ROUND_FINISHED = "tournament.round-finished"
    TOURNAMENT_PAUSED = "tournament.paused"
    TOURNAMENT_RESUMED = "tournament.resumed"
    TOURNAMENT_REVEALED = "tournament.revealed"
    TOURNAMENT_FINISHED = "tournament.finished"
    TOURNAMENT_CANCELLED = "tournament.cancelled"
    TOURNAMENT_ARCHIVED = "tournament.archived"
    WEBHOOK_TEST = "webhook.test"


NEWS_KINDS = [
    kind
    for kind in EventKind
    if kind.startswith(("season.", "tournament."))
    or kind in (EventKind.SUBMISSION_READY, EventKind.BOT_STATUS)
]
"""The kinds that are rare enough to be news."""
