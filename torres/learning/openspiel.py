"""Torres as a game of OpenSpiel, for its algorithms: imperfect information, chance.

    import pyspiel
    import torres.learning.openspiel

    game = pyspiel.load_game("python_torres(ruleset=yucata,players=2)")

It needs the extra `openspiel`. Chance nodes deal all cards before the first action, one
card at each node. docs/environments.md explains the game and its tensors.
"""

from collections.abc import Callable
from random import Random
from typing import Any, NamedTuple

import numpy as np
import pyspiel

from engine import Position, kernel, notation, resolve, seen_by
from engine.editions import DEFAULT
from engine.moves import CARD_COUNT, CARD_NAMES, KEEP, KEEPING, OVER
from engine.observation import (
    ACTION_COUNT,
    ACTIONS,
    LAYOUT,
    OBSERVATION_SIZE,
    Observer,
    id_of,
)
from engine.rulesets import CARDS, MASTERS, MAX_SEATS, MIN_SEATS, Rules
from engine.search import determinize, ranks_of
from engine.setup import Setup
from torres.learning.rewards import rank_rewards

MAX_TURN_ACTIONS = 18  # 7 points, as many `keep`, a stack, a card, an end, and one more
MAX_OTHER_ACTIONS = 64  # the set-up, the king, first seats and stacks of the phases
HIDDEN_KEEP = ACTION_COUNT  # the action that stands for a `keep` of another seat
CARD_OUTCOMES = max(CARD_COUNT, len(MASTERS), MAX_SEATS)
PRIVATE = ("hand", "fresh", "drawn")  # parts of an observation
_FIRST, _MASTER = -1, -2  # steps of the deal; the others are numbers of decks

GAME_TYPE = pyspiel.GameType(
    short_name="python_torres",
    long_name="Torres",
    dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
    chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
    information=pyspiel.GameType.Information.IMPERFECT_INFORMATION,
    utility=pyspiel.GameType.Utility.ZERO_SUM,
    reward_model=pyspiel.GameType.RewardModel.TERMINAL,
    max_num_players=MAX_SEATS,
    min_num_players=MIN_SEATS,
    provides_information_state_string=True,
    provides_information_state_tensor=True,
    provides_observation_string=True,
    provides_observation_tensor=True,
    provides_factored_observation_string=True,
    parameter_specification={"ruleset": DEFAULT, "players": MIN_SEATS},
)


class Note(NamedTuple):
    """An action as one seat learnt of it: its text, its id, and the cards drawn.

    `drawn` is a number with a digit from 0 to 10 for each card, in base 11.
    """

    text: str
    action: int
    drawn: int


