"""The games in which a bot is tried: rulesets, numbers of seats, limits."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from engine.editions import DEFAULT, PRESETS
from engine.rulesets import MAX_SEATS, MIN_SEATS, Rules, resolve
from torres.runner.protocol import Limits

TABLE_SIZES = range(MIN_SEATS, MAX_SEATS + 1)


@dataclass(frozen=True, slots=True)
class GameForm:
    """The form of a game: its rules, its number of seats, and the limits of a bot."""

    ruleset: str
    seats: int
    limits: Limits = field(default_factory=Limits)
    switches: Mapping[str, object] = field(default_factory=dict)
    is_quick: bool = False
    """True if the bot has a part of the clock only."""

    @property
    def game_limits(self) -> Limits:
        """The limits of the bot in the game.

        A quick game leaves a twentieth of the time of a turn, and a fifth of the bank,
        so that a bot that is no faster with less time still has enough.
        """
        if not self.is_quick:
            return self.limits
        move_ms, bank_ms = self.limits.move_ms // 20, self.limits.bank_ms // 5
        return replace(self.limits, move_ms=move_ms, bank_ms=bank_ms)

    @property
    def rules(self) -> Rules:
        return resolve(self.ruleset, self.seats, self.switches)

    @property
    def name(self) -> str:
        return f"{self.ruleset}, {self.seats} seats"


def default_forms(limits: Limits) -> list[GameForm]:
    """Return the forms of the default ruleset: one for each number of seats."""
    return [GameForm(DEFAULT, seats, limits) for seats in TABLE_SIZES]


def covering_forms(limits: Limits) -> list[GameForm]:
    """Return few forms that cover much: every ruleset, and every number of seats.

    The default ruleset has all numbers of seats, each of the others has one.
    """
    forms = default_forms(limits)
    others = [ruleset for ruleset in PRESETS if ruleset != DEFAULT]
    for number, ruleset in enumerate(others):
        seats = TABLE_SIZES[number % len(TABLE_SIZES)]
        forms.append(GameForm(ruleset, seats, limits))
    return forms


def every_form(
    limits: Limits,
    rulesets: Iterable[str] = PRESETS,
    sizes: Iterable[int] = TABLE_SIZES,
) -> list[GameForm]:
    """Return a form for each ruleset with each number of seats."""
    tables = list(sizes)
    return [GameForm(ruleset, n, limits) for ruleset in rulesets for n in tables]


def all_but_one_quick(forms: Sequence[GameForm]) -> list[GameForm]:
    """Return the forms with quick clocks, except for one.

    A bot that thinks as long as it may would need minutes for all games with the whole
    clock. Of the first ruleset, the game with the most seats keeps it, because the bot
    has the fewest turns there.
    """
    same = [form for form in forms if form.ruleset == forms[0].ruleset]
    whole = max(same, key=lambda form: form.seats)
    return [form if form is whole else replace(form, is_quick=True) for form in forms]
