"""What of matches and games is shown, and to whom.

Decks follow from a match's seed, so neither the seed nor a replay leaves the house
before the last game of the match is over. A match under embargo does not exist here,
nor does any game of it, for anybody: whatever shows games asks this module.
"""

import json
from dataclasses import dataclass
from typing import Any

from django.db.models import Exists, OuterRef, Prefetch, Q, QuerySet

from ladder.accounts.permissions import Person
from ladder.bots.models import Bot
from ladder.bots.selectors import owns
from ladder.common.errors import LadderError
from ladder.games import replays
from ladder.games.models import (
    OPEN,
    Game,
    GameStatus,
    Match,
    Seat,
    SeatLog,
    StoredAnswer,
)

PLAYED = (GameStatus.FINISHED, GameStatus.VOIDED)


class NotOver(LadderError):
    code, http_status = "not-over", 409


class NoReplay(LadderError):
    code, http_status = "no-replay", 404


class NotYours(LadderError):
    code, http_status = "not-yours", 403


def _seats() -> Prefetch[str]:
    seats = Seat.objects.select_related("submission__bot").order_by("number")
    seats = seats.defer("submission__log", "submission__report")  # long, never shown
    return Prefetch("seats", seats)


def games() -> QuerySet[Game]:
    """Every game with its seats, newest first."""
    return (
        Game.objects.filter(match__embargo=False)
        .defer("replay")
        .select_related("match")
        .prefetch_related(_seats())
        .order_by("-id")
    )


def matches() -> QuerySet[Match]:
    """Every match with its games; `open` says whether one of them is not over."""
    its_games = Game.objects.defer("replay").prefetch_related(_seats())
    waiting = Game.objects.filter(match=OuterRef("pk"), status__in=OPEN)
    return (
        Match.objects.filter(embargo=False)
        .annotate(open=Exists(waiting))
        .prefetch_related(Prefetch("games", its_games.order_by("index", "id")))
        .order_by("-id")
    )


def games_of(bot: Bot) -> QuerySet[Game]:
    return games().filter(Exists(_seat_of(Q(submission__bot=bot))))


def _seat_of(whose: Q) -> QuerySet[Seat]:
    return Seat.objects.filter(whose, game=OuterRef("pk"))


def replay(game: Game) -> bytes:
    """Return the replay of a game whose match is over, as JSON text."""
    if game.status in OPEN:
        raise NotOver(f"The game is {game.status}. Ask again when it is finished.")
    if game.status not in PLAYED:
        raise NoReplay(f"The game is {game.status}; it has no replay.")
    if game.match.games.filter(status__in=OPEN).exists():
        raise NotOver(
            "Another game of this match is not over, and it has the same decks."
            " Ask again later."
        )
    stored = Game.objects.values_list("replay", flat=True).get(pk=game.pk)
    if stored is None:
        raise NoReplay("The replay of this game is gone.")
    return replays.unpack(bytes(stored))


@dataclass(frozen=True, slots=True)
class SoFar:
    """The moves of a game up to now, as its replay has them; `attempt` is its fence."""

    attempt: int | None
    moves: list[dict[str, Any]]


def so_far(game: Game) -> SoFar:
    """Return the moves of a game that runs, of one that waits (none), or of its replay.

    Moves tell what cards were drawn, so where another game has the same decks, nothing
    is told before all are over. Raises NotOver and NoReplay.
    """
    if game.status not in OPEN:
        return SoFar(game.fence, json.loads(replay(game))["moves"])
    if game.match.games.exclude(pk=game.pk).exists():
        raise NotOver(
            "Another game of this match has the same decks, so this one is shown when"
            " all are over."
        )
    if game.status != GameStatus.RUNNING:
        return SoFar(None, [])
    rows = StoredAnswer.objects.filter(attempt__game=game, attempt__fence=game.fence)
    told = rows.order_by("index").values("seat", "actions", "ms", "auto")
    return SoFar(game.fence, [_move(**row) for row in told])


def _move(seat: int, actions: list[str], ms: float, *, auto: bool) -> dict[str, Any]:
    move = {"seat": seat, "actions": actions}
    return move | ({"auto": True} if auto else {"ms": ms})


def own_seats(game: Game, person: Person) -> list[Seat]:
    return [seat for seat in game.seats.all() if owns(person, seat.submission.bot)]


def logs(game: Game, person: Person) -> list[dict[str, Any]]:
    """Return what the person's own seats left behind, attempt by attempt."""
    mine = {seat.number: seat for seat in own_seats(game, person)}
    if not mine:
        raise NotYours("No bot of yours sits in this game.")
    rows = SeatLog.objects.filter(attempt__game=game, number__in=mine)
    told = [
        _log(mine[row.number], row.attempt.fence, row.attempt.outcome, row)
        for row in rows.select_related("attempt").order_by("attempt__fence", "number")
    ]
    heard = {entry["seat"] for entry in told}
    silent = [seat for number, seat in mine.items() if number not in heard]
    return told + [_log(seat, game.fence, game.status, SeatLog()) for seat in silent]


def _log(seat: Seat, attempt: int, outcome: str, row: SeatLog) -> dict[str, Any]:
    return {
        "seat": seat.number,
        "bot": seat.submission.bot.slug,
        "attempt": attempt,
        "outcome": outcome,
        "forfeit": seat.fault or None,
        "detail": seat.fault_detail,
        "stderr": row.stderr,
        "notes": row.notes,
        "verdict": row.verdict,
    }
