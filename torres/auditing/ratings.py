"""Compute all ratings again from the results in the log."""

from collections.abc import Iterator, Mapping, Sequence, Set as AbstractSet
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

from torres.auditing.findings import AuditFinding, Check
from torres.auditing.logged import Story
from torres.rating import ledger
from torres.rating.ledger import BotState, EntryKind, LedgerLine, LedgerState
from torres.rating.trueskill import Parameters
from torres.tlog.leaves import Leaf

RATED_WITHIN = timedelta(hours=1)
"""A finished game of a ladder is rated within this time."""
LADDER_MATCH = "ladder"

SeasonKey = tuple[str, int]


@dataclass(slots=True)
class AuditedSeason:
    """The ledger of one season as far as it was read.

    It begins with the leaf `leaf`. `at` has the states after some entries, by their
    numbers. `seen` has the states that a bot had, by the bot and its last entry: voids
    of earlier games give it other ratings after the same entry. `in_force` has all
    parameters that the season had.
    """

    leaf: int
    lines: list[LedgerLine] = field(default_factory=list)
    voided: set[int] = field(default_factory=set)
    state: LedgerState = field(default_factory=LedgerState)
    at: dict[int, LedgerState] = field(default_factory=dict)
    is_broken: bool = False
    seen: dict[tuple[int, int], list[BotState]] = field(default_factory=dict)
    in_force: list[Parameters] = field(default_factory=list)


