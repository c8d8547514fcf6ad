"""Plays one game with the bot in one seat, and observes the bot.

The other seats are players in this process: they cost next to nothing, so that a check
takes about as long as the bot itself thinks. With three or four seats one of them loses
its seat in the middle of the game, because that happens on the ladder, too.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random

from engine.faults import EndReason, Fault
from engine.game import TorresGame
from engine.referee import (
    Answer,
    Ask,
    Forfeit,
    GameRecord,
    Hello,
    Move,
    Player,
    PlayerFault,
    QuietPlayer,
    play,
)
from engine.setup import derive
from torres.checking.forms import GameForm
from torres.common.shorten import shorten_file
from torres.runner.process import BotProcess
from torres.runner.protocol import STDERR_TAIL_BYTES
from torres.runner.sandbox.api import Exit, Program, Sandbox
from torres.runner.verdict import Verdict

Watch = Callable[[Move], None]
_FORFEITS_AT = 9  # the question at which one opponent loses its seat
_ANSWERS_PER_SAMPLE = 4


class RandomOpponent(QuietPlayer):
    """Plays any legal action and never ends a turn early."""

    def __init__(self, forfeits_at: int | None = None) -> None:
        self._rng = Random()  # noqa: S311 - a game, no secret
        self._forfeits_at = forfeits_at
        self._questions = 0

    def start(self, hello: Hello) -> None:
        self._rng.seed(hello.seed)

    def decide(self, ask: Ask) -> Answer:
        self._questions += 1
        if self._questions == self._forfeits_at:
            raise PlayerFault(Fault.TIMEOUT, "it loses its seat, as a part of the test")
        active = [action for action in ask.legal if not action.startswith("end")]
        return Answer([self._rng.choice(active or ask.legal)], None, 0.0)


@dataclass(slots=True)
class Observation:
    """The measurements of a bot in one game: times (charges) in ms, memory in bytes.

    ``memory`` and ``threads`` are samples in the order of time.
    """

    start_ms: float = 0.0
    slowest_ms: float = 0.0
    answers: int = 0
    memory: list[int] = field(default_factory=list)
    threads: int = 0
    stderr_bytes: int = 0


class ObservedBot:
    """A bot that is measured while it plays; implements `Player`."""

    def __init__(self, bot: BotProcess) -> None:
        self.bot = bot
        self.seen = Observation()

    def start(self, hello: Hello) -> None:
        self.bot.start(hello)
        self.seen.start_ms = self.bot.charge.ms
        self._sample()

    def decide(self, ask: Ask) -> Answer:
        answer = self.bot.decide(ask)
        self.seen.answers += 1
        self.seen.slowest_ms = max(self.seen.slowest_ms, answer.ms)
        if self.seen.answers % _ANSWERS_PER_SAMPLE == 0:
            self._sample()
        return answer

    def forfeit(self, reason: Fault, detail: str) -> None:
        self.bot.forfeit(reason, detail)

    def end(self, scores: list[int], ranks: list[int], reason: EndReason) -> None:
        self._sample()
        self.bot.end(scores, ranks, reason)

    def kill(self) -> None:
        self.bot.kill()

    def _sample(self) -> None:
        usage = self.bot.usage()
        if usage.memory_peak is not None:
            self.seen.memory.append(usage.memory_peak)
        self.seen.threads = max(self.seen.threads, usage.threads)
        self.seen.stderr_bytes = usage.stderr_bytes


@dataclass(frozen=True, slots=True)
class CheckedGame:
    """One game of a check. ``forfeit`` and ``verdict`` are those of the bot, or None.

    ``exit`` says how the bot ended, ``stderr`` is its error output, shortened.
    """

    form: GameForm
    seat: int
    seed: str
    record: GameRecord
    seen: Observation
    forfeit: Forfeit | None
    verdict: Verdict | None
    exit: Exit | None
    stderr: str

    @property
    def passed(self) -> bool:
        return self.forfeit is None

    @property
    def ran_out_of_time(self) -> bool:
        return self.forfeit is not None and self.forfeit.reason == Fault.TIMEOUT

    @property
    def answers(self) -> list[list[str]]:
        """The actions of the bot, answer by answer."""
        return [
            move.actions
            for move in self.record.moves
            if move.seat == self.seat and move.answer is not None
        ]


@dataclass(frozen=True, slots=True)
class GameSettings:
    """The program of a bot, where it runs, and how its games are observed.

    ``watch`` is called after each move; an exception that it raises ends the game.
    ``log`` is a file for the whole error output of one game; the next one replaces it.
    """

    program: Program
    sandbox: Sandbox
    watch: Watch | None = None
    log: Path | None = None
    strict_clock: bool = False

    def strict(self) -> "GameSettings":
        """Return settings without the benefit of the doubt about the clock."""
        return replace(self, strict_clock=True)


def seat_for(form: GameForm, number: int) -> int:
    """Return the seat of the bot in a game: not always the first one."""
    return (number + 1) % form.seats


def play_form(
    settings: GameSettings,
    form: GameForm,
    seed: str,
    seat: int,
    opponent: Player | None = None,
) -> CheckedGame:
    """Play a game of a form with the bot in a seat. Raises ServiceFault.

    In a game of two seats, `opponent` may play in place of a player of this process.
    """
    bot = ObservedBot(
        BotProcess(
            settings.program,
            settings.sandbox,
            form.game_limits,
            log=settings.log,
            strict_clock=settings.strict_clock,
        )
    )
    rules = form.rules
    loser = (seat + 1) % form.seats if form.seats > 2 else None
    players = [
        bot
        if number == seat
        else opponent or RandomOpponent(_FORFEITS_AT if number == loser else None)
        for number in range(form.seats)
    ]
    record = play(
        TorresGame(rules, derive(rules, seed)),
        players,
        seed=seed,
        limits=form.game_limits.as_dict(),
        watch=settings.watch,
    )
    own = [forfeit for forfeit in record.forfeits if forfeit.seat == seat]
    return CheckedGame(
        form=form,
        seat=seat,
        seed=seed,
        record=record,
        seen=bot.seen,
        forfeit=own[0] if own else None,
        verdict=bot.bot.verdict,
        exit=bot.bot.exit,
        stderr=_stderr(settings, bot.bot),
    )


def _stderr(settings: GameSettings, bot: BotProcess) -> str:
    """Return the error output of a bot that has ended, without its middle if long."""
    if settings.log is None or not settings.log.exists():
        return bot.stderr.decode("utf-8", "replace")
    with settings.log.open("rb") as file:
        return shorten_file(file, STDERR_TAIL_BYTES)
