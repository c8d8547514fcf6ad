"""Events in words, for feeds and chats."""

from collections.abc import Mapping, Sequence
from typing import Any

from ladder.events.kinds import EventKind
from ladder.events.outbox import API

_SENTENCES = {
    EventKind.SUBMISSION_CREATED: "Version {number} of {bot} waits for its validation.",
    EventKind.SUBMISSION_READY: "Version {number} of {bot} is ready.",
    EventKind.SUBMISSION_REJECTED: "Version {number} of {bot} did not pass validation.",
    EventKind.SUBMISSION_ACTIVATED: "Version {number} of {bot} plays again.",
    EventKind.BOT_STATUS: "{bot} is {status} now.",
    EventKind.GAME_DEAD: "Game {game} could not be played.",
    EventKind.GAME_VOIDED: "The result of game {game} was declared invalid.",
    EventKind.RATING_CHANGED: "Game {game} changed ratings on the ladder {ladder}.",
    EventKind.RATING_CORRECTED: "Ratings on the ladder {ladder} were corrected.",
    EventKind.SEASON_STARTED: "Season {season} of the ladder {ladder} has started.",
    EventKind.SEASON_FROZEN: "Season {season} of the ladder {ladder} is frozen.",
    EventKind.SEASON_REOPENED: "Season {season} of the ladder {ladder} goes on.",
    EventKind.SEASON_FINALS: "Season {season} of the ladder {ladder} plays its finals.",
    EventKind.SEASON_ARCHIVED: "Season {season} of the ladder {ladder} is over.",
    EventKind.TOURNAMENT_OPENED: "{name}: entry is open.",
    EventKind.TOURNAMENT_ENTRY_CLOSED: "{name}: entry is closed.",
    EventKind.TOURNAMENT_STARTED: "{name} has started.",
    EventKind.TOURNAMENT_ROUND_STARTED: "{name}: round {rounds} has started.",
    EventKind.TOURNAMENT_ROUND_FINISHED: "{name}: round {rounds} is finished.",
    EventKind.TOURNAMENT_PAUSED: "{name} is paused.",
    EventKind.TOURNAMENT_RESUMED: "{name} goes on.",
    EventKind.TOURNAMENT_REVEALED: "{name}: results up to round {round} are shown.",
    EventKind.TOURNAMENT_FINISHED: "{name} is over.",
    EventKind.TOURNAMENT_CANCELLED: "{name} was cancelled.",
    EventKind.TOURNAMENT_ARCHIVED: "{name} was archived.",
    EventKind.WEBHOOK_TEST: "This is a test.",
}


def sentence(kind: str, data: Mapping[str, Any]) -> str:
    """Return what happened, in one sentence of plain text.

    Raises KeyError if the data of a damaged event lack something.
    """
    if kind == EventKind.GAME_FINISHED:
        return result(
            [(seat["bot"], seat["rank"], seat["score"]) for seat in data["seats"]]
        )
    words = dict(data)
    for name, values in (("bot", "bots"), ("rounds", "rounds")):
        words[name] = ", ".join(map(str, data.get(values, ())))
    return _SENTENCES[EventKind(kind)].format_map(words)


def result(seats: Sequence[tuple[str, int, int]]) -> str:
    """Return the result of a game in words: bots, their ranks and scores by seat."""
    winners = [f"{bot} ({score})" for bot, rank, score in seats if rank == 1]
    others = [f"{bot} ({score})" for bot, rank, score in seats if rank > 1]
    if not others:
        return f"{' and '.join(winners)} tied."
    verb = "won against" if len(winners) == 1 else "tied, ahead of"
    return f"{' and '.join(winners)} {verb} {', '.join(others)}."


def page_of(data: Mapping[str, Any]) -> str:
    """Return the path of the page about an event, beginning with a slash."""
    path = "/" + str(data.get("url", "")).removeprefix(API)
    return (
        "/me/webhooks/"
        if path.startswith("/webhooks/")
        else path.replace("leaderboard/", "")
    )
