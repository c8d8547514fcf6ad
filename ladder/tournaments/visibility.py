"""The public parts of a tournament.

If results are held back, nothing that follows from the result of a round is visible
before that round is revealed: neither points nor ranks, nor the pairings of the rounds
after the next one, nor how many of these there are. The pairings of the next round are
visible, because they follow only from rounds that are revealed.
"""

import hashlib
import secrets
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise

import structlog
from django.conf import settings
from django.core.cache import cache
from django.db.models import Count, F, Max, Min, Prefetch, Q, QuerySet

from ladder.common.garbage import collector_paused
from ladder.games import visibility as games
from ladder.games.models import Game, GameStatus
from ladder.tournaments import selectors
from ladder.tournaments.cross_tables import CrossTables, cross_tables
from ladder.tournaments.models import (
    Entrant,
    Fixture,
    FixtureSeat,
    Tournament,
    TournamentStatus,
)
from torres.common.errors import LadderError
from torres.formats.elimination import Contest, Slot
from torres.formats.standings import Standings
from torres.formats.values import FINAL, LOSERS, MAIN, FixtureRecord

EntrantRows = Mapping[int, Entrant]
"""The entrants of a tournament with their bots, by primary key."""

POOL_NAMES: Mapping[int, str] = {MAIN: "main", LOSERS: "losers", FINAL: "final"}


OVERVIEW_COST_FACTOR = 10
MAX_OVERVIEW_AGE_S = 60.0
"""Names of bots on an overview are at most this old, even if no result is added."""

log = structlog.get_logger()


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
    id: int
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


@dataclass(frozen=True, slots=True)
class Overview:
    """Standings, ties, bracket and cross tables, from all results that are shown.

    Two with the same `key` are equal, unless it is empty: then this one is not cached.
    """

    lines: list[VisibleLine]
    ties: list[Comparison]
    bracket: list[VisibleContest]
    cross_tables: CrossTables
    key: str = ""


@dataclass(frozen=True, slots=True)
class RoundProgress:
    """The number of matches with a result, in a round or in all (``round`` 0)."""

    round: int
    decided: int
    total: int


def tournaments() -> QuerySet[Tournament]:
    """Return the announced tournaments, newest first, with their number of entrants."""
    return with_drafts().exclude(status=TournamentStatus.DRAFT)


def with_drafts() -> QuerySet[Tournament]:
    """Return all tournaments. Only organisers and operators may see the drafts."""
    present = Q(entrants__withdrawn_at__isnull=True)
    return (
        Tournament.objects.select_related("seeding", "organiser")
        .annotate(entered=Count("entrants", filter=present))
        .order_by("-id")
    )


def listed() -> QuerySet[Tournament]:
    """Return the announced tournaments that are not archived."""
    return tournaments().filter(archived_at=None)


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


_SHOWN_SEATS = "shown_seats"


def fixtures(tournament: Tournament) -> QuerySet[Fixture]:
    """Return the fixtures that are shown, in the order of the rounds.

    Of a round that is not known, only the first match of each contest is shown: that
    there is another one would tell the result of the first.
    """
    # Rows of entrants, bots and matches, and a queryset for each fixture, take several
    # times as long.
    seats = FixtureSeat.objects.order_by("number").annotate(
        bot=F("entrant__bot__slug"), name=F("entrant__bot__name")
    )
    shown = Prefetch("seats", seats, to_attr=_SHOWN_SEATS)
    rows = tournament.fixtures.annotate(embargo=F("match__embargo"))
    if tournament.held_back:
        revealed = tournament.revealed
        rows = rows.filter(Q(round__lte=revealed) | Q(round=revealed + 1, leg=0))
    return rows.prefetch_related(shown).order_by("round", "-pool", "table", "leg")


