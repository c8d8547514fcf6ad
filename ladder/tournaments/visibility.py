"""The parts of a tournament that everybody may see.

If results are held back, nothing that follows from the result of a round is visible
before that round is revealed: neither points nor ranks, nor the pairings of the rounds
after the next one, nor how many of these there are. The pairings of the next round are
visible, because they follow only from rounds that are revealed.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

from django.db.models import Count, F, Prefetch, Q, QuerySet

from ladder.games import visibility as games
from ladder.games.models import Game
from ladder.tournaments import selectors
from ladder.tournaments.formats.config import BadConfig
from ladder.tournaments.formats.elimination import Contest, Slot
from ladder.tournaments.formats.standings import Standings
from ladder.tournaments.formats.values import FINAL, LOSERS, MAIN
from ladder.tournaments.models import (
    Entrant,
    Fixture,
    FixtureSeat,
    Tournament,
    TournamentStatus,
)

POOL_NAMES: Mapping[int, str] = {MAIN: "main", LOSERS: "losers", FINAL: "final"}


@dataclass(frozen=True, slots=True)
class VisibleSeat:
    """One entrant of a fixture. Points (as in "1/2") and score are None if unknown."""

    bot: str
    name: str
    points: str | None
    score: int | None


@dataclass(frozen=True, slots=True)
class VisibleFixture:
    """One fixture. Table and leg count from 1; match and how are None if unknown."""

    round: int
    pool: str
    table: int
    leg: int
    match: int | None
    how: str | None
    entrants: list[VisibleSeat]


@dataclass(frozen=True, slots=True)
class VisibleRound:
    """One round with its fixtures; ``known`` if its results are shown."""

    round: int
    known: bool
    fixtures: list[VisibleFixture]


@dataclass(frozen=True, slots=True)
class VisibleLine:
    """One line of the standings. ``tie_breaks`` has its values by the rule's name."""

    rank: int
    bot: str
    name: str
    seed: int | None
    points: float
    played: int
    tie_breaks: Mapping[str, float]
    withdrawn: bool
    note: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """Sentences that say why the bot ``first`` is ahead of the bot ``second``."""

    first: str
    second: str
    why: list[str]


@dataclass(frozen=True, slots=True)
class VisibleContest:
    """One contest of a bracket. A slot is a bot's slug, or None if it is empty."""

    round: int
    pool: str
    table: int
    slots: list[str | None]
    winner: str | None
    wins: list[float]
    why: str


def tournaments() -> QuerySet[Tournament]:
    """Return the announced tournaments, newest first, with their number of entrants."""
    present = Q(entrants__withdrawn_at__isnull=True)
    return (
        Tournament.objects.exclude(status=TournamentStatus.DRAFT)
        .select_related("seeding")
        .annotate(entered=Count("entrants", filter=present))
        .order_by("-id")
    )


def entrants(tournament: Tournament) -> QuerySet[Entrant]:
    """Return the entrants by seed; those without a seed come last."""
    return tournament.entrants.select_related("bot", "submission").order_by(
        F("seed").asc(nulls_last=True), "id"
    )


def is_known(tournament: Tournament, round_: int) -> bool:
    """True if the results of a round are shown."""
    return not tournament.held_back or round_ <= tournament.revealed


def last_visible_round(tournament: Tournament) -> int | None:
    """Return the last round whose pairings are shown; None if all are."""
    return tournament.revealed + 1 if tournament.held_back else None


def fixtures(tournament: Tournament) -> QuerySet[Fixture]:
    """Return the fixtures that are shown, in the order of the rounds."""
    seats = FixtureSeat.objects.order_by("number").select_related("entrant__bot")
    rows = tournament.fixtures.select_related("match")
    last = last_visible_round(tournament)
    if last is not None:
        rows = rows.filter(round__lte=last)
    return rows.prefetch_related(Prefetch("seats", seats)).order_by(
        "round", "-pool", "table", "leg"
    )


