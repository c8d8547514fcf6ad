"""Queries about tournaments, and the conversion of rows into values of `formats`."""

from collections import defaultdict
from datetime import timedelta
from fractions import Fraction
from functools import lru_cache

from django.db.models import (
    Count,
    Exists,
    F,
    OuterRef,
    Prefetch,
    Q,
    QuerySet,
)
from django.db.models.lookups import GreaterThan

from ladder.bots.models import GONE, Bot
from ladder.games.models import OPEN, Game, GameStatus, Match, Seat
from ladder.games.services import RETRY_DELAYS
from ladder.tournaments.models import (
    Entrant,
    Fixture,
    FixtureSeat,
    Tournament,
    TournamentStatus,
)
from torres.formats.config import BadConfig, Config, read_config
from torres.formats.values import (
    FixtureKey,
    FixtureRecord,
    FixtureResult,
    GameResult,
    ResultKind,
    SeededEntrant,
    match_result,
)

MAX_RETRIES = len(RETRY_DELAYS)
"""Dead games are played again this often without an operator."""
DECISION_MARGIN = timedelta(seconds=10)


def config(tournament: Tournament) -> Config:
    """Return the configuration. Raises BadConfig."""
    return read_config(tournament.config)


def running() -> QuerySet[Tournament]:
    """Return the tournaments that run, without those that are paused."""
    return Tournament.objects.filter(
        status=TournamentStatus.RUNNING, paused_at=None
    ).order_by("pk")


def started_entrants(tournament: Tournament) -> QuerySet[Entrant]:
    """Return the entrants that were present at the start, the best seed first."""
    return tournament.entrants.exclude(submission=None).order_by("seed")


def seeded_entrants(tournament: Tournament) -> list[SeededEntrant]:
    """Return the entrants as `formats` knows them; the key is the primary key."""
    rows = started_entrants(tournament).values_list(
        "pk", "seed", "withdrawn_at", "final_seed"
    )
    return [
        SeededEntrant(pk, seed or 0, withdrawn_at is not None, final_seed)
        for pk, seed, withdrawn_at, final_seed in rows
    ]


def fixture_rows(tournament: Tournament) -> QuerySet[Fixture]:
    return tournament.fixtures.prefetch_related(
        Prefetch("seats", FixtureSeat.objects.order_by("number"))
    )


def fixture_key(row: Fixture) -> FixtureKey:
    return FixtureKey(row.round, row.pool, row.table, row.leg)


def fixture_records(
    tournament: Tournament, *, known_rounds: int | None = None
) -> dict[int, FixtureRecord]:
    """Return the fixtures as `formats` knows them, by primary key.

    With ``known_rounds`` the results of later rounds are left out. A round robin of 200
    has 19,900 fixtures, so this reads plain values.
    """
    seats: dict[int, list[tuple[int, str, int]]] = defaultdict(list)
    rows = FixtureSeat.objects.filter(entrant__tournament=tournament).values_list(
        "fixture_id", "entrant_id", "points", "score"
    )
    for fixture, entrant, point, score in rows.order_by("fixture", "number"):
        seats[fixture].append((entrant, point, score))
    records = {}
    fixtures = tournament.fixtures.order_by("pk").values_list(
        "pk", "round", "pool", "table", "leg", "how"
    )
    for pk, round_, pool, table, leg, how in fixtures:
        entrants, points, scores = zip(*seats[pk], strict=True)
        result = None
        if how and (known_rounds is None or round_ <= known_rounds):
            result = FixtureResult(ResultKind(how), _fractions(points), scores)
        key = FixtureKey(round_, pool, table, leg)
        records[pk] = FixtureRecord(key, entrants, result)
    return records


@lru_cache(maxsize=1024)
def _fractions(texts: tuple[str, ...]) -> tuple[Fraction, ...]:
    """Return the points of a result. Most results share one of a few such objects."""
    return tuple(Fraction(text or 0) for text in texts)


# The queries that decide whether `advance` has work to do for a tournament.


def needing_a_look() -> QuerySet[Tournament]:
    """Return the running tournaments for which `advance` has something to do."""
    fixtures = Fixture.objects.filter(tournament=OuterRef("pk"))
    return running().filter(
        ~Exists(fixtures.filter(how=""))
        | Exists(_completed(fixtures))
        | Exists(_with_dead_games(fixtures))
        | Exists(_seats_of_leavers(OuterRef("pk")))
        | Exists(_replacements(OuterRef("pk")))
        | Exists(_banned(OuterRef("pk")))
    )


def _games(*statuses: GameStatus) -> QuerySet[Game]:
    """Return the games with these statuses of the match of an outer fixture."""
    return Game.objects.filter(match=OuterRef("match"), status__in=statuses)


def _completed(fixtures: QuerySet[Fixture]) -> QuerySet[Fixture]:
    """Return the open fixtures with a match of which each game has a result."""
    unplayed = _games(*OPEN, GameStatus.DEAD)
    return fixtures.filter(~Exists(unplayed), how="", match__isnull=False)


def _with_dead_games(fixtures: QuerySet[Fixture]) -> QuerySet[Fixture]:
    """Return the open fixtures whose only unplayed games are dead ones."""
    return fixtures.filter(
        ~Exists(_games(*OPEN)),
        Exists(_games(GameStatus.DEAD)),
        how="",
        match__isnull=False,
    )


