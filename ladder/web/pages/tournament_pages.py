"""The contents of the page of a tournament, and the notices of stopped units."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User
from django.core.cache import cache
from django.template.loader import render_to_string
from django.utils.translation import get_language, gettext as _, pgettext_lazy

from ladder.accounts.roles import Person
from ladder.bots.models import Bot
from ladder.games.models import Game
from ladder.moderation.models import StoppedUnit
from ladder.ratings.models import Ladder
from ladder.service.containment import Unit, UnitKind, stopped
from ladder.tournaments import selectors, visibility
from ladder.tournaments.advance import unit_of
from ladder.tournaments.cross_tables import CrossTables
from ladder.tournaments.models import Entrant, Fixture, Tournament
from ladder.tournaments.visibility import (
    Overview,
    VisibleFixture,
    VisibleLine,
    VisibleRound,
)
from ladder.web.pages.brackets import bracket, is_won
from ladder.web.pages.tournament_steps import (
    ProgressLine,
    progress_line,
    scheduled_steps,
    waits_for_organiser,
)
from ladder.web.templatetags.formatting import spaced
from torres.formats.config import ELIMINATIONS, BadConfig

GOING = (
    Tournament.Status.ENTRY,
    Tournament.Status.CHECK_IN,
    Tournament.Status.RUNNING,
)
# The names of tie-break rules that `spaced` would write wrongly.
RULES = {"sonneborn_berger": "Sonneborn-Berger"}
MAX_FIXTURES = 200
"""A tournament with more fixtures shows one round on a page."""
PLACES = {
    1: pgettext_lazy("place", "First"),
    2: pgettext_lazy("place", "Second"),
    3: pgettext_lazy("place", "Third"),
}
MAX_SHARING = 6  # entrants on one place of the podium
MAX_RUNNING = 50  # games that run now
NO_RESULTS = Overview([], [], [], CrossTables([], 0))
RENEW_S = {
    Tournament.Status.ENTRY: 30,
    Tournament.Status.CHECK_IN: 30,
    Tournament.Status.RUNNING: 10,
}
"""The page renews itself after this many seconds."""


@dataclass(frozen=True, slots=True)
class PodiumPlace:
    """The entrants of one of the ranks 1 to 3. `more` counts those without a name."""

    rank: int
    title: str
    lines: list[VisibleLine]
    more: int


@dataclass(frozen=True, slots=True)
class RoundTable:
    """One round; `known` if its results are shown.

    `rows` are its fixtures, each with the games of its match that are listed.
    """

    round: int
    known: bool
    rows: list[tuple[VisibleFixture, list[Game]]]


@dataclass(frozen=True, slots=True)
class StopNotice:
    """Says that a unit of the dispatcher is stopped. Operators see the details."""

    text: str
    details: str


def tournament_details(
    tournament: Tournament, person: Person, round_: int | None, *, hides: bool = False
) -> dict[str, Any]:
    """Return the contents of the page; `round_` is the round to show, None for any.

    `results` has the standings, the bracket and the cross tables as HTML; it is empty
    before the start. `other_rounds` are the rounds that are shown on other pages, if
    there are too many fixtures for one. `mine` are the visitor's bots. The page renews
    itself every `renew_s` seconds, if that is not 0.

    If it hides results it shows what a tournament shows that holds all of them back.
    The games of the first round are then listed whether they run or not.
    """
    if hides:  # nothing is saved
        tournament.held_back, tournament.revealed = True, 0
    overview = NO_RESULTS if hides else visibility.overview(tournament)
    sizes = visibility.round_sizes(tournament)
    chosen = list(sizes)
    if round_ is not None:
        chosen = [round_]
    elif sum(sizes.values()) > MAX_FIXTURES:
        chosen = [visibility.current_round(tournament)]
    running = list(visibility.running_games(tournament)[: MAX_RUNNING + 1])
    listed = running
    if hides:
        listed = list(visibility.first_games(tournament)[:MAX_FIXTURES])
        running = [game for game in running if game in listed]
    return {
        "tournament": tournament,
        "results": _results(tournament, overview),
        "format": format_name(tournament),
        "podium": _podium(overview.lines) if visibility.is_complete(tournament) else [],
        "steps": scheduled_steps(tournament),
        "waits_for": waits_for_organiser(tournament),
        "progress": _progress(tournament, sizes, overview),
        "running": running[:MAX_RUNNING],
        "more_running": len(running) > MAX_RUNNING,
        "rounds": [
            _round_table(each, listed) for each in visibility.rounds(tournament, chosen)
        ],
        "other_rounds": [number for number in sizes if number not in chosen],
        "entrants": visibility.entrants(tournament),
        "mine": _mine(tournament, person) if tournament.status in GOING else [],
        "stopped": _tournament_stops(tournament, person),
        "renew_s": RENEW_S.get(Tournament.Status(tournament.status), 0),
    }


def format_name(tournament: Tournament) -> str:
    """Return the name of the format, for example "Round robin"."""
    config = tournament.config
    form = config.get("format", "swiss") if isinstance(config, dict) else "unknown"
    return spaced(str(form))


def _results(tournament: Tournament, overview: Overview) -> str:
    """Return the standings, the bracket and the cross tables as HTML.

    They are the same for every visitor, and half of the page's time, so they are cached
    as long as the overview.
    """
    if not overview.lines:
        return ""
    stored_as = f"tournament-results-{overview.key}-{get_language()}"
    known: str | None = cache.get(stored_as) if overview.key else None
    if known is None:
        known = render_to_string("web/_results.html", _shown(tournament, overview))
        if overview.key:
            cache.set(stored_as, known, visibility.MAX_OVERVIEW_AGE_S)
    return known


def _shown(tournament: Tournament, overview: Overview) -> dict[str, object]:
    """Return what the template of the results shows.

    `lines` are those of the standings, each with a value or None for each tie-break
    rule. The finalists of groups have none, because the bracket ranks them.
    `bracket_won` if the bracket shows the winner of the tournament, and `at_tables` if
    matches have more than two seats.
    """
    lines = overview.lines
    rules = max((line.tie_breaks for line in lines), key=len, default={})
    parts = bracket(overview.bracket, {line.bot: line.name for line in lines})
    config = tournament.config
    return {
        "lines": [
            (line, [line.tie_breaks.get(rule) for rule in rules]) for line in lines
        ],
        "rules": [RULES.get(rule, spaced(rule)) for rule in rules],
        "noted": any(line.note for line in lines),
        "ties": overview.ties,
        "bracket": parts,
        "bracket_won": is_won(parts),
        "cross": overview.cross_tables,
        "at_tables": isinstance(config, dict) and config.get("seats", 2) != 2,
    }


def _progress(
    tournament: Tournament, sizes: Mapping[int, int], overview: Overview
) -> ProgressLine | None:
    try:
        config = selectors.config(tournament)
    except BadConfig:
        return None  # the tournament is stopped, and its page says so
    return progress_line(
        tournament,
        config,
        sizes,
        len(overview.lines),
        in_final=bool(overview.bracket) or config.format in ELIMINATIONS,
    )


def _podium(lines: Sequence[VisibleLine]) -> list[PodiumPlace]:
    """Return the ranks 1 to 3. An entrant that shares a rank is on its place."""
    places = []
    for rank, title in PLACES.items():
        sharing = [line for line in lines if line.rank == rank]
        shown = sharing[:MAX_SHARING]
        if shown:
            places.append(
                PodiumPlace(rank, str(title), shown, len(sharing) - len(shown))
            )
    return places


def _round_table(each: VisibleRound, listed: Sequence[Game]) -> RoundTable:
    rows = [
        (
            fixture,
            [
                game
                for game in listed
                if fixture.match is not None and game.match_id == fixture.match
            ],
        )
        for fixture in each.fixtures
    ]
    return RoundTable(each.round, each.known, rows)


def _mine(tournament: Tournament, person: Person) -> list[tuple[Bot, Entrant | None]]:
    """Return the visitor's bots, each with its entry if it has entered."""
    if not person.is_authenticated:
        return []
    entries = {e.bot_id: e for e in tournament.entrants.filter(bot__owner=person.pk)}
    own = [
        (bot, entries.get(bot.pk))
        for bot in Bot.objects.filter(owner=person.pk).order_by("name")
    ]
    if tournament.status == Tournament.Status.ENTRY:
        return own
    return [(bot, entrant) for bot, entrant in own if entrant]


