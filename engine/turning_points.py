"""The analysis of a finished game: its course, turning points, luck, and what if.

The course is the outlook (`analysis.Outlook`) before each turn. Each turn is compared
with the next one: the change is its swing, which is partly the decision of the seat,
partly the drawn cards, and partly noise. The largest swings that exceed the noise
are the turning points. All figures are computed the same again for the same replay.
"""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import NamedTuple, NotRequired, TypedDict

from engine.analysis import Outlook, Policy, reshuffled
from engine.better_turns import BetterTurn, best_alternative
from engine.errors import EngineError, IllegalAction
from engine.game import TorresGame
from engine.kernel import Position
from engine.luck import GameLuck, luck_of
from engine.moves import Decision
from engine.notation import text
from engine.replay import game_at, play_again

FORMAT = "torres-analysis/1"
WHAT_IF_FORMAT = "torres-what-if/1"
GAMES = 24
"""The games from each position."""
ROUGH_GAMES = 2
"""The games of each alternative in the first estimate."""
FIRST_GAMES = 4
"""The games of each alternative before the best ones get more."""
BEST = 8
"""The alternatives that get all games, besides the one that was played."""
MAX_TURNING_POINTS = 5
TURN_WIDTH = 2
"""The beam of the policy that compares turns. It finds good turns that one of a single
position misses, and takes less than twice its time."""
CLOSER_WIDTH = 4
"""The beam of the policy that looks closer at losses. The narrow one misses chances."""
CLOSER = 2
"""A closer look at a turn adds this many times the games before it and after it."""
LOOKS = 12
"""The closer looks at turns that a game gets, at most, times its seats: with more seats
there are more turns, and each look takes longer."""
LOOKS_AT_A_TURN = 4
SURE_LOOKS = 2
"""The worst turn gets at least as many, because the largest of several losses is
partly large by chance."""
NARROW_ERROR = 0.05
"""The standard error that a loss has because the beam is narrow (decision 283)."""
TOLERANCE = 0.05
"""The named loss may be smaller than another one by this much."""
CLEAR = 2.0
"""A swing is clear if it exceeds this many standard errors."""
MIN_SWING = 0.1
"""A turning point changes the chance of a seat by at least this."""
MAX_LINE = 64
"""The actions of a line after which alternatives are compared."""
MAX_LISTED = 40
"""The alternatives that are listed; the others are worse."""


class TurnOutlook(TypedDict):
    """The outlook before a turn, or at the end; `seat` is then null."""

    ply: int
    seat: int | None
    phase: int
    round: int
    leads: list[float]
    lead_errors: list[float]
    chances: list[float]
    chance_errors: list[float]


class Swing(TypedDict):
    """How much a turn changed the outlook of the seat that played it."""

    ply: int
    end: int
    seat: int
    lead: float
    chance: float
    error: float
    """The standard error of the change of the chance."""


class GameAnalysis(TypedDict):
    """The analysis of a game. `turns` ends with the result, which has no error.

    `better` has a better turn for turning points that cost their seat chances; there is
    none if no other turn is clearly better. Analyses from before it existed lack it.
    """

    format: str
    games: int
    width: int
    turns: list[TurnOutlook]
    swings: list[Swing]
    turning_points: list[int]
    better: NotRequired[list[BetterTurn]]
    luck: GameLuck


class Alternative(TypedDict):
    """The worth of an action for the seat that decides."""

    action: str
    games: int
    lead: float
    error: float
    chance: float
    played: bool


class WhatIf(TypedDict):
    """The alternatives of a seat after some actions, the best first."""

    format: str
    ply: int
    line: list[str]
    seat: int
    decision: str
    actions: int
    """The number of legal actions, of which the best are listed."""
    alternatives: list[Alternative]


class _TurnStart(NamedTuple):
    ply: int
    seat: int
    position: Position
    forfeited: tuple[int, ...]
    actions: list[str]
    """The actions of the turn, with its `end`."""