def _visible_fixture(tournament: Tournament, row: Fixture) -> VisibleFixture:
    known = is_known(tournament, row.round) and bool(row.how)
    is_public = getattr(row, "embargo", None) is False  # None: there is no match
    return VisibleFixture(
        round=row.round,
        pool=POOL_NAMES.get(row.pool, f"group {row.pool}"),
        table=row.table + 1,
        leg=row.leg + 1,
        match=row.match_id if is_public else None,
        how=row.how if known else None,
        entrants=[
            VisibleSeat(
                bot=seat.bot,
                name=seat.name,
                points=seat.points if known else None,
                score=seat.score if known else None,
            )
            for seat in getattr(row, _SHOWN_SEATS)
        ],
    )


def round_sizes(tournament: Tournament) -> dict[int, int]:
    """Return the number of fixtures that are shown, by round."""
    rows = fixtures(tournament).order_by().values_list("round")
    return dict(rows.annotate(count=Count("pk")).order_by("round"))


def current_round(tournament: Tournament) -> int:
    """Return the first round that is not decided, or the last one that is shown.

    While results are held back it is always the last one, because the other would tell
    that a round is over.
    """
    shown = fixtures(tournament).order_by()
    undecided = shown.filter(how="").aggregate(first=Min("round"))["first"]
    waiting = None if tournament.held_back else undecided
    return waiting or shown.aggregate(last=Max("round"))["last"] or 1


def is_complete(tournament: Tournament) -> bool:
    """True if the tournament is finished and the results of all rounds are shown."""
    if tournament.status != TournamentStatus.FINISHED:
        return False
    hidden = tournament.fixtures.filter(round__gt=tournament.revealed)
    return not (tournament.held_back and hidden.exists())


def progress(
    tournament: Tournament, sizes: Mapping[int, int], *, by_round: bool
) -> RoundProgress | None:
    """Return how many matches of the present round, or of all rounds, are decided.

    ``sizes`` are the `round_sizes`. None if the tournament does not run, or if its
    results are held back, because the numbers would tell which matches are over.
    """
    if tournament.held_back or tournament.status != TournamentStatus.RUNNING:
        return None
    undecided = tournament.fixtures.filter(how="")
    round_ = 0
    total = sum(sizes.values())
    if by_round:
        round_ = current_round(tournament)
        undecided = undecided.filter(round=round_)
        total = sizes.get(round_, 0)
    return RoundProgress(round_, max(0, total - undecided.count()), total)


def rounds(tournament: Tournament, only: Collection[int]) -> list[VisibleRound]:
    """Return those of the rounds ``only`` that are shown, each with its fixtures."""
    by_round: dict[int, list[VisibleFixture]] = {}
    for row in fixtures(tournament).filter(round__in=only):
        by_round.setdefault(row.round, []).append(_visible_fixture(tournament, row))
    return [
        VisibleRound(round_, is_known(tournament, round_), rows)
        for round_, rows in by_round.items()
    ]


def standings(tournament: Tournament) -> Standings | None:
    """Return the standings by the results that are shown; None before the start.

    None also if the rows contradict each other, because somebody changed them with SQL:
    then the tournament is stopped, and its page must still work.
    """
    started = selectors.seeded_entrants(tournament)
    if not started:
        return None
    try:
        config = selectors.config(tournament)
        return Standings(
            config,
            started,
            _known_records(tournament),
            groups_are_known=_groups_are_known(tournament),
        )
    except (LadderError, ArithmeticError, LookupError, TypeError, ValueError) as error:
        log.warning("standings fail", tournament=tournament.slug, exc_info=error)
        return None


def _known_records(tournament: Tournament) -> list[FixtureRecord]:
    """Return the fixtures that are shown, with the results that are known."""
    if not tournament.held_back:
        return list(selectors.fixture_records(tournament).values())
    revealed = tournament.revealed
    records = selectors.fixture_records(tournament, known_rounds=revealed)
    return [
        record
        for record in records.values()
        if record.key.round <= revealed
        or (record.key.round == revealed + 1 and record.key.leg == 0)
    ]


def _groups_are_known(tournament: Tournament) -> bool:
    """True if the results of all rounds of the groups are shown."""
    hidden = tournament.fixtures.filter(pool__gt=MAIN, round__gt=tournament.revealed)
    return not (tournament.held_back and hidden.exists())


