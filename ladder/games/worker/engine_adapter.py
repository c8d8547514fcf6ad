"""Between the rows of a game and the engine: what is played, and what came out."""

from typing import Any

from django.db.models import Prefetch

from engine.game import TorresGame as Torres
from engine.referee import GameRecord
from engine.rulesets import resolve
from engine.setup import derive
from ladder.games import replays
from ladder.games.attempts import FinishedGame, SeatResult
from ladder.games.models import Game, Match, Seat


def load(game: int) -> Game:
    """Read a game with all that playing it needs, in two queries."""
    seats = Seat.objects.order_by("number").select_related("submission__bot")
    return (
        Game.objects.select_related("match")
        .prefetch_related(Prefetch("seats", seats))
        .get(pk=game)
    )


def start(match: Match) -> Torres:
    """Set the game up, as every game of the match is."""
    rules = resolve(match.ruleset, match.seats, match.switches)
    return Torres(rules, derive(rules, match.seed))


def result(game: Game, outcome: GameRecord) -> FinishedGame:
    """Return what is stored of a game that was played to its end."""
    document = outcome.replay(seed=game.match.seed, players=_players(game))
    ended: dict[str, Any] = document["result"]
    faults = {forfeit.seat: forfeit for forfeit in outcome.forfeits}
    places = [
        SeatResult(
            number=number,
            score=score,
            rank=rank,
            fault=faults[number].reason.value if number in faults else "",
            detail=faults[number].detail if number in faults else "",
        )
        for number, (score, rank) in enumerate(
            zip(ended["scores"], ended["ranks"], strict=True)
        )
    ]
    return FinishedGame(
        reason=outcome.result["reason"].value,
        engine=str(document.get("engine", "")),
        replay=replays.pack(document),
        places=places,
    )


def _players(game: Game) -> list[dict[str, Any]]:
    return [
        {
            "name": seat.submission.bot.name,
            "bot": seat.submission.bot.slug,
            "submission": seat.submission.number,
            "digest": seat.submission.digest,
        }
        for seat in game.seats.all()
    ]