def analyse(document: object, games: int = GAMES) -> GameAnalysis:
    """Return the analysis of a replay. Raises InvalidReplay, and EngineError.

    A game that ended before its first turn has no turns and no turning points.
    """
    starts, game = _turn_starts(document)
    if not game.over:
        raise EngineError("the game is not over; only a finished game can be analysed")
    course = _Course(starts, game, games)
    course.look_closer()
    swings = course.swings()
    points = turning_points(swings)
    losses = [index for index in points if swings[index]["chance"] < 0]
    better = [_better(course, index, games) for index in sorted(losses)]
    return {
        "format": FORMAT,
        "games": games,
        "width": TURN_WIDTH,
        "turns": _turns(starts, course.outlooks(), game),
        "swings": swings,
        "turning_points": points,
        "better": [turn for turn in better if turn is not None],
        "luck": luck_of(document, games),
    }


def turning_points(swings: Sequence[Swing]) -> list[int]:
    """Return the indexes of the largest clear swings, the largest first."""
    clear = [index for index, swing in enumerate(swings) if is_clear(swing)]
    clear.sort(key=lambda index: -abs(swings[index]["chance"]))
    return clear[:MAX_TURNING_POINTS]


def is_clear(swing: Swing) -> bool:
    """True if a swing is large, and exceeds what its noise can explain."""
    return abs(swing["chance"]) >= max(MIN_SWING, CLEAR * swing["error"])


def _turn_starts(document: object) -> tuple[list[_TurnStart], TorresGame]:
    """Return the position before each turn of a seat that has not forfeited."""
    starts: list[_TurnStart] = []
    known = -1

    def watch(game: TorresGame, action: str) -> None:
        nonlocal known
        if game.turn_id == known and game.position.seat not in game.forfeited:
            starts[-1].actions.append(action)
        if game.decision is not Decision.TURN or game.turn_id == known:
            return
        known = game.turn_id
        seat = game.position.seat
        if seat not in game.forfeited:
            forfeited = tuple(game.forfeited)
            position = game.position.copy()
            starts.append(_TurnStart(game.ply, seat, position, forfeited, [action]))

    game = play_again(document, watch)
    return starts, game


class _Course:
    """The outlooks of a game, before each turn and at the end.

    The narrow policy evaluates all positions, and the wide one those beside the largest
    losses. The swing of a turn is the difference of two outlooks of the same policy.
    """

    def __init__(
        self, starts: Sequence[_TurnStart], game: TorresGame, games: int
    ) -> None:
        self.starts = starts
        self._games = games
        self._seats = game.rules.seats
        self.narrow = Policy(game.rules, TURN_WIDTH)
        self.wide = Policy(game.rules, CLOSER_WIDTH)
        self._ends = [*(start.ply for start in starts[1:]), game.ply]
        self._looks = Counter[int]()
        self._closer = {len(starts): _result(game)}
        self._first = [_outlook(self.narrow, start, games) for start in starts]
        self._first.append(self._closer[len(starts)])

    def look_closer(self) -> None:
        """Look closer at the turns that may be the worst, until one of them is it.

        Each time these are the turn with the largest loss, and the one whose loss may
        be the largest with the most probability. This is the rule LUCB (Kalyanakrishnan
        et al., PAC Subset Selection in Stochastic Multi-armed Bandits, 2012).
        """
        while self.starts and self._looks.total() < LOOKS // self._seats:
            turns = [i for i in self._unsure() if self._looks[i] < LOOKS_AT_A_TURN]
            if not turns:
                break
            for turn in turns:
                self._look(turn)

    def _unsure(self) -> list[int]:
        """Return the turn with the largest loss, and one that may have a larger one.

        There are none if no turn lost enough to be a turning point.
        """
        by_loss = sorted(
            range(len(self.starts)), key=lambda turn: self._swing(turn)["chance"]
        )
        worst = by_loss[0]
        if self._least(worst) > -MIN_SWING:
            return []
        rival = min(by_loss[1:], key=self._least, default=worst)
        if self._least(rival) < self._most(worst) - TOLERANCE:
            return [worst, rival]
        return [worst] if self._looks[worst] < SURE_LOOKS else []

    def _look(self, turn: int) -> None:
        """Add games of the wide policy before and after a turn."""
        self._looks[turn] += 1
        games = self._looks[turn] * CLOSER * self._games
        for index in (turn, turn + 1):
            known = self._closer.get(index)
            first = known.games if known else 0
            if index == len(self.starts) or first >= games:
                continue
            more = _outlook(self.wide, self.starts[index], games - first, first)
            self._closer[index] = known.with_more(more) if known else more

    def _least(self, turn: int) -> float:
        """Return how bad the swing of a turn may be, within its standard error."""
        return self._swing(turn)["chance"] - self._error(turn)

    def _most(self, turn: int) -> float:
        return self._swing(turn)["chance"] + self._error(turn)

    def _error(self, turn: int) -> float:
        error = self._swing(turn)["error"]
        return error if self._is_closer(turn) else math.hypot(error, NARROW_ERROR)

    def _is_closer(self, turn: int) -> bool:
        return turn in self._closer and turn + 1 in self._closer

    def outlooks(self) -> list[Outlook]:
        """Return the outlook before each turn, and the result."""
        return [self._closer.get(i, first) for i, first in enumerate(self._first)]

    def swings(self) -> list[Swing]:
        """Return the swing of each turn."""
        return [self._swing(turn) for turn in range(len(self.starts))]

    def _swing(self, turn: int) -> Swing:
        before, after = self._first[turn : turn + 2]
        if self._is_closer(turn):
            before, after = self._closer[turn], self._closer[turn + 1]
        start = self.starts[turn]
        return {
            "ply": start.ply,
            "end": self._ends[turn],
            "seat": start.seat,
            "lead": round(after.leads[start.seat] - before.leads[start.seat], 2),
            "chance": round(after.chances[start.seat] - before.chances[start.seat], 3),
            "error": round(after.change_error(before, start.seat), 3),
        }

    def after(self, turn: int) -> tuple[Policy, Outlook]:
        """Return the policy that evaluated the end of a turn, and its outlook."""
        if turn + 1 in self._closer:
            return self.wide, self._closer[turn + 1]
        return self.narrow, self._first[turn + 1]


