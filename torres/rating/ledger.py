"""Fold the ledger of a season into ratings. Numbers only, no database.

The state after entry n is the result of the entries 1 to n, without the games that any
of these entries voids. So a void has the same meaning however late it comes, and
folding from nothing gives the same numbers as folding entry by entry, bit for bit.

Games that are voided together are taken out by consecutive entries, in one fold. Each
of them names the last one in `inputs["corrected_by"]`, which has the changes of all;
until then the state stays as it was.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple, TypedDict

from torres.rating.trueskill import Parameters, Skill, after_new_version, rate

MIN_RATED_SEATS = 2
LATEST_GAMES = 10
"""`BotState.latest` remembers the forfeits of this many games."""
_ALL_LATEST = (1 << LATEST_GAMES) - 1


class EntryKind(StrEnum):
    """The kinds of entries in a ledger: everything that can change a rating."""

    SEASON_START = "season_start"
    JOIN = "join"
    GAME = "game"
    NEW_VERSION = "new_version"
    PARAMETERS = "parameters"
    VOID = "void"
    MERGE = "merge"


class RatingChange(TypedDict):
    """The effect of one entry on one bot, as JSON: exact [mu, sigma].

    `before` is null for a bot that was not rated yet, and `after` is null for a bot
    that no longer is.
    """

    bot: int
    before: list[float] | None
    after: list[float] | None


class BotState(NamedTuple):
    """One bot in the state: its skill, its record, and the submission that it plays.

    `fresh` counts the games since the bot's code changed last. `latest` has a bit for
    each of the latest games of the present submission, at most LATEST_GAMES: 1 for a
    forfeit, the latest game in the lowest bit. `seq` is the number of the last entry
    that changed the bot.
    """

    skill: Skill
    submission: int
    digest: str
    games: int = 0
    fresh: int = 0
    forfeits: int = 0
    latest: int = 0
    seq: int = 0


class LedgerLine(NamedTuple):
    """One entry of the ledger, reduced to what the fold needs."""

    seq: int
    kind: EntryKind
    inputs: Mapping[str, Any]
    game: int | None = None


@dataclass(slots=True)
class LedgerState:
    """All bots of a season, and the parameters in force, after some entry."""

    parameters: Parameters = field(default_factory=Parameters)
    bots: dict[int, BotState] = field(default_factory=dict)

    def copy(self) -> "LedgerState":
        return LedgerState(self.parameters, dict(self.bots))

    def dump(self) -> dict[str, object]:
        """Return the state as a JSON document; floats keep every bit.

        A bot is a list: its id, and the fields of its state.
        """
        return {
            "parameters": asdict(self.parameters),
            "bots": [[bot, *state] for bot, state in self.bots.items()],
        }

    @classmethod
    def load(cls, document: Mapping[str, Any]) -> "LedgerState":
        """Return the state that `dump` wrote."""
        return cls(
            Parameters(**document["parameters"]),
            {
                bot: BotState(Skill(*skill), *state)
                for bot, skill, *state in document["bots"]
            },
        )


def step(state: LedgerState, line: LedgerLine) -> list[RatingChange]:
    """Apply one entry to `state`, in place; return the skills that it changed.

    The cost does not depend on the number of bots. Voids need `fold` instead.
    """
    touched = sorted(touched_bots(line))
    before = {bot: _mu_sigma(state, bot) for bot in touched}
    apply(state, line)
    after = {bot: _mu_sigma(state, bot) for bot in touched}
    return [
        {"bot": bot, "before": before[bot], "after": after[bot]}
        for bot in touched
        if before[bot] != after[bot]
    ]


def touched_bots(line: LedgerLine) -> set[int]:
    """Return the bots that the entry can change: all that it names."""
    single = {line.inputs[key] for key in ("bot", "gone", "kept") if key in line.inputs}
    return single | {seat["bot"] for seat in line.inputs.get("seats", ())}


def apply(state: LedgerState, line: LedgerLine) -> None:
    """Apply one entry to `state`, in place. Voids need `fold` instead."""
    match line.kind:
        case EntryKind.SEASON_START | EntryKind.PARAMETERS:
            state.parameters = Parameters(**line.inputs["parameters"])
        case EntryKind.JOIN:
            _apply_join(state, line)
        case EntryKind.NEW_VERSION:
            _apply_new_version(state, line)
        case EntryKind.GAME:
            _apply_game(state, line)
        case EntryKind.MERGE:
            _apply_merge(state, line)
        case EntryKind.VOID:
            raise ValueError(
                f"Entry {line.seq} is a void and cannot be applied by itself."
                " Fold the entries again without its game."
            )


def fold(
    lines: Iterable[LedgerLine], voided: set[int], start: LedgerState | None = None
) -> LedgerState:
    """Return the state after the entries, in order.

    1. Start from a copy of `start`, or from nothing.
    2. Leave out the void entries themselves: they only add to `voided`, which the
       caller collects.
    3. Leave out each game in `voided`. Everything after it is computed as if the game
       had never been rated.
    4. Apply all other entries, one after the other.

    `start` must not contain a voided game: take a checkpoint from before it.
    """
    state = start.copy() if start else LedgerState()
    for line in lines:
        if line.kind != EntryKind.VOID and line.game not in voided:
            apply(state, line)
    return state


def changes(before: LedgerState, after: LedgerState) -> list[RatingChange]:
    """Return the skills that differ between two states, in order of bot ids."""
    differing: list[RatingChange] = []
    for bot in sorted(before.bots.keys() | after.bots.keys()):
        old = _mu_sigma(before, bot)
        new = _mu_sigma(after, bot)
        if old != new:
            differing.append({"bot": bot, "before": old, "after": new})
    return differing


def _mu_sigma(state: LedgerState, bot: int) -> list[float] | None:
    bot_state = state.bots.get(bot)
    return [bot_state.skill.mu, bot_state.skill.sigma] if bot_state else None


def _apply_join(state: LedgerState, line: LedgerLine) -> None:
    start = line.inputs.get("skill")
    skill = Skill(*start) if start else state.parameters.newcomer
    state.bots[line.inputs["bot"]] = BotState(
        skill=skill,
        submission=line.inputs["submission"],
        digest=line.inputs["digest"],
        seq=line.seq,
    )


def _apply_new_version(state: LedgerState, line: LedgerLine) -> None:
    """Let a bot continue with another submission.

    Identical code keeps sigma and `fresh`. The forfeits of the old submission are no
    longer held against the bot in either case.
    """
    bot = line.inputs["bot"]
    digest = line.inputs["digest"]
    old = state.bots[bot]
    skill = old.skill
    fresh = old.fresh
    if digest != old.digest:
        skill = after_new_version(skill, state.parameters)
        fresh = 0
    state.bots[bot] = old._replace(
        skill=skill,
        submission=line.inputs["submission"],
        digest=digest,
        fresh=fresh,
        latest=0,
        seq=line.seq,
    )


def _apply_game(state: LedgerState, line: LedgerLine) -> None:
    """Rate a game among the bots that are still in the state.

    A bot that was merged into another one since the game was played is left out.
    """
    seats = [seat for seat in line.inputs["seats"] if seat["bot"] in state.bots]
    if len(seats) < MIN_RATED_SEATS:
        return
    bots = state.bots
    ranks = {seat["bot"]: seat["rank"] for seat in seats}
    skills = {bot: bots[bot].skill for bot in ranks}
    rated = rate(skills, ranks, state.parameters)
    for seat in seats:
        bot = seat["bot"]
        forfeited = bool(seat["fault"])
        old = bots[bot]
        bots[bot] = old._replace(
            skill=rated[bot],
            games=old.games + 1,
            fresh=old.fresh + 1,
            forfeits=old.forfeits + forfeited,
            latest=(old.latest << 1 | forfeited) & _ALL_LATEST,
            seq=line.seq,
        )


def _apply_merge(state: LedgerState, line: LedgerLine) -> None:
    """Merge the bot `gone` into the bot `kept`.

    The skill with the smaller sigma counts for both; games and forfeits are added.
    """
    gone = state.bots.pop(line.inputs["gone"])
    kept_bot = line.inputs["kept"]
    kept = state.bots[kept_bot]
    surest = min(gone, kept, key=lambda bot_state: bot_state.skill.sigma)
    state.bots[kept_bot] = kept._replace(
        skill=surest.skill,
        games=kept.games + gone.games,
        forfeits=kept.forfeits + gone.forfeits,
        seq=line.seq,
    )
