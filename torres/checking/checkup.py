"""The games of a check in an order that ends early: a bot that cannot play plays once.

`torres check` and the validation of uploads both play their games by these functions,
so that a bot that passes at home passes on the ladder.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

from engine.referee import ServiceFault
from torres.checking.forms import GameForm
from torres.checking.games import CheckedGame, GameSettings, play_form, seat_for

MAX_ATTEMPTS = 3  # for each game, if this machine fails
Task = tuple[GameForm, int]
"""A form, and the seat of the bot in it."""
Mapper = Callable[
    [Callable[[Task], CheckedGame], Iterable[Task]], Iterable[CheckedGame]
]
"""The function that plays the games of one stage: `map`, or that of a thread pool."""


def stages(forms: Sequence[GameForm]) -> list[list[Task]]:
    """Return stages: one game, the rest of its ruleset, the games of other rulesets.

    The seat of the bot differs from game to game.
    """
    if not forms:
        return []
    ruleset = forms[0].ruleset
    tasks = [(form, seat_for(form, number)) for number, form in enumerate(forms)]
    same = [task for task in tasks[1:] if task[0].ruleset == ruleset]
    others = [task for task in tasks if task[0].ruleset != ruleset]
    return [stage for stage in (tasks[:1], same, others) if stage]


def play_stages(
    forms: Sequence[GameForm], play: Callable[[Task], CheckedGame], mapper: Mapper = map
) -> Iterator[CheckedGame]:
    """Play stage after stage, until after a stage no game has passed."""
    passed = False
    for stage in stages(forms):
        for game in mapper(play, stage):
            passed = passed or game.passed
            yield game
        if not passed:
            return


def play_at_home(settings: GameSettings, seed: str, task: Task) -> CheckedGame:
    """Play one game; play it again if this machine failed.

    A clock that may be the machine's fault counts as the bot's at the second time, as
    on the ladder. Raises ServiceFault after MAX_ATTEMPTS.
    """
    form, seat = task
    game_seed = f"{seed}/{form.name}"
    attempt = partial(play_form, form=form, seed=game_seed, seat=seat)
    for _ in range(MAX_ATTEMPTS - 1):
        try:
            return attempt(settings)
        except ServiceFault:
            settings = settings.strict()
    return attempt(settings)
