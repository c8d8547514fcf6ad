"""Translate between the rows of a game and the engine."""

from django.db.models import Prefetch

from engine.documents import PlayerEntry
from engine.game import TorresGame
from engine.referee import GameRecord
from engine.rulesets import resolve
from engine.setup import derive
from ladder.bots.models import PRIVATE
from ladder.games import facts, replays
from ladder.games.attempts import FinishedGame, SeatResult
from ladder.games.models import Game, Match, Seat


def load(game: int) -> Game:
    """Read a game with its match, seats, submissions and bots, in two queries.

    A worker may read neither replays nor what belongs to owners.
    """
    private = [f"submission__{column}" for column in PRIVATE]
    seats = Seat.objects.order_by("number").select_related("submission__bot")
    return (
        Game.objects.select_related("match__batch")
        .defer("replay")
        .prefetch_related(Prefetch("seats", seats.defer(*private)))
        .get(pk=game)
    )


def start(match: Match) -> TorresGame:
    """Return a new game. All games of a match start with the same decks."""
    rules = resolve(match.ruleset, match.seats, match.switches)
    return TorresGame(rules, derive(rules, match.seed))


def result(game: Game, record: GameRecord) -> FinishedGame:
    """Return what is stored of a game that was played to its end."""
    document = record.replay(seed=game.match.seed, players=_players(game))
    ended = document["result"]
    forfeits = {forfeit.seat: forfeit for forfeit in record.forfeits}
    seats = []
    for number, score in enumerate(ended["scores"]):
        forfeit = forfeits.get(number)
        seats.append(
            SeatResult(
                number=number,
                score=score,
                rank=ended["ranks"][number],
                fault=forfeit.reason.value if forfeit else "",
                detail=forfeit.detail if forfeit else "",
            )
        )
    return FinishedGame(
        reason=record.result["reason"].value,
        engine=str(document.get("engine", "")),
        replay=replays.pack(document),
        seats=seats,
        leaf=facts.finished_leaf(game, document),
    )


def _players(game: Game) -> list[PlayerEntry]:
    """Return the "players" of a replay (docs/contract.md, section 7)."""
    return [
        {
            "name": seat.submission.bot.name,
            "bot": seat.submission.bot.slug,
            "submission": seat.submission.number,
            "digest": seat.submission.digest,
        }
        for seat in game.seats.all()
    ]