def _outlook(policy: Policy, start: _TurnStart, games: int, first: int = 0) -> Outlook:
    """Return the outlook before a turn, with the same random numbers at each turn."""
    return policy.outlook(
        lambda rng: reshuffled(start.position, rng),
        games,
        "turn",
        start.forfeited,
        first,
    )


def _turns(
    starts: Sequence[_TurnStart], course: Sequence[Outlook], game: TorresGame
) -> list[TurnOutlook]:
    """Return the outlooks as a document, the result last."""
    if not starts:
        return []
    places: list[tuple[int, int | None, Position]] = [
        *((start.ply, start.seat, start.position) for start in starts),
        (game.ply, None, game.position),
    ]
    return [
        {
            "ply": ply,
            "seat": seat,
            "phase": position.phase,
            "round": position.round,
            "leads": _rounded(outlook.leads, 2),
            "lead_errors": _rounded(outlook.lead_errors, 2),
            "chances": _rounded(outlook.chances, 3),
            "chance_errors": _rounded(outlook.chance_errors, 3),
        }
        for (ply, seat, position), outlook in zip(places, course, strict=True)
    ]


def _better(course: _Course, index: int, games: int) -> BetterTurn | None:
    """Return a turn that is clearly better than the one that was played."""
    start, (policy, after) = course.starts[index], course.after(index)
    turn = best_alternative(
        policy, start.position, start.ply, start.actions, start.forfeited, games
    )
    if turn is None:
        return None
    error = math.hypot(turn["error"], after.chance_errors[start.seat])
    gain = turn["chance"] - after.chances[start.seat]
    return turn if gain >= max(MIN_SWING, CLEAR * error) else None


def _result(game: TorresGame) -> Outlook:
    """Return the end of a game in the form of an outlook, which has no errors."""
    assert game.result is not None  # the caller has checked it
    scores, ranks = game.result["scores"], game.result["ranks"]
    seats = range(len(scores))
    rivals = [[scores[s] for s in seats if s != seat] for seat in seats]
    return Outlook(
        0,
        tuple(float(scores[seat] - max(rivals[seat])) for seat in seats),
        (0.0,) * len(seats),
        tuple((ranks[seat] == 1) / ranks.count(1) for seat in seats),
        (0.0,) * len(seats),
    )


