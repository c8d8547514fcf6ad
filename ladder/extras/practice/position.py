"""The position of a practice game, computed from its rows by a copy of the engine.

The web server needs it to show a seat what it sees and may do, and to try a turn that
the person has not sent yet. Nothing here may reveal facts that the seat does not know.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from engine.documents import ForfeitEntry, MoveEntry, Replay
from engine.errors import IllegalAction
from engine.faults import Fault
from engine.game import TorresGame
from engine.position_text import position_from
from engine.replay import document
from engine.rulesets import resolve
from engine.setup import derive
from ladder.extras.practice.models import PracticeGame, PracticeMove

MAX_ACTIONS = 64
"""The actions of one answer. A turn has at most 13 action points and some free acts."""
MAX_ACTION_CHARS = 80


@dataclass(frozen=True, slots=True)
class Tentative:
    """A turn that is tried and not sent.

    `game` is the position after its actions. `legal` are the actions that may follow in
    the same answer; there is none if the answer is complete.
    """

    game: TorresGame
    legal: list[str]

    @property
    def complete(self) -> bool:
        return not self.legal


def start(game: PracticeGame) -> TorresGame:
    """Return the game before its first move."""
    if game.start:
        return position_from(game.start).game()
    rules = resolve(game.ruleset, game.seats, game.switches)
    return TorresGame(rules, derive(rules, game.seed))


def entries(moves: Sequence[PracticeMove]) -> list[MoveEntry]:
    """Return the moves in the form of a replay (docs/contract.md, section 7)."""
    result: list[MoveEntry] = []
    for move in moves:
        entry: MoveEntry = {"seat": move.seat, "actions": move.actions}
        if move.ms is None:
            entry["auto"] = True
        else:
            entry["ms"] = round(move.ms, 1)
        result.append(entry)
    return result


def played(game: PracticeGame, moves: Sequence[PracticeMove]) -> TorresGame:
    """Return the game after its moves and forfeits."""
    torres = start(game)
    pending = list(game.forfeits)
    for move in moves:
        while pending and pending[0]["before_move"] <= move.index:
            _forfeit(torres, pending.pop(0))
        for action in move.actions:
            torres.play(action, auto=move.ms is None)
    for forfeit in pending:
        _forfeit(torres, forfeit)
    return torres


def _forfeit(torres: TorresGame, forfeit: ForfeitEntry) -> None:
    if not torres.over:
        torres.forfeit(forfeit["seat"], Fault(forfeit["reason"]))


def attempt(torres: TorresGame, actions: Sequence[str]) -> Tentative:
    """Play the actions of one answer on a copy. Raises IllegalAction.

    A purchase is checked and not played, because the drawn cards are secret until the
    answer is sent. An answer ends with a purchase, with its turn, and with every
    decision outside of a turn (docs/contract.md, section 7).
    """
    copy = torres.copy()
    turn = copy.turn_id
    legal = copy.legal()
    for number, action in enumerate(actions):
        if not legal:
            before = actions[number - 1]
            raise IllegalAction(action, f"nothing may follow {before} in this answer")
        if action == "buy" and action in legal:
            legal = []
            continue
        copy.play(action)
        legal = copy.legal() if copy.turn_id == turn else []
    return Tentative(copy, legal)


def replay(game: PracticeGame, moves: Sequence[PracticeMove]) -> Replay:
    """Return the replay of a game that has ended, or of its beginning.

    The players get their names when it is read: an account may be deleted meanwhile.
    The replay of a game from a position cannot be verified: its seed gives other decks.
    """
    torres = played(game, moves)
    return document(
        torres,
        seed=game.seed,
        players=[{"name": ""} for _ in range(game.seats)],
        moves=entries(moves),
        forfeits=game.forfeits,
    )
