"""The contents of the pages, joined from several packages.

These functions only combine what the packages know; they compute nothing about games,
ratings or tournaments by themselves.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet
from django.utils.translation import gettext as _, gettext_noop

from engine.documents import Replay
from engine.game import Scoring
from ladder.accounts.roles import Person
from ladder.bots import selectors as bots
from ladder.bots.models import Bot, Submission
from ladder.extras.spot_checks import selectors as spot_checks
from ladder.games import visibility as games
from ladder.games.models import OPEN, Game, GameStatus, Match
from ladder.games.visibility import SeatLogEntry
from ladder.games.worker import engine_adapter
from ladder.ratings import memberships
from ladder.web.pages import (
    analysis_pages,
    boards,
    bot_pages,
    comparison_pages,
    game_table,
    link_cards,
)
from ladder.web.pages.boards import LadderStanding
from ladder.web.pages.bot_pages import SeasonChoice
from ladder.web.pages.game_table import GameTable
from torres.common.errors import LadderError

ROWS = 50  # rows on one page of a list
MAX_SUBMISSIONS = 20
MAX_GAMES_OF_BOT = 20
# The relations from a match to the reason for its creation; it has one at most.
ORIGINS = (
    "pairing__season__ladder",
    "challenge__ladder",
    "challenge__by",
    "fixture__tournament",
    "comparison_block__comparison__bot",
)
# Names and units of the limits of a match.
LIMITS = {
    "move_ms": (gettext_noop("Time for a decision"), "ms"),
    "bank_ms": (gettext_noop("Time bank for a game"), "ms"),
    "start_ms": (gettext_noop("Time to start"), "ms"),
    "memory_mb": (gettext_noop("Memory"), "MiB"),
    "pids": (gettext_noop("Processes and threads"), ""),
    "tmp_mb": (gettext_noop("Temporary files"), "MiB"),
    "line_bytes": (gettext_noop("Longest line"), gettext_noop("bytes")),
    "output_bytes": (gettext_noop("Output of a game"), gettext_noop("bytes")),
}


PhaseScores = tuple[int, list[tuple[str, int]]]
"""A phase, and for each seat its points, for example "12 + 5", and its new score."""


@dataclass(frozen=True, slots=True)
class GameRecordView:
    """The part of a game that may be public, or the reason why it is not.

    `replay` is only set for a finished game, `watch` only for a running one. Neither is
    set if the page hides results; then the viewer shows the positions from the first
    one on, and learns those that follow when it gets there.
    """

    why_not: str = ""
    watch: bool = False
    replay: Replay | None = None
    table: GameTable | None = None
    scoring: Sequence[PhaseScores] = ()
    hides: bool = False


def latest_games(
    keys: QuerySet[Game], before: int | None
) -> tuple[list[Game], int | None]:
    """Return a page of games, newest first, with ids below `before`.

    The number is the `before` of the next page; None on the last. `keys` are those of
    `visibility.game_keys`.
    """
    if before is not None:
        keys = keys.filter(pk__lt=before)
    listed = list(keys[: ROWS + 1])
    following = listed[ROWS - 1].pk if len(listed) > ROWS else None
    return games.with_seats(listed[:ROWS]), following


def bot_details(
    bot: Bot, person: Person, chosen: SeasonChoice | None
) -> dict[str, object]:
    """Return the contents of the page of a bot.

    `own` tells whether the visitor owns it. `places` are the ladders on which the bot
    is or was; for the owner these are all ladders. `past_seasons` are given if the bot
    has no rating in a present season. `comparisons` is for the owner only.
    """
    submissions = Submission.objects.filter(bot=bot).order_by("-number")
    # Hundreds of games of a comparison would hide the games against other bots.
    others = games.keys_of(bot).exclude(match__kind=Match.Kind.COMPARISON)
    latest = games.with_seats(others[:MAX_GAMES_OF_BOT])
    own = bots.owns(person, bot)
    standings = boards.standings(bot, chosen)
    past = [] if standings else bot_pages.seasons_of(bot).values()
    return {
        "bot": bot,
        "own": own,
        "places": memberships.places(bot, only_own=not own),
        "submissions": submissions[:MAX_SUBMISSIONS],
        "standings": standings,
        "share_text": _place_text(standings[0]) if standings else None,
        "games": latest,
        "forfeits": bot_pages.latest_forfeits(bot),
        "past_seasons": [season for seasons in past for season in seasons],
        "comparisons": comparison_pages.offer(bot) if own else None,
    }


def _place_text(shown: LadderStanding) -> str:
    record = shown.record
    name = shown.ladder.name
    return link_cards.bot_text(name, record.rank, record.rating, record.games)


def game_details(game: Game, person: Person, ply: int | None) -> dict[str, object]:
    """Return the contents of the page of a game, with the position after `ply` actions.

    Without `ply` it is the latest position. `logs` belong to the visitor's own bots.
    """
    shown = record(game, ply)
    logs = games.logs(game, person) if games.own_seats(game, person) else []
    return {
        "game": game,
        "seats": game.seats.all(),
        "faults": any(seat.fault for seat in game.seats.all()),
        "live": game.status in OPEN,
        "logs": logs,
        "notes": _notes(logs),
        "origin": game.match,
        "record": shown,
        "table": shown.table,
        "analysis": analysis_pages.shown(game),
        "spot_checks": spot_checks.ended(game),
    }


def hidden_game_details(game: Game, ply: int | None) -> dict[str, object]:
    """Return the contents of the page of a game for readers who hide results.

    Without `ply` it is the first position. Nothing tells what happens after it.
    """
    shown = record(without_result(game), ply or 0)
    table = shown.table
    if table is None:
        shown = GameRecordView(why_not=shown.why_not)
    elif table.last or game.status in OPEN:
        shown = GameRecordView(table=game_table.reached(table), hides=True)
    else:
        shown = GameRecordView(why_not=_("This game has no turns to show."))
    return {
        "game": game,
        "seats": game.seats.all(),
        "live": game.status in OPEN and table is None,
        "origin": game.match,
        "record": shown,
        "table": shown.table,
    }


def without_result(game: Game) -> Game:
    """Take the result out of an object, so that no template can show it.

    Its seats must be prefetched. Nothing is saved.
    """
    game.reason = game.note = ""
    for seat in game.seats.all():
        seat.rank = seat.score = None
        seat.fault = ""
    return game


def _notes(logs: list[SeatLogEntry]) -> list[dict[str, Any]]:
    """Return the notes of the attempt that counts, for the viewer."""
    last = max((log.attempt for log in logs), default=0)
    return [note for log in logs if log.attempt == last for note in log.notes]


def record(game: Game, ply: int | None = None) -> GameRecordView:
    """Return the moves of a game, as far as they are public now."""
    if game.status in OPEN:
        return _running_record(game, ply)
    return _finished_record(game, ply)


def _finished_record(game: Game, ply: int | None) -> GameRecordView:
    try:
        replay = json.loads(games.replay(game))
    except LadderError as refusal:
        return GameRecordView(why_not=str(refusal))
    table = game_table.of_replay(replay, ply)
    return GameRecordView(replay=replay, table=table, scoring=_scoring(replay))


def _running_record(game: Game, ply: int | None) -> GameRecordView:
    if game.status != GameStatus.RUNNING:
        return GameRecordView(
            why_not=_(
                "The game is waiting for a worker. It will be shown when it runs."
            )
        )
    try:
        moves = games.moves_so_far(game).moves
    except LadderError as refusal:
        return GameRecordView(why_not=str(refusal))
    table = game_table.of_running(engine_adapter.start(game.match), moves, ply)
    return GameRecordView(watch=True, table=table)


def _scoring(replay: Replay) -> list[PhaseScores]:
    def points(row: Scoring, seat: int) -> str:
        master = f" + {row['master'][seat]}" if replay["setup"]["master"] else ""
        return f"{row['castles'][seat]} + {row['king'][seat]}{master}"

    return [
        (
            row["phase"],
            [(points(row, seat), total) for seat, total in enumerate(row["scores"])],
        )
        for row in replay["scoring"]
    ]


def match_details(match: Match) -> dict[str, object]:
    """Return the contents of the page of a match.

    `others` are the bots that the matchmaker considered, with the numbers that it
    recorded about them.
    """
    return {
        "match": match,
        "games": match.games.all(),
        "origin": match,
        "others": _considered(match.why or {}),
        "limits": [_limit(name, value) for name, value in match.limits.items()],
    }


def _limit(name: str, value: int) -> tuple[str, str]:
    """Return the name and the value of a limit as a page shows them."""
    label, unit = LIMITS.get(name, (name, ""))
    return label, f"{value:,} {unit and _(unit)}".rstrip()


def _considered(why: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the matchmaker's numbers about other bots, with the names of the bots."""
    others = why.get("others", [])
    bots_by_id = Bot.objects.in_bulk([other["bot"] for other in others])
    return [other | {"name": bots_by_id.get(other["bot"], "?")} for other in others]
