"""The rows of a tournament, read as the values that are folded."""

from fractions import Fraction

from django.db.models import Exists, OuterRef, Prefetch, QuerySet

from ladder.games.models import OPEN, Game, GameStatus, Match, Seat
from ladder.tournaments.formats import values
from ladder.tournaments.formats.config import Config, read
from ladder.tournaments.formats.values import FixtureKey, FixtureResult, GameResult, How
from ladder.tournaments.models import (
    Entrant,
    Fixture,
    FixtureSeat,
    Tournament,
    TournamentStatus,
)


def config(tournament: Tournament) -> Config:
    return read(tournament.config)


def running() -> QuerySet[Tournament]:
    return Tournament.objects.filter(status=TournamentStatus.RUNNING).order_by("pk")


def started(tournament: Tournament) -> QuerySet[Entrant]:
    """List those who were there at the start, the best seed first."""
    return tournament.entrants.exclude(submission=None).order_by("seed")


def field(tournament: Tournament) -> list[values.SeededEntrant]:
    """Return the entrants as the fold knows them; the key is the row's."""
    rows = started(tournament).values_list("pk", "seed", "withdrawn_at")
    return [
        values.SeededEntrant(pk, seed or 0, left=withdrawn is not None)
        for pk, seed, withdrawn in rows
    ]


def fixture_rows(tournament: Tournament) -> QuerySet[Fixture]:
    return tournament.fixtures.prefetch_related(
        Prefetch("chairs", FixtureSeat.objects.order_by("number"))
    )


def folded(row: Fixture, *, known: bool = True) -> values.FixtureRecord:
    """Return a row as the fold knows it; without its outcome if it is not ``known``."""
    chairs = list(row.chairs.all())
    outcome = None
    if row.how and known:
        outcome = FixtureResult(
            How(row.how),
            tuple(Fraction(chair.points) for chair in chairs),
            tuple(chair.score for chair in chairs),
        )
    return values.FixtureRecord(
        place(row), tuple(c.entrant_id for c in chairs), outcome
    )


def place(row: Fixture) -> FixtureKey:
    return FixtureKey(row.round, row.pool, row.table, row.leg)


def played_out(tournament: Tournament) -> QuerySet[Fixture]:
    """List open fixtures none of whose games is still to come."""
    waiting = Game.objects.filter(match=OuterRef("match"), status__in=OPEN)
    return fixture_rows(tournament).filter(
        ~Exists(waiting), how="", match__isnull=False
    )


def waits_for_nobody(tournament: Tournament) -> bool:
    """Tell whether an open fixture has an entrant who left."""
    left = FixtureSeat.objects.filter(
        fixture=OuterRef("pk"), entrant__withdrawn_at__isnull=False
    )
    return tournament.fixtures.filter(Exists(left), how="").exists()


def voided_since(tournament: Tournament) -> QuerySet[Fixture]:
    """List decided fixtures of the last round with a game that is played again."""
    last = tournament.fixtures.order_by("-round").values("round")[:1]
    again = Game.objects.filter(match=OuterRef("match"), status__in=OPEN)
    return tournament.fixtures.filter(Exists(again), how=How.PLAYED, round=last)


def results(match: Match, entrants: dict[int, int]) -> list[GameResult]:
    """Return the finished games of a match.

    ``entrants`` maps a submission to the position of its entrant in the fixture.
    """
    games = Game.objects.filter(match=match, status=GameStatus.FINISHED)
    seats = Prefetch("seats", Seat.objects.order_by("number"))
    return [
        _result(game, entrants)
        for game in games.defer("replay").prefetch_related(seats).order_by("index")
    ]


def _result(game: Game, entrants: dict[int, int]) -> GameResult:
    ranks: list[int | None] = [None] * len(entrants)
    scores: list[int | None] = [None] * len(entrants)
    forfeits = set()
    for seat in game.seats.all():
        position = entrants[seat.submission_id]
        ranks[position], scores[position] = seat.rank, seat.score
        if seat.fault:
            forfeits.add(position)
    return GameResult(tuple(ranks), tuple(scores), frozenset(forfeits))


def waiting(tournament: Tournament) -> QuerySet[Fixture]:
    """List open fixtures without a match, in the order of their turn."""
    chairs = FixtureSeat.objects.order_by("number").select_related(
        "entrant__submission"
    )
    return (
        tournament.fixtures.filter(how="", match=None)
        .order_by("round", "table", "pool", "leg")
        .prefetch_related(Prefetch("chairs", chairs))
    )


def open_games() -> int:
    """Count the games of all tournaments that are to be played or being played."""
    return Game.objects.filter(status__in=OPEN, match__fixture__isnull=False).count()
