"""Events in words, for feeds, chats and mails.

Feeds and chats are English, because no reader has chosen a language there.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import gettext, gettext_noop as _

from ladder.events.kinds import EventKind
from ladder.events.outbox import API

_SENTENCES = {
    EventKind.SUBMISSION_CREATED: _(
        "Version %(number)s of %(bot)s waits for its validation."
    ),
    EventKind.SUBMISSION_READY: _("Version %(number)s of %(bot)s is ready."),
    EventKind.SUBMISSION_REJECTED: _(
        "Version %(number)s of %(bot)s did not pass validation."
    ),
    EventKind.SUBMISSION_ACTIVATED: _("Version %(number)s of %(bot)s plays again."),
    EventKind.BOT_STATUS: _("%(bot)s is %(status)s now."),
    EventKind.GAME_DEAD: _("Game %(game)s could not be played."),
    EventKind.GAME_VOIDED: _("The result of game %(game)s was declared invalid."),
    EventKind.RATING_CHANGED: _(
        "Game %(game)s changed ratings on the ladder %(ladder)s."
    ),
    EventKind.RATING_CORRECTED: _("Ratings on the ladder %(ladder)s were corrected."),
    EventKind.SEASON_STARTED: _(
        "Season %(season)s of the ladder %(ladder)s has started."
    ),
    EventKind.SEASON_FROZEN: _("Season %(season)s of the ladder %(ladder)s is frozen."),
    EventKind.SEASON_REOPENED: _("Season %(season)s of the ladder %(ladder)s goes on."),
    EventKind.SEASON_FINALS: _(
        "Season %(season)s of the ladder %(ladder)s plays its finals."
    ),
    EventKind.SEASON_ARCHIVED: _("Season %(season)s of the ladder %(ladder)s is over."),
    EventKind.TOURNAMENT_OPENED: _("%(name)s: entry is open."),
    EventKind.TOURNAMENT_ENTRY_CLOSED: _("%(name)s: entry is closed."),
    EventKind.TOURNAMENT_STARTED: _("%(name)s has started."),
    EventKind.TOURNAMENT_ROUND_STARTED: _("%(name)s: round %(rounds)s has started."),
    EventKind.TOURNAMENT_ROUND_FINISHED: _("%(name)s: round %(rounds)s is finished."),
    EventKind.TOURNAMENT_PAUSED: _("%(name)s is paused."),
    EventKind.TOURNAMENT_RESUMED: _("%(name)s goes on."),
    EventKind.TOURNAMENT_REVEALED: _(
        "%(name)s: results up to round %(round)s are shown."
    ),
    EventKind.TOURNAMENT_FINISHED: _("%(name)s is over."),
    EventKind.TOURNAMENT_CANCELLED: _("%(name)s was cancelled."),
    EventKind.TOURNAMENT_ARCHIVED: _("%(name)s was archived."),
    EventKind.WEBHOOK_TEST: _("This is a test."),
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
    if "status" in words:
        words["status"] = gettext(str(words["status"]))
    return gettext(_SENTENCES[EventKind(kind)]) % words


def result(seats: Sequence[tuple[str, int, int]]) -> str:
    """Return the result of a game in words: bots, their ranks and scores by seat."""
    winners = [f"{bot} ({score})" for bot, rank, score in seats if rank == 1]
    others = [f"{bot} ({score})" for bot, rank, score in seats if rank > 1]
    names = {"winners": listed(winners), "others": ", ".join(others)}
    if not others:
        return gettext("%(winners)s tied.") % names
    if len(winners) == 1:
        return gettext("%(winners)s won against %(others)s.") % names
    return gettext("%(winners)s tied, ahead of %(others)s.") % names


def listed(names: Sequence[str]) -> str:
    """Join names with the word for "and"."""
    return f" {gettext('and')} ".join(names)


def page_of(data: Mapping[str, Any]) -> str:
    """Return the path of the page about an event, beginning with a slash."""
    path = "/" + str(data.get("url", "")).removeprefix(API)
    return (
        "/me/webhooks/"
        if path.startswith("/webhooks/")
        else path.replace("leaderboard/", "")
    )