def what_if(
    document: object,
    ply: int,
    line: Sequence[str] = (),
    games: int = GAMES,
    on_estimate: Callable[[WhatIf], object] | None = None,
) -> WhatIf:
    """Return what each action is worth that is legal after some others.

    The line is played from the position before the action with this ply; without a line
    that action is among the alternatives. A purchase in the line draws the real cards.
    All alternatives get a few games, and the best of them and the played action get
    all. `on_estimate` is called with estimates from fewer games, as soon as there are
    some. Raises InvalidReplay, and EngineError if there is no such position.
    """
    game = position_after(document, ply, line)
    played = None if line else _played(document, ply)
    return _compare(game, ply, line, games, played, on_estimate)


def what_if_from(
    start: TorresGame, line: Sequence[str] = (), games: int = GAMES
) -> WhatIf:
    """Return what each action is worth after a line from a game, as `what_if` does.

    The ply is 0. The game stays as it is. Raises EngineError if nothing is to decide.
    """
    game = start.copy()
    _play_line(game, line)
    return _compare(game, 0, line, games, None)


def _compare(
    game: TorresGame,
    ply: int,
    line: Sequence[str],
    games: int,
    played: str | None,
    on_estimate: Callable[[WhatIf], object] | None = None,
) -> WhatIf:
    policy = Policy(game.rules)
    position, seat = game.position, game.position.seat
    moves = {text(position, move): move for move in position.legal()}

    def outlook(action: str, number: int) -> Outlook:
        def start(rng: Random) -> Position:
            world = reshuffled(position, rng)
            world.perform(moves[action])
            return world

        return policy.outlook(start, number, f"if {ply}", game.forfeited)

    def favourites(outlooks: Mapping[str, Outlook]) -> set[str]:
        best = sorted(moves, key=lambda action: -outlooks[action].leads[seat])[:BEST]
        return {*best, *({played} if played else ())}

    def listing(outlooks: Mapping[str, Outlook], chosen: set[str]) -> WhatIf:
        ordered = sorted(
            outlooks.items(),
            key=lambda each: (each[0] not in chosen, -each[1].leads[seat]),
        )
        return {
            "format": WHAT_IF_FORMAT,
            "ply": ply,
            "line": list(line),
            "seat": seat,
            "decision": str(game.decision),
            "actions": len(ordered),
            "alternatives": [
                {
                    "action": action,
                    "games": found.games,
                    "lead": round(found.leads[seat], 2),
                    "error": round(found.lead_errors[seat], 2),
                    "chance": round(found.chances[seat], 3),
                    "played": action == played,
                }
                for action, found in ordered[:MAX_LISTED]
            ],
        }

    outlooks: dict[str, Outlook] = {}
    for number in (ROUGH_GAMES, FIRST_GAMES) if on_estimate else (FIRST_GAMES,):
        outlooks = {action: outlook(action, min(number, games)) for action in moves}
        if on_estimate:
            on_estimate(listing(outlooks, favourites(outlooks)))
    chosen = favourites(outlooks)
    deeper = {action: outlook(action, games) for action in chosen}
    return listing(outlooks | deeper, chosen)


def position_after(document: object, ply: int, line: Sequence[str]) -> TorresGame:
    """Return the game after a line from the position before an action.

    Raises InvalidReplay, and EngineError if a seat cannot choose there.
    """
    game = game_at(document, ply)
    _play_line(game, line)
    return game


def _play_line(game: TorresGame, line: Sequence[str]) -> None:
    """Play a line, after which a seat has to choose. Raises EngineError."""
    if len(line) > MAX_LINE:
        raise EngineError(f"the line has {len(line)} actions; the limit is {MAX_LINE}")
    for number, action in enumerate(line, 1):
        try:
            game.play(action)
        except IllegalAction as error:
            shown = ascii(action[:60])
            raise EngineError(
                f"action {number} of the line, {shown}: {error.why}"
            ) from error
    if game.over:
        raise EngineError("the game is over after this line, so nothing is to decide")
    if game.position.seat in game.forfeited:
        raise EngineError("the seat that decides there has forfeited")


def _played(document: object, ply: int) -> str:
    """Return the action with this ply. The caller has checked the replay."""
    actions: list[str] = []
    play_again(document, lambda _game, action: actions.append(action))
    return actions[ply]


def _rounded(values: Sequence[float], digits: int) -> list[float]:
    return [round(value, digits) for value in values]