def _seats_of_leavers(tournament: OuterRef | int) -> QuerySet[FixtureSeat]:
    """Return the leavers' seats at open fixtures that at most one other still plays.

    The query starts at the leavers, because a round robin has thousands of fixtures.
    """
    present = FixtureSeat.objects.filter(
        fixture=OuterRef("fixture"), entrant__withdrawn_at__isnull=True
    )
    return FixtureSeat.objects.filter(
        ~Exists(present.order_by("pk")[1:2]),
        entrant__tournament=tournament,
        entrant__withdrawn_at__isnull=False,
        fixture__how="",
    )


def _replacements(tournament: OuterRef | int) -> QuerySet[Game]:
    """Return the games that replace a voided one and may change a decided fixture.

    The margin covers a game that was voided while its fixture was decided.
    """
    ended_later = GreaterThan(
        F("finished_at") + DECISION_MARGIN, F("match__fixture__decided_at")
    )
    return Game.objects.filter(
        Q(status__in=OPEN) | Q(ended_later, status=GameStatus.FINISHED),
        replaces__isnull=False,
        match__fixture__tournament=tournament,
        match__fixture__how=ResultKind.PLAYED,
    )


def _banned(tournament: OuterRef | int) -> QuerySet[Entrant]:
    return Entrant.objects.filter(
        tournament=tournament,
        submission__isnull=False,
        withdrawn_at=None,
        bot__in=Bot.objects.filter(GONE),
    )


def completed_fixtures(tournament: Tournament) -> QuerySet[Fixture]:
    """Return the open fixtures with a match of which each game has a result."""
    return _completed(fixture_rows(tournament))


def new_results(tournament: Tournament, config: Config) -> dict[int, FixtureResult]:
    """Return the results of `completed_fixtures`, by primary key."""
    rows = completed_fixtures(tournament)
    return {row.pk: result_of_match(row, config) for row in rows}


def result_of_match(row: Fixture, config: Config) -> FixtureResult:
    """Return the result of a fixture from the finished games of its match."""
    seats = list(row.seats.select_related("entrant"))
    positions = {seat.entrant.submission_id or 0: k for k, seat in enumerate(seats)}
    assert row.match is not None  # only fixtures with a match are completed
    results = game_results(row.match, positions)
    return match_result(len(seats), results, config.points)


def fixtures_with_dead_games(tournament: Tournament) -> QuerySet[Fixture]:
    """Return the open fixtures whose only unplayed games are dead ones."""
    return _with_dead_games(fixture_rows(tournament)).select_related("tournament")


def has_open_fixture_of_leaver(tournament: Tournament) -> bool:
    """True if a walkover is to be decided."""
    return _seats_of_leavers(tournament.pk).exists()


def corrected_fixtures(tournament: Tournament) -> list[Fixture]:
    """Return the decided fixtures that may have to take another result."""
    rows = fixture_rows(tournament).select_related("match")
    matches = _replacements(tournament.pk).values("match")
    return list(rows.filter(match__in=matches))


def has_open_games(fixture: Fixture) -> bool:
    return Game.objects.filter(match=fixture.match_id, status__in=OPEN).exists()


def banned_entrants(tournament: Tournament) -> QuerySet[Entrant]:
    """Return the entrants that play although their bot was banned or has no owner."""
    return _banned(tournament.pk)


def dead_games(fixture: Fixture) -> list[int]:
    """Return the games of a fixture that the service failed to play."""
    games = Game.objects.filter(match=fixture.match_id, status=GameStatus.DEAD)
    return list(games.values_list("pk", flat=True))


def fixtures_for_operators() -> QuerySet[Fixture]:
    """Return the fixtures that the service could not play and does not try again."""
    rows = Fixture.objects.filter(tournament__status=TournamentStatus.RUNNING)
    given_up = rows.filter(retries__gte=MAX_RETRIES)
    return _with_dead_games(given_up).select_related("tournament", "match")


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


# Games.


def fixtures_without_match(tournament: Tournament) -> QuerySet[Fixture]:
    """Return the open fixtures for which no match is scheduled yet, in order."""
    seats = FixtureSeat.objects.order_by("number").select_related(
        "entrant__submission", "entrant__bot"
    )
    return (
        tournament.fixtures.filter(how="", match=None)
        .order_by("round", "table", "pool", "leg")
        .prefetch_related(Prefetch("seats", seats))
    )


def waiting_beside(fixture: Fixture) -> QuerySet[Fixture]:
    """Return the open fixtures without a match of a fixture's round, itself included.

    Of the matches of one contest they have only the same one of each, because two bots
    should not play the same deal again.
    """
    waiting = fixtures_without_match(fixture.tournament)
    return waiting.filter(round=fixture.round, leg=fixture.leg)


def open_games() -> int:
    """Return the number of scheduled and running games of all tournaments."""
    return Game.objects.filter(status__in=OPEN, match__fixture__isnull=False).count()


def games_to_play() -> int:
    """Count the games of open fixtures of the tournaments that run.

    A fixture counts in full until it is decided. A round that the plan has not added
    yet counts nothing, because it cannot be played. A tournament whose row is wrong
    counts nothing either, because the dispatcher has stopped it.
    """
    open_fixtures = Fixture.objects.filter(how="", tournament__in=running())
    # Without a join, so that an index holds all that the count reads.
    counts = open_fixtures.order_by().values_list("tournament").annotate(Count("pk"))
    fixtures = dict(counts)
    games = 0
    for tournament in Tournament.objects.filter(pk__in=fixtures):
        try:
            terms = config(tournament)
        except BadConfig:
            continue
        games += fixtures[tournament.pk] * (terms.seats if terms.duplicate else 1)
    return games
