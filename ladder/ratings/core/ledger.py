"""Folding: what the entries of a season make of its bots. Numbers only, no database.

The state after entry n is what the entries 1 to n give, without the games that any of
them voids. So a void has one meaning however late it comes, and folding from nothing
finds the same numbers as folding as one goes, bit for bit.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, TypedDict

from ladder.ratings.core.trueskill import Parameters, Skill, rate, renewed

PAIR = 2
"""Fewer can't be rated."""


class RatingChange(TypedDict):
    """What one entry did to one bot: exact floats, null where there was no rating."""

    bot: int
    before: list[float] | None
    after: list[float] | None


@dataclass(frozen=True, slots=True)
class BotState:
    """One bot in the state: its skill, its record, and the upload it stands for.

    `fresh` counts the games since its code changed last.
    """

    skill: Skill
    submission: int
    digest: str
    games: int = 0
    fresh: int = 0
    forfeits: int = 0
    streak: int = 0
    seq: int = 0


@dataclass(frozen=True, slots=True)
class LedgerLine:
    """One entry as folding sees it."""

    seq: int
    kind: str
    inputs: Mapping[str, Any]
    game: int | None = None


@dataclass(slots=True)
class LedgerState:
    """All bots of a season, and the parameters in force, after some entry."""

    parameters: Parameters = field(default_factory=Parameters)
    bots: dict[int, BotState] = field(default_factory=dict)

    def copy(self) -> "LedgerState":
        return LedgerState(self.parameters, dict(self.bots))

    def dump(self) -> dict[str, Any]:
        """Return it as JSON; floats keep every bit."""
        return {
            "parameters": asdict(self.parameters),
            "bots": {str(bot): asdict(standing) for bot, standing in self.bots.items()},
        }

    @classmethod
    def load(cls, dumped: Mapping[str, Any]) -> "LedgerState":
        return cls(
            Parameters(**dumped["parameters"]),
            {
                int(bot): BotState(**{**standing, "skill": Skill(**standing["skill"])})
                for bot, standing in dumped["bots"].items()
            },
        )


def step(state: LedgerState, line: LedgerLine) -> list[RatingChange]:
    """Fold one entry into the state, which it changes; say whose skill it moved.

    Costs the same for a ladder of any size. Voids are for `fold`.
    """
    touched = sorted(_named(line))
    before = {bot: _numbers(state, bot) for bot in touched}
    apply(state, line)
    after = {bot: _numbers(state, bot) for bot in touched}
    return [
        {"bot": bot, "before": before[bot], "after": after[bot]}
        for bot in touched
        if before[bot] != after[bot]
    ]


def _named(line: LedgerLine) -> set[int]:
    """Return the bots that an entry can move: those that it names."""
    named = {line.inputs[key] for key in ("bot", "gone", "kept") if key in line.inputs}
    return named | {seat["bot"] for seat in line.inputs.get("seats", ())}


def apply(state: LedgerState, line: LedgerLine) -> None:
    """Fold one entry into the state, which it changes; voids are for `fold`."""
    match line.kind:
        case "season_start" | "parameters":
            state.parameters = Parameters(**line.inputs["parameters"])
        case "join":
            _join(state, line)
        case "new_version":
            _renew(state, line)
        case "game":
            _rate(state, line)
        case "merge":
            _merge(state, line)
        case "void":
            raise ValueError("a void is folded by folding again without its game")
        case unknown:
            raise ValueError(f"entry {line.seq} is of the unknown kind {unknown}")


def fold(
    lines: Iterable[LedgerLine], voided: set[int], start: LedgerState | None = None
) -> LedgerState:
    """Fold entries in order, from nothing or from `start`, without voided games."""
    state = start.copy() if start else LedgerState()
    for line in lines:
        if line.kind != "void" and line.game not in voided:
            apply(state, line)
    return state


def changes(before: LedgerState, after: LedgerState) -> list[RatingChange]:
    """Say whose skill differs between two states, by bot."""
    found: list[RatingChange] = []
    for bot in sorted(before.bots.keys() | after.bots.keys()):
        old, new = _numbers(before, bot), _numbers(after, bot)
        if old != new:
            found.append({"bot": bot, "before": old, "after": new})
    return found


def _numbers(state: LedgerState, bot: int) -> list[float] | None:
    standing = state.bots.get(bot)
    return [standing.skill.mu, standing.skill.sigma] if standing else None


def _join(state: LedgerState, line: LedgerLine) -> None:
    start = line.inputs.get("skill")
    skill = Skill(*start) if start else state.parameters.newcomer
    state.bots[line.inputs["bot"]] = BotState(
        skill=skill,
        submission=line.inputs["submission"],
        digest=line.inputs["digest"],
        seq=line.seq,
    )


def _renew(state: LedgerState, line: LedgerLine) -> None:
    bot, digest = line.inputs["bot"], line.inputs["digest"]
    old = state.bots[bot]
    skill = old.skill
    if digest != old.digest:
        skill = renewed(skill, state.parameters)
    state.bots[bot] = replace(
        old,
        skill=skill,
        submission=line.inputs["submission"],
        digest=digest,
        fresh=old.fresh if digest == old.digest else 0,
        streak=0,
        seq=line.seq,
    )


def _rate(state: LedgerState, line: LedgerLine) -> None:
    """Rate a game among those who are still there: not a bot that was merged since."""
    seats = [seat for seat in line.inputs["seats"] if seat["bot"] in state.bots]
    if len(seats) < PAIR:
        return
    ranks = {seat["bot"]: seat["rank"] for seat in seats}
    skills = {bot: state.bots[bot].skill for bot in ranks}
    rated = rate(skills, ranks, state.parameters)
    for seat in seats:
        bot, fault = seat["bot"], bool(seat["fault"])
        old = state.bots[bot]
        state.bots[bot] = replace(
            old,
            skill=rated[bot],
            games=old.games + 1,
            fresh=old.fresh + 1,
            forfeits=old.forfeits + fault,
            streak=old.streak + 1 if fault else 0,
            seq=line.seq,
        )


def _merge(state: LedgerState, line: LedgerLine) -> None:
    """Let a bot go on as another one did: the better known skill counts for both."""
    gone, kept = line.inputs["gone"], line.inputs["kept"]
    old, other = state.bots.pop(gone), state.bots[kept]
    better = min(old, other, key=lambda standing: standing.skill.sigma)
    state.bots[kept] = replace(
        other,
        skill=better.skill,
        games=other.games + old.games,
        forfeits=other.forfeits + old.forfeits,
        seq=line.seq,
    )