def overview(tournament: Tournament) -> Overview:
    """Return what follows from all results, cached until a result is added.

    The standings of a round robin of 200 are expensive, so they may be a little late:
    by TORRES_FRESH_SECONDS, or by OVERVIEW_COST_FACTOR times what they cost.
    """
    fresh_s = settings.TORRES_FRESH_SECONDS
    if not fresh_s:
        return _overview(tournament)
    recent_key = f"tournament-overview-{tournament.pk}"
    known: Overview | None = cache.get(cache.get(recent_key, ""))
    if known is not None:
        return known
    started = time.monotonic()
    key = f"{recent_key}-{_version(tournament)}"
    known = cache.get(key)
    if known is None:
        known = replace(_overview(tournament), key=secrets.token_hex(16))
        cache.set(key, known, MAX_OVERVIEW_AGE_S)
    cost_s = time.monotonic() - started
    cache.set(recent_key, key, max(fresh_s, OVERVIEW_COST_FACTOR * cost_s))
    return known


@collector_paused()
def _overview(tournament: Tournament) -> Overview:
    order = standings(tournament)
    if order is None:
        return Overview([], [], [], CrossTables([], 0))
    columns = ("tournament", "seed", "withdrawn_at", "bot_id", "bot__slug", "bot__name")
    entered = tournament.entrants.select_related("bot").only(*columns)
    rows = {row.pk: row for row in entered.order_by()}
    known_rounds = tournament.revealed if tournament.held_back else None
    return Overview(
        _lines(order, rows),
        _ties(order, rows),
        _bracket(order, rows, last_visible_round(tournament)),
        cross_tables(tournament, order, rows, known_rounds),
    )


def _version(tournament: Tournament) -> str:
    """Return a text that changes with everything on which an overview depends."""
    fixtures = tournament.fixtures.aggregate(
        count=Count("pk"), decided=Count("decided_at"), last=Max("decided_at")
    )
    left = tournament.entrants.aggregate(
        count=Count("withdrawn_at"), last=Max("withdrawn_at")
    )
    parts = (tournament.status, tournament.revealed, *fixtures.values(), *left.values())
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def _lines(order: Standings, rows: EntrantRows) -> list[VisibleLine]:
    """Return the lines of the standings, best first."""
    return [
        VisibleLine(
            rank=line.rank,
            id=rows[line.key].bot_id,
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


def _ties(order: Standings, rows: EntrantRows) -> list[Comparison]:
    """Explain each pair of neighbours in the standings that have equal points."""
    return [
        Comparison(
            rows[one.key].bot.slug,
            rows[two.key].bot.slug,
            order.explain(one.key, two.key),
        )
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


def _bracket(
    order: Standings, rows: EntrantRows, last: int | None
) -> list[VisibleContest]:
    """Return the contests up to the round ``last``; none if there is no bracket."""
    if order.bracket is None:
        return []
    slugs = {key: row.bot.slug for key, row in rows.items()}
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


def tournament_games(tournament: Tournament) -> QuerySet[Game]:
    """Return the games of a tournament that are shown, newest first."""
    return games.games().filter(match__fixture__tournament=tournament)


def running_games(tournament: Tournament) -> QuerySet[Game]:
    """Return the games of a tournament that run and are shown, newest first."""
    rows = games.running_games().filter(match__fixture__tournament=tournament)
    return rows.select_related("match__fixture")


def first_games(tournament: Tournament) -> QuerySet[Game]:
    """Return the games that are shown of the first match of each first contest.

    That they were played follows from no result.
    """
    first = Fixture.objects.filter(tournament=tournament, round=1, leg=0)
    rows = games.game_keys().filter(match__fixture__in=first).only("id", "match_id")
    not_shown = (GameStatus.CANCELLED, GameStatus.VOIDED)
    return rows.exclude(status__in=not_shown).order_by("id")
