"""Add finished tournaments, through the services that play real ones."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from random import Random

from ladder.bots.models import Bot
from ladder.games.models import Attempt, Game, GameStatus, Seat, Worker
from ladder.tournaments import advance, services
from ladder.tournaments.models import Tournament, TournamentStatus
from tests.fill.bots import FilledBot
from tests.fill.specimens import Specimen, play_specimens
from torres.runner.protocol import Limits

FORMATS = ("swiss", "round_robin", "single_elimination")
ENTRANTS = 8
RULESET = "yucata"
MANY = 1000


def add_tournaments(
    count: int, bots: Sequence[FilledBot], rng: Random, ended: datetime
) -> None:
    """Write and play `count` tournaments of two seats, of each format in turn."""
    limits = Limits().as_dict()
    specimens = play_specimens(RULESET, 2, limits, rng)
    worker = Worker.objects.create(name="fill#2", host="fill", gone_at=ended)
    for number in range(1, count + 1):
        tournament = Tournament.objects.create(
            slug=f"cup-{number}",
            name=f"Cup {number}",
            ruleset=RULESET,
            limits=limits,
            config={"format": FORMATS[number % len(FORMATS)]},
        )
        services.announce(tournament)
        for filled in rng.sample(list(bots), min(ENTRANTS, len(bots))):
            services.enter(tournament, Bot.objects.get(pk=filled.bot))
        services.start(tournament)
        while tournament.status == TournamentStatus.RUNNING:
            advance.advance(tournament)
            advance.schedule(tournament, MANY)
            waiting = Game.objects.filter(
                match__fixture__tournament=tournament, status=GameStatus.SCHEDULED
            )
            for game in waiting.defer("replay"):
                finish_game(game, rng.choice(specimens), worker, ended)
            tournament.refresh_from_db()


def finish_game(game: Game, specimen: Specimen, worker: Worker, at: datetime) -> None:
    """Give a scheduled game the result of a specimen."""
    Attempt.objects.create(
        game=game,
        fence=1,
        worker=worker,
        started_at=at - timedelta(seconds=20),
        ended_at=at,
        outcome=Attempt.Outcome.FINISHED,
    )
    for number, score in enumerate(specimen.scores):
        Seat.objects.filter(game=game, number=number).update(
            score=score, rank=specimen.ranks[number], tied=specimen.tied[number]
        )
    Game.objects.filter(pk=game.pk).update(
        status=GameStatus.FINISHED,
        fence=1,
        started_at=at - timedelta(seconds=20),
        finished_at=at,
        reason=specimen.reason,
        engine=specimen.engine,
        replay=specimen.replay,
    )
