"""Torres for one learner against named bots, as an environment of Gymnasium.

    from torres.learning.against import TorresAgainst

    env = TorresAgainst(["house:greedy"])

or `gymnasium.make("torres.learning.against:Torres-v0")`.

It needs the extra `env`. The opponents are programs, as on the ladder: the referee of
the server asks them, with the usual clocks. docs/environments.md has an example.
"""

from collections.abc import Mapping, Sequence
from queue import SimpleQueue
from threading import Thread
from typing import Any

import gymnasium
import numpy as np
from gymnasium import Env, spaces

from engine import derive, resolve
from engine.editions import DEFAULT
from engine.game import TorresGame
from engine.notation import text
from engine.observation import ACTION_COUNT, ACTIONS, OBSERVATION_SIZE, Observer
from engine.referee import Answer, Ask, Player, QuietPlayer, ServiceFault, play
from torres.cli.play import find_bot
from torres.learning.drawing import RENDER_MODES, check_mode, draw
from torres.learning.rewards import Reward, check_reward, result_rewards
from torres.learning.torres_v0 import MAX_NUMBER
from torres.runner.compiler import home_cache, prepared
from torres.runner.process import BotProcess
from torres.runner.protocol import Limits
from torres.runner.sandbox import Level, open_sandbox

Numbers = np.ndarray[Any, Any]
ILLEGAL_REWARD = -1.0


class Learner(QuietPlayer):
    """The player of the learner's seat: another thread gives its answers."""

    def __init__(self) -> None:
        self.asked: SimpleQueue[bool] = SimpleQueue()
        """True for each question, and False when the game is over."""
        self.actions: SimpleQueue[str | None] = SimpleQueue()
        """The answers, and None if the game is abandoned."""

    def decide(self, ask: Ask) -> Answer:
        """Wait for the next action. The clock of the learner stands still."""
        self.asked.put(True)
        action = self.actions.get()
        if action is None:
            raise ServiceFault("the learner has abandoned the game")
        return Answer([action], None, 0.0)


class RefereeThread(Thread):
    """Plays one game with the referee, beside the thread of the learner."""

    def __init__(
        self, game: TorresGame, players: Sequence[Player], learner: Learner, seed: str
    ) -> None:
        super().__init__(name="torres-referee", daemon=True)
        self.game = game
        self.learner = learner
        self._players = players
        self._seed = seed
        self._failure: Exception | None = None

    def run(self) -> None:
        """Play the game, and report its end to the learner."""
        try:
            limits = Limits().as_dict()
            play(self.game, self._players, seed=self._seed, limits=limits)
        except Exception as error:  # noqa: BLE001 - the other thread raises it
            self._failure = error
        finally:
            self.learner.asked.put(False)

    def wait(self) -> None:
        """Wait until the learner has to decide, or until the game is over.

        Raises ServiceFault if this machine cannot run an opponent.
        """
        if not self.learner.asked.get():
            self.join()
            if self._failure is not None:
                raise self._failure

    def abandon(self) -> None:
        """End the game and its bots, unless it is over."""
        self.learner.actions.put(None)
        self.join()