class RatingsAudit:
    """Folds the entries of all seasons in the order of the log.

    `heads` are the entries of each season whose states are kept, and `forfeits` the
    reasons of the seats of a game that forfeited, or None, which no leaf has. With
    `remembers` all states of all bots are kept, for the matchmakers that saw them.
    """

    def __init__(
        self,
        story: Story,
        heads: Mapping[SeasonKey, set[int]],
        forfeits: Mapping[int, Sequence[str | None]],
        *,
        remembers: bool = False,
    ) -> None:
        self.story = story
        self._heads = heads
        self._forfeits = forfeits
        self._remembers = remembers
        self.seasons: dict[SeasonKey, AuditedSeason] = {}
        self._bot_of: dict[int, int] = {}

    def check(self) -> Iterator[AuditFinding]:
        """Yield the first difference of each season, and games that are not rated."""
        rated = set()
        for number, leaf in self.story.ratings:
            data = leaf.data
            key = (data["ladder"], data["season"])
            season = self.seasons.setdefault(key, AuditedSeason(number))
            if season.is_broken:
                continue
            try:
                why = self._step(season, number, leaf)
            except (LookupError, TypeError, ValueError, ArithmeticError) as error:
                why = f"entry {data['seq']} cannot be applied: {error!r}"
            if data["seq"] in self._heads.get(key, ()):
                season.at[data["seq"]] = season.state.copy()
            if why:
                season.is_broken = True
                text = f"{key[0]} season {key[1]}: {why}"
                yield AuditFinding(Check.RATINGS, text, number)
            elif data["kind"] == EntryKind.GAME:
                rated.add(data["game"])
        yield from self._unrated(rated)

    def _step(self, season: AuditedSeason, number: int, leaf: Leaf) -> str:
        """Apply one entry; return what is wrong with it, or ""."""
        data = leaf.data
        expected = len(season.lines) + 1
        if data["seq"] != expected:
            return f"entry {data['seq']} follows entry {expected - 1}"
        kind = EntryKind(data["kind"])
        game = data.get("game")
        inputs = self._inputs(kind, data)
        if inputs is None:
            return f"game {game} is rated but has no result in the log"
        refusal = self._refusal(season, kind, inputs)
        if refusal:
            return f"entry {expected} {refusal}"
        line = LedgerLine(expected, kind, inputs, game)
        season.lines.append(line)
        self._remember_bots(number, leaf, inputs)
        if kind == EntryKind.VOID and game is not None:
            is_last = inputs["corrected_by"] == expected
            changes = _take_out(season, game, is_last=is_last)
            touched = season.state.bots.keys() if is_last else set()
        else:
            changes = ledger.step(season.state, line)
            touched = ledger.touched_bots(line)
        if season.state.parameters not in season.in_force:
            season.in_force.append(season.state.parameters)
        if self._remembers:
            _remember_states(season, touched)
        logged = [[bot, *map(float, skill)] for bot, *skill in data["after"]]
        if _rows(changes) != logged:
            return f"entry {expected} gives other ratings than the log has"
        return ""

    def _refusal(
        self, season: AuditedSeason, kind: EntryKind, inputs: Mapping[str, Any]
    ) -> str:
        """Return why nobody may append this entry, or "".

        Bots join with the skill of a newcomer and with the files of their upload. The
        parameters of a season change only when its finals begin, which sets τ to 0.
        """
        if inputs.get("skill"):
            return f"lets bot {inputs['bot']} join with a skill that somebody chose"
        if "digest" in inputs:
            logged = self.story.submissions.get(inputs["submission"])
            if inputs["digest"] != logged:
                return f"rates other files than submission {inputs['submission']} has"
        if kind == EntryKind.SEASON_START and season.lines:
            return "starts the season once more"
        if kind == EntryKind.PARAMETERS:
            finals = replace(season.state.parameters, tau=0.0)
            if Parameters(**inputs["parameters"]) != finals:
                return "changes the parameters of the ratings within the season"
        return ""

    def _inputs(
        self, kind: EntryKind, data: Mapping[str, Any]
    ) -> Mapping[str, Any] | None:
        """Return the inputs of an entry; those of a game follow from its leaves."""
        if kind != EntryKind.GAME:
            return _with_numbers(data["inputs"])
        game = self.story.games.get(data["game"])
        if game is None:
            return None
        seats = game.plan.data["games"][game.data["index"]]
        faults = self._forfeits.get(data["game"], ())
        if len(faults) != len(seats):  # the comparison of games tells that
            faults = [None] * len(seats)
        if any(seat not in self._bot_of for seat in seats):
            return None
        ranks: Sequence[int] = game.data["ranks"]
        return {
            "seats": [
                {"bot": self._bot_of[seat], "rank": rank, "fault": fault or ""}
                for seat, rank, fault in zip(seats, ranks, faults, strict=True)
            ]
        }

    def _remember_bots(
        self, number: int, leaf: Leaf, inputs: Mapping[str, Any]
    ) -> None:
        if "bot" in inputs and "submission" in inputs:
            self._bot_of[inputs["submission"]] = inputs["bot"]
            self.story.change_bot(inputs["bot"], number, leaf)

    def _unrated(self, rated: set[int]) -> Iterator[AuditFinding]:
        for number, game in self.story.games.items():
            if game.plan.data["kind"] != LADDER_MATCH or game.voided:
                continue
            if number not in rated and game.time + RATED_WITHIN < self.story.end:
                text = f"game {number} has a result that no rating contains"
                yield AuditFinding(Check.RATINGS, text, game.leaf)

    def due_entries(self, first: int) -> dict[SeasonKey, int]:
        """Return the last entry of each season that a service has to show.

        It is in one of the first leaves of the log and older than `RATED_WITHIN`.
        """
        return {
            (leaf.data["ladder"], leaf.data["season"]): leaf.data["seq"]
            for number, leaf in self.story.ratings
            if number < first and leaf.time + RATED_WITHIN < self.story.end
        }

    def bot_of(self, submission: int) -> int | None:
        """Return the number of the bot that plays with a submission."""
        return self._bot_of.get(submission)


def _remember_states(season: AuditedSeason, bots: AbstractSet[int]) -> None:
    for bot in bots & season.state.bots.keys():
        state = season.state.bots[bot]
        states = season.seen.setdefault((bot, state.seq), [])
        if state not in states:
            states.append(state)


def _take_out(
    season: AuditedSeason, game: int, *, is_last: bool
) -> list[ledger.RatingChange]:
    """Take a voided game out of the ratings; games that go together, with the last."""
    season.voided.add(game)
    if not is_last:
        return []
    before = season.state
    season.state = ledger.fold(season.lines, season.voided)
    return ledger.changes(before, season.state)


def _with_numbers(inputs: Mapping[str, Any]) -> dict[str, object]:
    """Return the inputs of an entry; the log writes their floats as texts."""
    numbers = dict(inputs)
    if "parameters" in numbers:
        constants = numbers["parameters"].items()
        numbers["parameters"] = {name: float(value) for name, value in constants}
    if numbers.get("skill"):
        numbers["skill"] = [float(value) for value in numbers["skill"]]
    return numbers


def _rows(changes: Sequence[ledger.RatingChange]) -> list[list[float]]:
    return [[change["bot"], *(change["after"] or ())] for change in changes]
