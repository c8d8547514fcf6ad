"""The games of a check in an order that ends early: a bot that cannot play plays once.

`torres check` and the validation of uploads both play their games by these functions,
so that a bot that passes at home passes on the ladder.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from engine.referee import Move, ServiceFault
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

    The seat of the bot differs from game to game. A game that is slower than the first
    one is played beside those of other rulesets.
    """
    if not forms:
        return []
    kind = forms[0].ruleset, forms[0].is_quick
    tasks = [(form, seat_for(form, number)) for number, form in enumerate(forms)]
    same = [task for task in tasks[1:] if (task[0].ruleset, task[0].is_quick) == kind]
    others = [task for task in tasks[1:] if task not in same]
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
    """Play one game; play it again if this machine failed, or a quick clock ran out.

    A clock that may be the machine's fault counts as the bot's at the second time, as
    on the ladder. Raises ServiceFault after MAX_ATTEMPTS.
    """
    form, seat = task
    game = _played(settings, seed, task)
    if form.is_quick and game.ran_out_of_time:
        return _played(settings, seed, (replace(form, is_quick=False), seat))
    return game


def repeats(settings: GameSettings, seed: str, game: CheckedGame) -> bool:
    """True if the bot answers the same when a game of `play_at_home` is played again.

    The second game ends with the first other answer.
    """
    expected = iter(game.answers)

    def compare(move: Move) -> None:
        nonlocal expected
        if move.index == 0:  # perhaps for another time, because this machine failed
            expected = iter(game.answers)
        is_answer = move.seat == game.seat and move.answer is not None
        if is_answer and move.actions != next(expected, None):
            raise _OtherAnswer

    try:
        play_at_home(replace(settings, watch=compare), seed, (game.form, game.seat))
    except _OtherAnswer:
        return False
    return next(expected, None) is None


class _OtherAnswer(Exception):
    """The bot answered something else than in the game before."""


def _played(settings: GameSettings, seed: str, task: Task) -> CheckedGame:
    form, seat = task
    game_seed = f"{seed}/{form.name}"
    attempt = partial(play_form, form=form, seed=game_seed, seat=seat)
    for _ in range(MAX_ATTEMPTS - 1):
        try:
            return attempt(settings)
        except ServiceFault:
            settings = settings.strict()
    return attempt(settings)