def _tournament_stops(tournament: Tournament, person: Person) -> list[StopNotice]:
    text = _("The service cannot continue this tournament. Its operator was informed.")
    notices = _notices(text, stopped(unit_of(tournament)), person)
    if tournament.held_back and not _is_operator(person):
        return notices  # which fixtures are played is not public yet
    waiting = selectors.fixtures_for_operators().filter(tournament=tournament)
    return notices + [_fixture_notice(fixture, person) for fixture in waiting]


def _fixture_notice(fixture: Fixture, person: Person) -> StopNotice:
    """Say that a fixture waits, because the service could not play its games."""
    games = ", ".join(str(game) for game in selectors.dead_games(fixture))
    return StopNotice(
        _(
            "Round %(round)s, table %(table)s waits for the operator: the service"
            " failed to play it."
        )
        % {"round": fixture.round, "table": fixture.table + 1},
        f"Dead games: {games}. Repair the cause, then do the act rerun for them, or the"
        f" act give_up for the fixture {fixture.pk}, on the page /operate/."
        if _is_operator(person)
        else "",
    )


def ladder_stops(ladder: Ladder, person: Person) -> list[StopNotice]:
    """Return the notices for the page of a ladder."""
    units = [
        Unit(kind, ladder.slug) for kind in (UnitKind.RATINGS, UnitKind.MATCHMAKING)
    ]
    text = _("The service cannot continue this ladder. Its operator was informed.")
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
