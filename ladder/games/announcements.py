"""The events of games: finished, dead, voided.

A match under embargo does not exist for anybody, so its games have no events. The
matches of a comparison concern the owner of the bots only.
"""

import json
from collections.abc import Sequence
from typing import Any

from ladder.events.kinds import EventKind
from ladder.events.models import Event
from ladder.events.outbox import API, event, publish_all
from ladder.games import sql
from ladder.games.models import Match


def finished(game: int, reason: str, columns: dict[str, list[Any]]) -> sql.Statement:
    """Return the statement that adds the event of a game that finishes now.

    `columns` has score, rank and fault of the seats, in their order.
    """
    seats = sql.seated_bots(game)
    results = zip(columns["score"], columns["rank"], columns["fault"], strict=True)
    data = _data(game, seats) | {
        "reason": reason,
        "seats": [
            {
                "seat": seat.number,
                "bot": seat.bot,
                "submission": seat.submission,
                "score": score,
                "rank": rank,
                "forfeit": fault or None,
            }
            for seat, (score, rank, fault) in zip(seats, results, strict=True)
        ],
    }
    row = _event(EventKind.GAME_FINISHED, seats, data)
    return sql.insert_event(
        seats[0].match,
        row.kind,
        json.dumps(row.data),
        json.dumps(row.owners),
        public=row.public,
    )


def announce_dead(game: int) -> None:
    """Tell that the service failed to play a game."""
    _announce(EventKind.GAME_DEAD, game, {})


def announce_voided(game: int, note: str, replacement: int | None) -> None:
    """Tell that a game counts no more, and which game replaces it."""
    _announce(EventKind.GAME_VOIDED, game, {"note": note, "replacement": replacement})


def _announce(kind: EventKind, game: int, more: dict[str, Any]) -> None:
    seats = sql.seated_bots(game)
    if seats and not seats[0].embargo:
        publish_all([_event(kind, seats, _data(game, seats) | more)])


def _event(
    kind: EventKind, seats: Sequence[sql.SeatedBot], data: dict[str, Any]
) -> Event:
    public = seats[0].kind != Match.Kind.COMPARISON
    return event(kind, data, public=public, owners=[seat.owner for seat in seats])


def _data(game: int, seats: Sequence[sql.SeatedBot]) -> dict[str, Any]:
    return {
        "game": game,
        "match": seats[0].match,
        "kind": seats[0].kind,
        "ladder": seats[0].ladder or None,
        "bots": [seat.bot for seat in seats],
        "url": f"{API}games/{game}/",
    }
