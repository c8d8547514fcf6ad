"""Follow tournaments in the log, and compare their standings with those that are shown.

A tournament is a fold (`torres.formats`): its format, its entrants and the results so
far give the standings. The log has all three, and each result has to follow from the
games that the log has.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from fractions import Fraction
from typing import Any

from torres.auditing.findings import AuditFinding, Check
from torres.auditing.logged import Change, DecidedFixture, LoggedTournament, Story
from torres.common.answers import LineAnswer
from torres.formats.config import BadConfig, Format, read_config
from torres.formats.plan import plan_fixtures
from torres.formats.standings import Standings
from torres.formats.tiebreaks import StandingsLine
from torres.formats.values import (
    MAIN,
    FixtureKey,
    FixtureRecord,
    FixtureResult,
    GameResult,
    ResultKind,
    SeededEntrant,
    effective_result,
    match_result,
    rank_points,
)
from torres.tlog.leaves import Leaf

SHOWN_LATE = timedelta(minutes=5)
"""The standings that a service shows may be this old, by the clocks of both."""
COMPARED = 40
"""The number of prefixes that are tried. To compute the standings of a round robin of
200 entrants takes half a second."""
VOIDED_MEANWHILE = timedelta(minutes=15)
"""A game that counted may have been voided this long before the result was logged."""


@dataclass(frozen=True, slots=True)
class ReadTournament:
    """A tournament as the REST API shows it, and its standings."""

    number: int
    slug: str
    started: datetime | None
    lines: Sequence[LineAnswer]


@dataclass(frozen=True, slots=True)
class ReadStandings:
    """All tournaments that a service shows; `first` is the size of the log before."""

    first: int
    tournaments: Sequence[ReadTournament]


class TournamentReader:
    """Reads the leaves of tournaments into a story."""

    def __init__(self, story: Story) -> None:
        self._story = story

    def start(self, number: int, leaf: Leaf) -> None:
        """Note a tournament with its format and entrants."""
        tournament = leaf.data["tournament"]
        if tournament in self._story.tournaments:
            text = f"tournament {tournament} starts twice"
            self._story.add(Check.TOURNAMENTS, text, number)
            return
        rows = leaf.data["entrants"]
        try:
            config = read_config(json.loads(leaf.data["config"]))
        except (BadConfig, ValueError) as error:
            text = f"tournament {tournament} has a format that cannot be read: {error}"
            self._story.add(Check.TOURNAMENTS, text, number)
            return
        self._story.tournaments[tournament] = LoggedTournament(
            number,
            config,
            [SeededEntrant(entrant, seed) for entrant, _, _, seed in rows],
            {entrant: bot for entrant, bot, _, _ in rows},
            {entrant: submission for entrant, _, submission, _ in rows},
        )

    def leave(self, number: int, leaf: Leaf) -> None:
        """Note that an entrant plays no more."""
        tournament = self._story.tournaments.get(leaf.data["tournament"])
        if tournament is not None:  # otherwise it started with an older version
            tournament.left.setdefault(leaf.data["entrant"], Change(number, leaf.time))

    def decide(self, number: int, leaf: Leaf) -> None:
        """Note the result of a fixture, or that it is open again."""
        data = leaf.data
        tournament = self._story.tournaments.get(data["tournament"])
        if tournament is None:
            return
        result = None
        if data["how"]:
            points = tuple(Fraction(text or 0) for text in data["points"])
            how = ResultKind(data["how"])
            result = FixtureResult(how, points, tuple(data["scores"]))
            if not len(data["entrants"]) == len(points) == len(data["scores"]):
                text = f"tournament {data['tournament']} has a result without points"
                self._story.add(Check.TOURNAMENTS, text, number)
                return
        record = FixtureRecord(
            FixtureKey(*data["fixture"]), tuple(data["entrants"]), result
        )
        tournament.decisions.append(
            DecidedFixture(number, leaf.time, record, data["match"], data["games"])
        )


def check_decisions(
    story: Story, forfeits: Mapping[int, Sequence[str | None]]
) -> Iterator[AuditFinding]:
    """Yield the results of fixtures that do not follow from games or from leavers.

    `forfeits` are the reasons of the seats of each game that forfeited, or None.
    """
    checks = _DecisionChecks(story, forfeits)
    for number, tournament in story.tournaments.items():
        fixture_of: dict[int, FixtureKey] = {}
        for decision in tournament.decisions:
            key = decision.record.key
            why = checks.problem(tournament, decision)
            match = decision.match
            if match is not None and fixture_of.setdefault(match, key) != key:
                why = f"counts match {match}, which belongs to another fixture"
            if why:
                text = f"tournament {number}, round {key.round}, table {key.table + 1}"
                yield AuditFinding(Check.TOURNAMENTS, f"{text} {why}", decision.leaf)


class _DecisionChecks:
    """Compares results of fixtures with the games of their matches."""

    def __init__(
        self, story: Story, forfeits: Mapping[int, Sequence[str | None]]
    ) -> None:
        self._games = story.games
        self._forfeits = forfeits
        self._games_of: dict[int, list[int]] = {}
        for number, game in story.games.items():
            self._games_of.setdefault(game.plan.data["match"], []).append(number)

    def problem(self, tournament: LoggedTournament, decision: DecidedFixture) -> str:
        """Return why a result does not follow from the log, or ""."""
        record, result = decision.record, decision.record.result
        if not set(record.entrants) <= tournament.bots.keys():
            return "has an entrant that did not start"
        if result is None:
            return ""
        if result.how in (ResultKind.BYE, ResultKind.WALKOVER):
            expected = _without_match(tournament, decision)
            return "" if result in expected else f"is no {result.how}"
        counted = set(decision.games)
        games = [self._result(tournament, decision, game) for game in decision.games]
        valid = [game for game in games if game is not None]
        if len(valid) != len(counted):
            return "counts a game that is not one of its match, or counts no more"
        if not self._countable(decision) <= counted:
            return "leaves out a game of its match"
        expected_result = match_result(
            len(record.entrants), valid, tournament.config.points
        )
        return "" if result == expected_result else "has another result than its games"

    def _countable(self, decision: DecidedFixture) -> set[int]:
        """Return the games of the match that had a result and were never voided."""
        games = {n: self._games[n] for n in self._games_of.get(decision.match or 0, ())}
        return {
            number
            for number, game in games.items()
            if not game.voided
            and game.leaf < decision.leaf
            and game.time + VOIDED_MEANWHILE < decision.time
        }

    def _result(
        self, tournament: LoggedTournament, decision: DecidedFixture, number: int
    ) -> GameResult | None:
        """Return the result of a game by the entrants; None if it does not count.

        The seats of a game name submissions, and each entrant has one.
        """
        game = self._games.get(number)
        if game is None or game.plan.data["match"] != decision.match:
            return None
        voided_at = game.voided_at
        if voided_at is not None and voided_at + VOIDED_MEANWHILE < decision.time:
            return None
        entrants = decision.record.entrants
        position = {tournament.submissions[key]: k for k, key in enumerate(entrants)}
        ranks: list[int | None] = [None] * len(entrants)
        scores: list[int | None] = [None] * len(entrants)
        lost = set()
        seats = game.plan.data["games"][game.data["index"]]
        reasons = self._forfeits.get(number, [None] * len(seats))
        for seat, submission in enumerate(seats):
            k = position.get(submission)
            if k is None:
                return None
            ranks[k], scores[k] = game.data["ranks"][seat], game.data["scores"][seat]
            if reasons[seat]:
                lost.add(k)
        return GameResult(tuple(ranks), tuple(scores), frozenset(lost))


def _without_match(
    tournament: LoggedTournament, decision: DecidedFixture
) -> list[FixtureResult | None]:
    """Return the possible results of a fixture that is decided without a match."""
    config = tournament.config
    changes = tournament.left.items()
    left = frozenset(key for key, change in changes if change.leaf < decision.leaf)
    open_ = decision.record._replace(result=None)
    results = [effective_result(open_, left, config.points)]
    if len(open_.entrants) == 1:  # a rest, at larger tables
        points = rank_points(config.seats, config.points)
        average = sum(points, Fraction(0)) / config.seats
        results.append(FixtureResult(ResultKind.BYE, (average,), (0,)))
    return results


def compare_standings(shown: ReadStandings, story: Story) -> Iterator[AuditFinding]:
    """Yield the tournaments whose standings do not follow from the log.

    While a tournament runs, they may follow from any of the latest results.
    """
    numbers = set()
    for read in shown.tournaments:
        numbers.add(read.number)
        tournament = story.tournaments.get(read.number)
        if tournament is None:
            if read.lines and not _is_older(read, story):
                text = f"the service shows standings of {read.slug}; the log has none"
                yield AuditFinding(Check.TOURNAMENTS, text)
        elif not _follow(read, tournament, shown.first, story):
            text = f"the standings of {read.slug} do not follow from the log"
            yield AuditFinding(Check.TOURNAMENTS, text, tournament.leaf)
    for number, tournament in story.tournaments.items():
        if number not in numbers and tournament.leaf < shown.first:
            text = f"the service does not show tournament {number}"
            yield AuditFinding(Check.TOURNAMENTS, text, tournament.leaf)


def _is_older(read: ReadTournament, story: Story) -> bool:
    """True if a tournament started before the service logged tournaments.

    It logs the names of bots since the same version.
    """
    if story.names_since is None or read.started is None:
        return story.names_since is None
    return read.started < story.names_since


def _follow(
    read: ReadTournament, tournament: LoggedTournament, first: int, story: Story
) -> bool:
    """True if the standings follow from a beginning of the log that is late enough."""
    times = {each.leaf: each.time for each in tournament.decisions}
    times |= {change.leaf: change.time for change in tournament.left.values()}
    old = [leaf for leaf, time in times.items() if time + SHOWN_LATE < story.end]
    oldest = max([tournament.leaf, *old])
    ends = [leaf for leaf in [tournament.leaf, *times] if leaf >= oldest]
    ends.sort(key=lambda leaf: abs(leaf - first))
    rows = [_row(line) for line in read.lines]
    try:
        return any(_rows_after(tournament, end) == rows for end in ends[:COMPARED])
    except (LookupError, TypeError, ValueError, ArithmeticError):
        return False  # results that contradict each other


def _rows_after(tournament: LoggedTournament, end: int) -> list[tuple[Any, ...]]:
    """Return the standings after all leaves up to `end`, as rows to compare."""
    left = {entrant.key for entrant in _entrants(tournament, end + 1) if entrant.left}
    config = tournament.config
    records: dict[FixtureKey, FixtureRecord] = {}
    if config.format == Format.GROUPS:
        plan = plan_fixtures(config, tournament.entrants, [])
        records = {fixture.key: fixture for fixture in plan.next_fixtures}
    undecided = set(records)
    finalists: dict[int, SeededEntrant] = {}
    for decision in tournament.decisions:
        if decision.leaf > end:
            break
        key = decision.record.key
        records[key] = decision.record
        (undecided.add if decision.record.result is None else undecided.discard)(key)
        if config.format == Format.GROUPS and not undecided and not finalists:
            present = _entrants(tournament, decision.leaf)
            groups = [r for r in records.values() if r.key.pool > MAIN]
            plan = plan_fixtures(config, present, groups)
            finalists = {entrant.key: entrant for entrant in plan.finalists}
    entrants = [
        replace(entrant, final_seed=finalists[entrant.key].final_seed)
        if entrant.key in finalists
        else entrant
        for entrant in _entrants(tournament, end + 1)
    ]
    lines = Standings(config, entrants, list(records.values())).lines
    return [_expected(line, tournament, left) for line in lines]


def _entrants(tournament: LoggedTournament, before: int) -> list[SeededEntrant]:
    """Return the entrants as they were before a leaf."""
    left = {key for key, change in tournament.left.items() if change.leaf < before}
    return [
        replace(entrant, left=entrant.key in left) for entrant in tournament.entrants
    ]


def _expected(
    line: StandingsLine, tournament: LoggedTournament, left: set[int]
) -> tuple[Any, ...]:
    breaks = {str(rule): float(value) for rule, value in line.tie_breaks.items()}
    bot = tournament.bots[line.key]
    points = float(line.points)
    return (line.rank, bot, points, line.played, breaks, line.key in left)


def _row(line: LineAnswer) -> tuple[Any, ...]:
    return (
        *(line["rank"], line["id"], line["points"], line["played"]),
        *(line["tie_breaks"], line["withdrawn"]),
    )