class Deal:
    """The order in which chance decides the set-up of a game, step by step."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        first = [_FIRST] if rules.start_player == "random" else []
        cards = len(CARDS) * rules.copies
        decks = [pile for pile in range(rules.deck_count) for _ in range(cards)]
        master = [_MASTER] if rules.master_card else []
        self.steps = [*first, *decks, *master]

    def outcomes(self, dealt: list[int]) -> list[tuple[int, float]]:
        """Return the possible outcomes of the next step with their probabilities."""
        step = self.steps[len(dealt)]
        if step < 0:
            count = self.rules.seats if step == _FIRST else len(MASTERS)
            return [(outcome, 1 / count) for outcome in range(count)]
        used = self._deck(dealt, step)
        left = [self.rules.copies - used.count(card) for card in range(len(CARDS))]
        return [(card, n / sum(left)) for card, n in enumerate(left) if n]

    def _deck(self, dealt: list[int], pile: int) -> list[int]:
        return [o for step, o in zip(self.steps, dealt, strict=False) if step == pile]

    def setup(self, dealt: list[int]) -> Setup:
        """Return the set-up of a finished deal."""
        decks = tuple(
            tuple(CARDS[card] for card in self._deck(dealt, pile))
            for pile in range(self.rules.deck_count)
        )
        master = self._deck(dealt, _MASTER)
        return Setup(
            next(iter(self._deck(dealt, _FIRST)), 0),
            decks,
            MASTERS[master[0]] if master else None,
        )

    def text(self, step: int, outcome: int) -> str:
        """Return an outcome as a text."""
        if step == _FIRST:
            return f"first {outcome}"
        return f"master {MASTERS[outcome]}" if step == _MASTER else CARDS[outcome]


class Table:
    """All of a game that changes. `copy.deepcopy`, which OpenSpiel calls, is cheap."""

    def __init__(self, deal: Deal) -> None:
        self.deal = deal
        self.dealt: list[int] = []
        self.position: Position | None = None
        self.start = ""  # the part of the deal that all seats see
        self.texts: list[str] = []  # of all actions, with nothing hidden
        # The facts that each seat learnt, and at last the facts that all seats learnt.
        self.notes: list[list[Note]] = [[] for _ in range(deal.rules.seats + 1)]

    def __deepcopy__(self, memo: dict[int, Any]) -> "Table":
        other = Table(self.deal)
        other.dealt = list(self.dealt)
        other.position = self.position and self.position.copy()
        other.start = self.start
        other.texts = list(self.texts)
        other.notes = [list(notes) for notes in self.notes]
        return other

    def draw(self, outcome: int) -> None:
        """Take the next step of the deal, and begin the game after the last one."""
        self.dealt.append(outcome)
        if len(self.dealt) == len(self.deal.steps):
            self.begin()

    def begin(self) -> None:
        """Begin the game after the deal."""
        setup = self.deal.setup(self.dealt)
        self.start = f"first {setup.first} master {setup.master}"
        self.position = kernel.start(self.deal.rules, setup)

    def play(self, action: int) -> None:
        """Play an action, and note what each seat learns."""
        position = self.position
        assert position is not None  # nobody acts before the deal is over
        seat = position.seat
        move = ACTIONS[action]
        text = notation.text(position, move)
        before = _hand(position, seat)
        position.apply(move)
        drawn = _drawn(position, seat, before) if text == "buy" else []
        self.texts.append(text)
        for other, notes in enumerate(self.notes):
            notes.append(_note(seat, other, text, action, drawn))

    def deal_again(self, seat: int, rng: Random) -> None:
        """Deal the cards again that a seat cannot know.

        The other seats then have learnt what everybody has, and what they hold now.
        """
        if self.position is None:
            return
        position = self.position = determinize(self.position, seat, rng)
        for other in range(position.seats):
            if other != seat:
                hand = enumerate(_hand(position, other))
                cards = "".join(f" {CARD_NAMES[card]} {n}" for card, n in hand if n)
                held = Note(f"{other} has{cards}", HIDDEN_KEEP + 2, 0)
                self.notes[other] = [*self.notes[-1], held]


def _hand(position: Position, seat: int) -> list[int]:
    return list(position.cards.hand[seat * CARD_COUNT : (seat + 1) * CARD_COUNT])


def _drawn(position: Position, seat: int, before: list[int]) -> list[int]:
    """Return the cards that a purchase showed to a seat."""
    if position.decision == KEEPING:
        return sorted(position.cards.drawn[: position.cards.draws])
    after = _hand(position, seat)
    return [card for card in range(CARD_COUNT) if after[card] > before[card]]


def _note(seat: int, other: int, text: str, action: int, drawn: list[int]) -> Note:
    """Return what another seat, or the seat itself, learns from an action."""
    if seat == other:
        number = 0
        for card in drawn:
            number = 11 * number + card + 1
        names = "".join(f" {CARD_NAMES[card]}" for card in drawn)
        return Note(f"{seat} {text}{names}", action, number)
    seen = seen_by({"seat": seat, "action": text}, other)["action"]
    if ACTIONS[action] >> 16 == KEEP:
        return Note(f"{seat} {seen}", HIDDEN_KEEP + (ACTIONS[action] & 1), 0)
    return Note(f"{seat} {seen}", action, 0)


class SpielGame(pyspiel.Game):
    """The game. Its parameters are `ruleset` and `players`, 2 to 4.

    Raises BadSwitch for an unknown ruleset or number of players. The utility is the
    reward "rank": the share of the other seats that a seat has beaten, minus the share
    of those that have beaten it.
    """

    def __init__(self, params: dict[str, Any] | None = None) -> None:
        given: dict[str, Any] = {"ruleset": DEFAULT, "players": MIN_SEATS} | (
            params or {}
        )
        self.rules = resolve(given["ruleset"], given["players"])
        self.deal = Deal(self.rules)
        turns = self.rules.seats * sum(len(stacks) for stacks in self.rules.stacks)
        self.length = turns * MAX_TURN_ACTIONS + MAX_OTHER_ACTIONS
        info = pyspiel.GameInfo(
            num_distinct_actions=ACTION_COUNT,
            max_chance_outcomes=CARD_OUTCOMES,
            num_players=self.rules.seats,
            min_utility=-1.0,
            max_utility=1.0,
            utility_sum=0.0,
            max_game_length=self.length,
        )
        super().__init__(GAME_TYPE, info, params or {})

    def new_initial_state(self) -> "SpielState":
        return SpielState(self)

    def max_chance_nodes_in_history(self) -> int:
        return len(self.deal.steps)

    def make_py_observer(
        self,
        iig_obs_type: Any = None,  # noqa: ANN401 - of OpenSpiel
        params: dict[str, Any] | None = None,
    ) -> "SpielObserver":
        kind = iig_obs_type or pyspiel.IIGObservationType(perfect_recall=False)
        return SpielObserver(self, kind, params)


class SpielState(pyspiel.State):
    """A state: chance decides as long as cards are dealt, then the seats."""

    def __init__(self, game: SpielGame) -> None:
        super().__init__(game)
        self.table = Table(game.deal)
        if not game.deal.steps:
            self.table.begin()

    def current_player(self) -> int:
        position = self.table.position
        if position is None:
            return int(pyspiel.PlayerId.CHANCE)
        if position.decision == OVER:
            return int(pyspiel.PlayerId.TERMINAL)
        return position.seat

    def _legal_actions(self, player: int) -> list[int]:
        position = self.table.position
        if position is None or player != position.seat:
            return []
        numbers = [id_of(move) for move in position.legal()]
        return sorted(number for number in numbers if number >= 0)

    def chance_outcomes(self) -> list[tuple[int, float]]:
        return self.table.deal.outcomes(self.table.dealt)

    def _apply_action(self, action: int) -> None:
        if self.table.position is None:
            self.table.draw(action)
        else:
            self.table.play(action)

    def _action_to_string(self, player: int, action: int) -> str:
        table = self.table
        if player == pyspiel.PlayerId.CHANCE:
            return table.deal.text(table.deal.steps[len(table.dealt)], action)
        assert table.position is not None  # a player acts
        return notation.text(table.position, ACTIONS[action])

    def is_terminal(self) -> bool:
        position = self.table.position
        return position is not None and position.decision == OVER

    def returns(self) -> list[float]:
        position = self.table.position
        if position is None or position.decision != OVER:
            return [0.0] * self.table.deal.rules.seats
        return rank_rewards(ranks_of(position))

    def resample_from_infostate(
        self, player: int, sampler: Callable[[], float]
    ) -> "SpielState":
        """Return a state in which the cards that a seat cannot know are dealt again.

        `sampler` returns numbers from 0 to 1. The history of the new state is that of
        this one: what OpenSpiel stores in it was decided by the first deal.
        """
        state: SpielState = self.clone()
        rng = Random(int(sampler() * 2**53))  # noqa: S311 - a search needs no secret
        state.table.deal_again(player, rng)
        return state

    def __str__(self) -> str:
        table = self.table
        dealt = zip(table.deal.steps, table.dealt, strict=False)
        cards = " ".join(table.deal.text(step, outcome) for step, outcome in dealt)
        return "\n".join([cards, *table.texts])


class SpielObserver:
    """Writes what a seat sees into a tensor, or into a string.

    With perfect recall, the pieces "actions" and "purchases" have one number for each
    action so far: its id plus 1, and the cards that the seat drew (`Note`).
    """

    def __init__(
        self,
        game: SpielGame,
        kind: Any,  # noqa: ANN401 - of OpenSpiel
        params: dict[str, Any] | None,
    ) -> None:
        if params:
            raise ValueError(f"the observer of Torres has no parameters: {params}")
        self._private = kind.private_info == pyspiel.PrivateInfoType.SINGLE_PLAYER
        self._recall = kind.perfect_recall
        self._observer = Observer()
        pieces = dict(LAYOUT)
        if self._recall:
            pieces |= {"actions": game.length, "purchases": game.length}
        self.tensor = np.zeros(sum(pieces.values()), np.float32)
        ends = np.cumsum(list(pieces.values()))
        self.dict = dict(zip(pieces, np.split(self.tensor, ends[:-1]), strict=True))

    def set_from(self, state: SpielState, player: int) -> None:
        """Write what a player knows into `tensor`, of which `dict` has the pieces."""
        table = state.table
        self.tensor.fill(0)
        if table.position is None:
            return
        self._observer.observe(table.position, player, self.tensor, 0)
        if not self._private:
            for part in PRIVATE:
                self.dict[part].fill(0)
        if self._recall:
            notes = self._notes(table, player)
            self.dict["actions"][: len(notes)] = [note.action + 1 for note in notes]
            self.dict["purchases"][: len(notes)] = [note.drawn for note in notes]

    def _notes(self, table: Table, player: int) -> list[Note]:
        return table.notes[player if self._private else -1]

    def string_from(self, state: SpielState, player: int) -> str:
        """Return what a player knows as a string."""
        table = state.table
        if table.position is None:
            return f"{player} waits for the cards"
        if self._recall:
            notes = self._notes(table, player)
            return "\n".join([f"seat {player} {table.start}", *(n.text for n in notes)])
        self.set_from(state, player)
        numbers = (f"{number:g}" for number in self.tensor[:OBSERVATION_SIZE])
        return f"seat {player} sees {' '.join(numbers)}"


pyspiel.register_game(GAME_TYPE, SpielGame)
