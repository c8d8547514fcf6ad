"""Queries about tournaments, and the conversion of rows into values of `formats`."""

from fractions import Fraction

from django.db.models import Exists, OuterRef, Prefetch, QuerySet

from ladder.games.models import OPEN, Game, GameStatus, Match, Seat
from ladder.tournaments.formats.config import Config, read_config
from ladder.tournaments.formats.values import (
    FixtureKey,
    FixtureRecord,
    FixtureResult,
    GameResult,
    ResultKind,
    SeededEntrant,
)
from ladder.tournaments.models import (
    Entrant,
    Fixture,
    FixtureSeat,
    Tournament,
    TournamentStatus,
)


def config(tournament: Tournament) -> Config:
    """Return the configuration. Raises BadConfig."""
    return read_config(tournament.config)


def running() -> QuerySet[Tournament]:
    return Tournament.objects.filter(status=TournamentStatus.RUNNING).order_by("pk")


def started_entrants(tournament: Tournament) -> QuerySet[Entrant]:
    """Return the entrants that were present at the start, the best seed first."""
    return tournament.entrants.exclude(submission=None).order_by("seed")


def seeded_entrants(tournament: Tournament) -> list[SeededEntrant]:
    """Return the entrants as `formats` knows them; the key is the primary key."""
    rows = started_entrants(tournament).values_list("pk", "seed", "withdrawn_at")
    return [
        SeededEntrant(pk, seed or 0, left=withdrawn_at is not None)
        for pk, seed, withdrawn_at in rows
    ]


def fixture_rows(tournament: Tournament) -> QuerySet[Fixture]:
    return tournament.fixtures.prefetch_related(
        Prefetch("seats", FixtureSeat.objects.order_by("number"))
    )


def fixture_key(row: Fixture) -> FixtureKey:
    return FixtureKey(row.round, row.pool, row.table, row.leg)


def fixture_record(row: Fixture, *, known: bool = True) -> FixtureRecord:
    """Return a fixture as `formats` knows it, without its result unless ``known``."""
    seats = list(row.seats.all())
    result = None
    if row.how and known:
        result = FixtureResult(
            ResultKind(row.how),
            tuple(Fraction(seat.points) for seat in seats),
            tuple(seat.score for seat in seats),
        )
    return FixtureRecord(
        fixture_key(row), tuple(seat.entrant_id for seat in seats), result
    )


def completed_fixtures(tournament: Tournament) -> QuerySet[Fixture]:
    """Return the open fixtures with a match of which no game is open."""
    open_games = Game.objects.filter(match=OuterRef("match"), status__in=OPEN)
    return fixture_rows(tournament).filter(
        ~Exists(open_games), how="", match__isnull=False
    )


def has_open_fixture_of_leaver(tournament: Tournament) -> bool:
    """True if an entrant of an open fixture has left."""
    leavers = FixtureSeat.objects.filter(
        fixture=OuterRef("pk"), entrant__withdrawn_at__isnull=False
    )
    return tournament.fixtures.filter(Exists(leavers), how="").exists()


def fixtures_to_reopen(tournament: Tournament) -> QuerySet[Fixture]:
    """Return the decided fixtures of the last round that have an open game again.

    That is so after a finished game was voided: its replacement is open.
    """
    last_round = tournament.fixtures.order_by("-round").values("round")[:1]
    open_games = Game.objects.filter(match=OuterRef("match"), status__in=OPEN)
    return tournament.fixtures.filter(
        Exists(open_games), how=ResultKind.PLAYED, round=last_round
    )


def game_results(match: Match, positions: dict[int, int]) -> list[GameResult]:
    """Return the results of the finished games of a match.

    ``positions`` maps a submission to the position of its entrant in the fixture.
    """
    games = Game.objects.filter(match=match, status=GameStatus.FINISHED)
    seats = Prefetch("seats", Seat.objects.order_by("number"))
    return [
        _game_result(game, positions)
        for game in games.defer("replay").prefetch_related(seats).order_by("index")
    ]


def _game_result(game: Game, positions: dict[int, int]) -> GameResult:
    ranks: list[int | None] = [None] * len(positions)
    scores: list[int | None] = [None] * len(positions)
    forfeits = set()
    for seat in game.seats.all():
        position = positions[seat.submission_id]
        ranks[position] = seat.rank
        scores[position] = seat.score
        if seat.fault:
            forfeits.add(position)
    return GameResult(tuple(ranks), tuple(scores), frozenset(forfeits))


def fixtures_without_match(tournament: Tournament) -> QuerySet[Fixture]:
    """Return the open fixtures for which no match is scheduled yet, in order."""
    seats = FixtureSeat.objects.order_by("number").select_related("entrant__submission")
    return (
        tournament.fixtures.filter(how="", match=None)
        .order_by("round", "table", "pool", "leg")
        .prefetch_related(Prefetch("seats", seats))
    )


def open_games() -> int:
    """Return the number of scheduled and running games of all tournaments."""
    return Game.objects.filter(status__in=OPEN, match__fixture__isnull=False).count()