class TorresAgainst(Env[Numbers, Any]):
    """Games of one learner against bots, with one action for each step.

    - `opponents`: one to three bots, each a file, a folder or "house:NAME". They sit
      clockwise behind the learner.
    - `ruleset`: the name of one of the ten rulesets.
    - `switches`: switches of the rules with other values than those of the ruleset.
    - `seat`: the learner's seat, or None for a new random seat in each game.
    - `reward`: "rank" or "margin", given at the end of the game.
    - `level`: the sandbox of the opponents; "none" is for bots that you trust.
    - `render_mode`: one of those of `TorresEnvironment`.

    Raises BadSwitch for an unknown ruleset or switch or a wrong number of opponents,
    ValueError for another wrong argument, and click.BadParameter for an unknown bot.
    `reset` and `step` raise ServiceFault if this machine cannot run an opponent.
    """

    metadata = {"render_modes": list(RENDER_MODES), "render_fps": 4}

    def __init__(  # noqa: PLR0913 - one parameter for each option
        self,
        opponents: Sequence[str] = ("house:greedy",),
        ruleset: str = DEFAULT,
        *,
        switches: Mapping[str, object] | None = None,
        seat: int | None = None,
        reward: Reward = "rank",
        level: Level = "none",
        render_mode: str | None = None,
    ) -> None:
        self.rules = resolve(ruleset, len(opponents) + 1, switches)
        if seat is not None and seat not in range(self.rules.seats):
            raise ValueError(f"there is no seat {seat} in a game of {self.rules.seats}")
        self.seat = seat or 0
        self.reward: Reward = check_reward(reward)
        self.render_mode = check_mode(render_mode)
        self.observation_space = spaces.Box(
            0.0, MAX_NUMBER, (OBSERVATION_SIZE,), np.float32
        )
        self.action_space = spaces.Discrete(ACTION_COUNT)
        self._fixed_seat = seat
        self._observer = Observer()
        self._running: RefereeThread | None = None
        bots = [find_bot(name) for name in opponents]
        self._names = [bot.name for bot in bots]
        self._sandbox = open_sandbox(level)
        cache = home_cache()
        self._programs = [prepared(bot.program, self._sandbox, cache) for bot in bots]

    @property
    def game(self) -> TorresGame:
        """The present game. Raises RuntimeError before the first `reset`."""
        if self._running is None:
            raise RuntimeError("there is no game yet; call `reset` first")
        return self._running.game

    def reset(
        self, *, seed: int | None = None, options: dict[str, object] | None = None
    ) -> tuple[Numbers, dict[str, object]]:
        """Begin a new game. Equal seeds give equal games, as far as the bots do."""
        super().reset(seed=seed, options=options)
        self._abandon()
        seats = self.rules.seats
        seat = int(self.np_random.integers(seats))
        self.seat = seat if self._fixed_seat is None else self._fixed_seat
        game_seed = str(self.np_random.integers(2**63))
        learner = Learner()
        bots = [BotProcess(program, self._sandbox) for program in self._programs]
        first = seats - self.seat  # the learner is the first of `everybody`
        everybody: list[Player] = [learner, *bots]
        players = everybody[first:] + everybody[:first]
        game = TorresGame(self.rules, derive(self.rules, game_seed))
        self._running = RefereeThread(game, players, learner, game_seed)
        self._running.start()
        self._running.wait()
        return self._observation(), self._info()

    def step(self, action: int) -> tuple[Numbers, float, bool, bool, dict[str, Any]]:
        """Play the action with an id, and then the opponents up to the next decision.

        An illegal action ends the game with a reward of -1. Raises RuntimeError if the
        game is over.
        """
        game = self.game
        running = self._running
        if game.over or running is None or not running.is_alive():
            raise RuntimeError("the game is over; call `reset` first")
        if not self.action_masks()[action]:
            self._abandon()
            return self._observation(), ILLEGAL_REWARD, True, False, self._info()
        running.learner.actions.put(text(game.position, ACTIONS[action]))
        running.wait()
        reward = 0.0
        if game.result is not None:
            reward = result_rewards(game.result, self.reward)[self.seat]
        return self._observation(), reward, game.over, False, self._info()

    def action_masks(self) -> Numbers:
        """Return an array with True for each legal action, as `MaskablePPO` wants it.

        Nothing is legal when the game is over.
        """
        mask = np.zeros(ACTION_COUNT, np.int8)
        if not self.game.over:
            self._observer.mask(self.game.position, mask, 0)
        return mask.astype(np.bool_)

    def action_text(self, action: int) -> str:
        """Return the string of a legal action, such as "move b3 e5"."""
        return text(self.game.position, ACTIONS[action])

    def render(self) -> Any:  # noqa: ANN401 - of Gymnasium
        """Return the board as text, pixels or SVG; print it in the mode "human"."""
        others = iter(self._names)
        seats = [(self.seat + i) % self.rules.seats for i in range(self.rules.seats)]
        names = {seat: next(others) if i else "learner" for i, seat in enumerate(seats)}
        by_seat = [names[seat] for seat in sorted(names)]
        return draw(self.game.position, self.rules, by_seat, self.render_mode)

    def close(self) -> None:
        """End the game and the processes of the opponents."""
        self._abandon()
        self._sandbox.close()

    def _abandon(self) -> None:
        if self._running is not None:
            self._running.abandon()

    def _observation(self) -> Numbers:
        numbers = np.empty(OBSERVATION_SIZE, np.float32)
        self._observer.observe(self.game.position, self.seat, numbers, 0)
        return numbers

    def _info(self) -> dict[str, object]:
        """Return the seat, and the scores, ranks and forfeited seats at the end."""
        game = self.game
        info: dict[str, object] = {"seat": self.seat}
        if game.result is not None:
            info |= {"scores": game.result["scores"], "ranks": game.result["ranks"]}
            info["forfeited"] = list(game.forfeited)
        return info


gymnasium.register("Torres-v0", entry_point=f"{__name__}:{TorresAgainst.__name__}")
