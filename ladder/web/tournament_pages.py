"""The contents of the page of a tournament, and the notices of stopped units."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db.models import QuerySet

from ladder.accounts.permissions import Person
from ladder.bots.models import Bot
from ladder.moderation.containment import Unit, UnitKind, stopped
from ladder.moderation.models import StoppedUnit
from ladder.ratings.models import Ladder
from ladder.tournaments import selectors, visibility
from ladder.tournaments.advance import unit_of
from ladder.tournaments.models import Entrant, Fixture, Tournament
from ladder.tournaments.visibility import (
    Comparison,
    VisibleContest,
    VisibleLine,
    VisibleRound,
)
from ladder.web.templatetags.formatting import spaced

GOING = (
    Tournament.Status.ENTRY,
    Tournament.Status.CHECK_IN,
    Tournament.Status.RUNNING,
)
# The names of tie-break rules that `spaced` would write wrongly.
RULES = {"sonneborn_berger": "Sonneborn-Berger"}
MAX_FIXTURES = 200
"""A tournament with more fixtures shows one round on a page."""


@dataclass(frozen=True, slots=True)
class OwnEntry:
    """One of the visitor's bots, with its entry, or None if it has not entered."""

    bot: Bot
    entrant: Entrant | None


@dataclass(frozen=True, slots=True)
class BracketSlot:
    """One side of a contest. `wins` is None before the first match."""

    bot: str | None
    name: str
    won: bool
    wins: float | None


@dataclass(frozen=True, slots=True)
class BracketContest:
    table: int
    why: str
    slots: list[BracketSlot]


@dataclass(frozen=True, slots=True)
class BracketColumn:
    """The contests of one round, one below the other."""

    round: int
    contests: list[BracketContest]


@dataclass(frozen=True, slots=True)
class BracketPart:
    """The main bracket, the losers' bracket, or the grand final."""

    name: str
    rounds: list[BracketColumn]


@dataclass(frozen=True, slots=True)
class StopNotice:
    """Says that a unit of the dispatcher is stopped. Operators see the details."""

    text: str
    details: str


@dataclass(frozen=True, slots=True)
class TournamentDetails:
    """The contents of the page of a tournament.

    `other_rounds` are the rounds that are shown on other pages, if there are too many
    fixtures for one. `mine` are the visitor's bots.
    """

    tournament: Tournament
    lines: list[VisibleLine]
    format: str
    rules: list[str]
    noted: bool
    ties: list[Comparison]
    bracket: list[BracketPart]
    rounds: list[VisibleRound]
    other_rounds: list[int]
    entrants: QuerySet[Entrant]
    mine: list[OwnEntry]
    stopped: list[StopNotice]


def tournament_details(
    tournament: Tournament, person: Person, round_: int | None
) -> TournamentDetails:
    """Return the contents of the page; `round_` is the round to show, None for any."""
    overview = visibility.overview(tournament)
    lines = overview.lines
    rules = lines[0].tie_breaks if lines else ()
    sizes = visibility.round_sizes(tournament)
    chosen = list(sizes)
    if round_ is not None:
        chosen = [round_]
    elif sum(sizes.values()) > MAX_FIXTURES:
        chosen = [visibility.current_round(tournament)]
    config = tournament.config
    form = config.get("format", "swiss") if isinstance(config, dict) else "unknown"
    return TournamentDetails(
        tournament=tournament,
        lines=lines,
        format=spaced(str(form)),
        rules=[RULES.get(rule, spaced(rule)) for rule in rules],
        noted=any(line.note for line in lines),
        ties=overview.ties,
        bracket=_bracket(overview.bracket, {line.bot: line.name for line in lines}),
        rounds=visibility.rounds(tournament, chosen),
        other_rounds=[number for number in sizes if number not in chosen],
        entrants=visibility.entrants(tournament),
        mine=_mine(tournament, person) if tournament.status in GOING else [],
        stopped=_tournament_stops(tournament, person),
    )


def _mine(tournament: Tournament, person: Person) -> list[OwnEntry]:
    if not person.is_authenticated:
        return []
    entries = {e.bot_id: e for e in tournament.entrants.filter(bot__owner=person.pk)}
    own = [
        OwnEntry(bot, entries.get(bot.pk))
        for bot in Bot.objects.filter(owner=person.pk).order_by("name")
    ]
    if tournament.status == Tournament.Status.ENTRY:
        return own
    return [row for row in own if row.entrant]


def _tournament_stops(tournament: Tournament, person: Person) -> list[StopNotice]:
    text = "The service cannot continue this tournament. Its operator was informed."
    notices = _notices(text, stopped(unit_of(tournament)), person)
    if tournament.held_back and not _is_operator(person):
        return notices  # which fixtures are played is not public yet
    waiting = selectors.fixtures_for_operators().filter(tournament=tournament)
    return notices + [_fixture_notice(fixture, person) for fixture in waiting]


def _fixture_notice(fixture: Fixture, person: Person) -> StopNotice:
    """Say that a fixture waits, because the service could not play its games."""
    games = ", ".join(str(game) for game in selectors.dead_games(fixture))
    return StopNotice(
        f"Round {fixture.round}, table {fixture.table + 1} waits for the operator: the"
        " service failed to play it.",
        f"Dead games: {games}. Repair the cause and choose “Play again” for them in the"
        " admin, or choose “Give up” for the fixture."
        if _is_operator(person)
        else "",
    )


def ladder_stops(ladder: Ladder, person: Person) -> list[StopNotice]:
    """Return the notices for the page of a ladder."""
    units = [
        Unit(kind, ladder.slug) for kind in (UnitKind.RATINGS, UnitKind.MATCHMAKING)
    ]
    text = "The service cannot continue this ladder. Its operator was informed."
    return _notices(text, stopped(*units), person)


def _notices(
    text: str, units: Sequence[StoppedUnit], person: Person
) -> list[StopNotice]:
    is_operator = _is_operator(person)
    return [
        StopNotice(text, f"{unit.error}. {unit.advice}" if is_operator else "")
        for unit in units
    ]


def _is_operator(person: Person) -> bool:
    return isinstance(person, User) and person.is_staff


def _bracket(
    contests: Sequence[VisibleContest], names: dict[str, str]
) -> list[BracketPart]:
    """Arrange the contests of an elimination by part, round and table."""
    parts: dict[str, dict[int, list[BracketContest]]] = {}
    for contest in contests:
        rounds = parts.setdefault(contest.pool, {})
        rounds.setdefault(contest.round, []).append(_contest(contest, names))
    return [
        BracketPart(name, [BracketColumn(k, rows) for k, rows in rounds.items()])
        for name, rounds in parts.items()
    ]


def _contest(contest: VisibleContest, names: dict[str, str]) -> BracketContest:
    begun = contest.winner is not None or any(contest.wins)
    nobody = "open" if contest.winner is None else "bye"
    slots = [
        BracketSlot(
            bot=bot,
            name=names.get(bot, bot) if bot else nobody,
            won=bot is not None and bot == contest.winner,
            wins=points if bot and begun else None,
        )
        for bot, points in zip(contest.slots, contest.wins, strict=True)
    ]
    return BracketContest(contest.table, contest.why, slots)