def visible_fixture(tournament: Tournament, row: Fixture) -> VisibleFixture:
    known = is_known(tournament, row.round) and bool(row.how)
    is_public = row.match is not None and not row.match.embargo
    return VisibleFixture(
        round=row.round,
        pool=POOL_NAMES.get(row.pool, f"group {row.pool}"),
        table=row.table + 1,
        leg=row.leg + 1,
        match=row.match_id if is_public else None,
        how=row.how if known else None,
        entrants=[
            VisibleSeat(
                bot=seat.entrant.bot.slug,
                name=seat.entrant.bot.name,
                points=seat.points if known else None,
                score=seat.score if known else None,
            )
            for seat in row.seats.all()
        ],
    )


def rounds(tournament: Tournament) -> list[VisibleRound]:
    """Return the rounds that are shown, each with its fixtures."""
    by_round: dict[int, list[VisibleFixture]] = {}
    for row in fixtures(tournament):
        by_round.setdefault(row.round, []).append(visible_fixture(tournament, row))
    return [
        VisibleRound(round_, is_known(tournament, round_), rows)
        for round_, rows in by_round.items()
    ]


def standings(tournament: Tournament) -> Standings | None:
    """Return the standings by the results that are shown; None before the start."""
    started = selectors.seeded_entrants(tournament)
    try:
        config = selectors.config(tournament)
    except BadConfig:
        return None
    if not started:
        return None
    records = [
        selectors.fixture_record(row, known=is_known(tournament, row.round))
        for row in fixtures(tournament)
    ]
    return Standings(config, started, records)


def lines(tournament: Tournament) -> list[VisibleLine]:
    """Return the lines of the standings, best first; none before the start."""
    order = standings(tournament)
    if order is None:
        return []
    rows = {entrant.pk: entrant for entrant in entrants(tournament)}
    return [
        VisibleLine(
            rank=line.rank,
            bot=rows[line.key].bot.slug,
            name=rows[line.key].bot.name,
            seed=rows[line.key].seed,
            points=float(line.points),
            played=line.played,
            tie_breaks={
                str(rule): float(value) for rule, value in line.tie_breaks.items()
            },
            withdrawn=rows[line.key].withdrawn_at is not None,
            note=line.note,
        )
        for line in order.lines
    ]


def ties(tournament: Tournament) -> list[Comparison]:
    """Explain each pair of neighbours in the standings that have equal points."""
    order = standings(tournament)
    if order is None:
        return []
    slugs = _slugs(tournament)
    return [
        Comparison(slugs[one.key], slugs[two.key], order.explain(one.key, two.key))
        for one, two in pairwise(order.lines)
        if one.points == two.points
    ]


def compare(tournament: Tournament, one: Entrant, two: Entrant) -> Comparison:
    """Explain what separates two entrants; no sentence if one of them did not play."""
    order = standings(tournament)
    keys = {line.key for line in order.lines} if order else set()
    why = []
    if order is not None and {one.pk, two.pk} <= keys:
        why = order.explain(one.pk, two.pk)
    return Comparison(one.bot.slug, two.bot.slug, why)


def bracket(tournament: Tournament) -> list[VisibleContest]:
    """Return the contests of an elimination that are shown; none in other formats."""
    order = standings(tournament)
    if order is None or order.bracket is None:
        return []
    slugs = _slugs(tournament)
    last = last_visible_round(tournament)
    contests = sorted(order.bracket.contests.values(), key=_page_order)
    return [
        _visible_contest(contest, slugs)
        for contest in contests
        if last is None or contest.key.round <= last
    ]


def _page_order(contest: Contest) -> tuple[int, int, int]:
    return contest.key.round, -contest.key.pool, contest.key.table


def _visible_contest(contest: Contest, slugs: Mapping[int, str]) -> VisibleContest:
    def slug(slot: Slot) -> str | None:
        return slugs.get(slot) if isinstance(slot, int) else None

    return VisibleContest(
        round=contest.key.round,
        pool=POOL_NAMES.get(contest.key.pool, ""),
        table=contest.key.table + 1,
        slots=[slug(slot) for slot in contest.slots],
        winner=slug(contest.winner),
        wins=[float(points) for points in contest.wins],
        why=contest.why,
    )


def _slugs(tournament: Tournament) -> dict[int, str]:
    return {entrant.pk: entrant.bot.slug for entrant in entrants(tournament)}


def tournament_games(tournament: Tournament) -> QuerySet[Game]:
    """Return the games of a tournament that are shown, newest first."""
    return games.games().filter(match__fixture__tournament=tournament)
