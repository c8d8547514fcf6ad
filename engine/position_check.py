"""The check of a position from a stranger: a `state` in which nothing is hidden.

`checked_position` takes a state if a game can go on from it, and refuses it with one
sentence that names the field, the fault and the cure. The kernel trusts its position:
after a state that was not checked it may read beyond its arrays. Positions from
the referee need no check. position_text.py reads and writes a state as one line.

A state may be one that no game has reached. It has the pieces of a game, and the
course of the game explains who decides and how many stacks are left.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any

from engine.errors import BadPosition
from engine.kernel import Position
from engine.moves import CARD_IDS, NUMBERS, SPACES, Decision
from engine.rulesets import (
    ACTION_POINTS,
    BLOCKS,
    CARDS,
    COPIES,
    KNIGHTS,
    MASTERS,
    PHASES,
    START_BLOCKS,
    Rules,
)
from engine.search import position_of, towers_by_castle

OVER = "over"
"""In place of a decision: the game is over."""
MAX_SCORE = 9_999
_MAX_ACTION_POINTS = ACTION_POINTS + 2  # with the card ap7
_DRAWN = 3  # cards of a purchase (rule 47)
_APART = 3  # steps between two start blocks (rule 66)
_SIDE = 8
_IN_TURN = (Decision.TURN, Decision.KEEP)
_PHASES_OF: Mapping[str, Sequence[int]] = {
    Decision.FOUND: (0,),
    Decision.ENTER: (0,),
    Decision.KING: (0, 1, 2),
    Decision.FIRST: (1, 2),
    Decision.STOCK: (2, 3),
    Decision.TURN: (1, 2, 3),
    Decision.KEEP: (1, 2, 3),
    OVER: (3,),
}

_BY_SEAT = (
    "order",
    "reserve",
    "carried",
    "scores",
    "stacks",
    "knights",
    "hands",
    "discards",
)

State = Mapping[str, Any]


def checked_position(rules: Rules, decision: str, state: State) -> Position:
    """Return the position of a state of docs/contract.md, section 8.

    Nothing is hidden in it, as `torres trace` prints it. `decision` is the present
    decision, or "over". Raises BadPosition.
    """
    _check_state(rules, decision, state)
    position = position_of(rules, decision, state)
    for seat, blocks in enumerate(state["carried"]):
        if decision == Decision.STOCK and blocks and not position.waiting >> seat & 1:
            why = f"seat {seat} has no choice with {blocks}; put them on its stacks"
            raise BadPosition("carried", why)
    if decision != OVER and not position.legal():
        why = f"seat {state['seat']} has no legal action; make room on the board"
        raise BadPosition("heights", why)
    return position


def _check_state(rules: Rules, decision: str, state: State) -> None:
    _check_form(rules, state)
    _check_course(rules, decision, state)
    _check_turn(rules, decision, state)
    _check_pieces(decision, state)
    _check_towers(decision, state)
    _check_stacks(rules, decision, state)
    _check_carried(rules, decision, state)
    _check_supply(rules, decision, state)
    _check_scores(state)
    _check_cards(rules, decision, state)
    expected = _expected_seat(decision, state)
    if state["seat"] != expected:
        cure = "leave it out" if expected is None else "name this seat"
        seat = "nobody" if expected is None else f"seat {expected}"
        raise BadPosition("seat", f"here {seat} decides ({decision}); {cure}")


# The form of the JSON


_FORM: Mapping[str, object] = {
    **dict.fromkeys(("phase", "round", "first", "ap", "bought", "placed"), int),
    **dict.fromkeys(("seat", "current"), (int, None)),
    **dict.fromkeys(("king", "master"), (str, None)),
    "played": bool,
    "supply": int,
    **{field: [int] for field in ("order", "reserve", "carried", "scores")},
    **{field: [[int]] for field in ("heights", "stacks")},
    **{field: [[str]] for field in ("knights", "hands", "discards", "decks")},
    "fresh": [str],
    "drawn": ([str], None),
}
"""The types of the fields: of an entry in a list, and in a tuple of the choices."""


def _check_form(rules: Rules, state: State) -> None:
    """Check the types of all fields, and the lengths of the lists by seat."""
    for field, form in _FORM.items():
        if not _has_form(state.get(field), form):
            why = "it is missing or has the wrong type; see docs/contract.md, section 8"
            raise BadPosition(field, why)
    lengths = dict.fromkeys(_BY_SEAT, rules.seats) | {"decks": rules.deck_count}
    for field, length in (lengths | {"heights": _SIDE}).items():
        if len(state[field]) != length:
            why = f"its number of entries is {len(state[field])}; write {length}"
            raise BadPosition(field, why)
    if any(len(row) != _SIDE for row in state["heights"]):
        raise BadPosition("heights", f"a row has {_SIDE} numbers; write as many")


def _has_form(value: object, form: object) -> bool:
    if isinstance(form, tuple):
        return any(_has_form(value, choice) for choice in form)
    if isinstance(form, list):
        return isinstance(value, list) and all(_has_form(v, form[0]) for v in value)
    return value is None if form is None else type(value) is form


# The course of the game


def _check_course(rules: Rules, decision: str, state: State) -> None:
    phase = state["phase"]
    if not 0 <= phase <= PHASES:
        why = f"it is {phase}; write 1 to {PHASES}, or 0 for the set-up"
        raise BadPosition("phase", why)
    last = _rounds(rules, state)
    if not min(phase, 1) <= state["round"] <= last:
        choice = f"1 to {last}" if phase else "0"
        why = f"it is {state['round']}; in phase {phase} write {choice}"
        raise BadPosition("round", why)
    _check_decision(rules, decision, state)
    _check_order(rules, decision, state)


def _check_order(rules: Rules, decision: str, state: State) -> None:
    order = state["order"]
    if sorted(order) != list(range(rules.seats)):
        raise BadPosition("order", "name each seat once, beginning with the first one")
    clockwise = _clockwise(order)
    if order != clockwise and (rules.order != "descending" or not state["phase"]):
        why = f"the seats play clockwise here; write {_listed(clockwise)}"
        raise BadPosition("order", why)
    if state["first"] != order[0]:
        raise BadPosition("first", f"the order begins with seat {order[0]}; write it")
    if decision in _IN_TURN and state["seat"] not in order:
        why = f"{decision} belongs to a seat; write one of {_listed(sorted(order))}"
        raise BadPosition("seat", why)


def _rounds(rules: Rules, state: State) -> int:
    """Return the number of rounds of the present phase; 0 in the set-up."""
    phase: int = state["phase"]
    return len(rules.stacks[phase - 1]) if phase else 0


def _check_decision(rules: Rules, decision: str, state: State) -> None:
    """Check that the rules have the decision, and that the phase and round do."""
    if decision not in _PHASES_OF:
        why = f"it is unknown; write one of {', '.join(_PHASES_OF)}"
        raise BadPosition("decision", why)
    keeps = rules.leftover_at_phase_end == "keep"
    names = rules.order == "fixed" and rules.next_start == "lowest_chooses"
    known = {
        Decision.FOUND: rules.start_blocks == "placed",
        Decision.FIRST: names,
        Decision.STOCK: keeps and rules.leftover_distribution == "player",
        Decision.KEEP: rules.deck_count > 0 and rules.buy_draw > 1,
    }
    if not known.get(Decision(decision) if decision != OVER else Decision.TURN, True):
        why = f"these rules have no decision {decision}; write another one"
        raise BadPosition("decision", why)
    if state["phase"] not in _PHASES_OF[decision]:
        phases = ", ".join(map(str, _PHASES_OF[decision]))
        why = f"{decision} belongs to phase {phases}; change it or the phase"
        raise BadPosition("decision", why)
    last = _rounds(rules, state)
    rounds = {Decision.KING: last, Decision.FIRST: last, OVER: last, Decision.STOCK: 1}
    if state["round"] != rounds.get(decision, state["round"]):
        why = f"{decision} belongs to round {rounds[decision]}; write this round"
        raise BadPosition("round", why)


def _check_turn(rules: Rules, decision: str, state: State) -> None:
    """Check the fields of a turn; outside of a turn they have no content."""
    if decision not in _IN_TURN:
        for field in ("ap", "bought", "placed", "played", "fresh", "current"):
            if state[field] not in ((None,) if field == "current" else (0, [])):
                raise BadPosition(
                    field, f"{decision} is outside of a turn; leave it out"
                )
        return
    limits = {
        "ap": _MAX_ACTION_POINTS,
        "bought": rules.max_buys,
        "placed": rules.max_blocks_per_turn,
    }
    for field, limit in limits.items():
        number = state[field]
        if number < 0 or (limit is not None and number > limit):
            raise BadPosition(field, f"it is {number}; write 0 to {limit}")
    most = _MAX_ACTION_POINTS if state["played"] else ACTION_POINTS
    spent = state["bought"] + state["placed"]
    if state["ap"] + spent > most:
        why = f"{spent} of {most} were spent on purchases and blocks; write less"
        raise BadPosition("ap", why)
    if decision == Decision.KEEP and not state["bought"]:
        raise BadPosition("bought", "keep follows a purchase; write at least 1")


def _expected_seat(decision: str, state: State) -> int | None:
    """Return the seat that decides; in a turn any seat may."""
    order: list[int] = state["order"]
    if decision == OVER:
        seat = None
    elif decision in _IN_TURN:
        seat = state["seat"]
    elif decision == Decision.FOUND:
        seat = order[_blocks_on_board(state) % len(order)]
    elif decision == Decision.ENTER:
        seat = order[sum(map(len, state["knights"]))]
    elif decision == Decision.STOCK:
        seat = next(seat for seat in _clockwise(order) if state["carried"][seat])
    elif not state["phase"]:
        seat = order[-1]
    else:  # the lowest score; of equal ones the last in the order
        seat = min(reversed(order), key=lambda seat: state["scores"][seat])
    return seat


def _clockwise(order: Sequence[int]) -> list[int]:
    return [(order[0] + turn) % len(order) for turn in range(len(order))]


# The board


def _check_pieces(decision: str, state: State) -> None:
    taken: dict[str, str] = {}
    for seat, knights in enumerate(state["knights"]):
        for space in knights:
            _check_space("knights", space, taken, f"a knight of seat {seat}")
        if len(knights) > KNIGHTS:
            why = f"seat {seat} has {len(knights)}; leave at most {KNIGHTS}"
            raise BadPosition("knights", why)
        if state["reserve"][seat] != KNIGHTS - len(knights):
            why = f"seat {seat} has {len(knights)} of {KNIGHTS} knights on the board; "
            raise BadPosition("reserve", why + f"write {KNIGHTS - len(knights)}")
    if state["king"] is not None:
        _check_space("king", state["king"], taken, "the king")
    _check_entered(decision, state)


def _check_space(field: str, space: str, taken: dict[str, str], piece: str) -> None:
    if space not in NUMBERS:
        shown = ascii(space[:10])
        raise BadPosition(field, f"{shown} is no space; write a1 to h8")
    if space in taken:
        why = f"{space} has {taken[space]} and {piece}; move one of them"
        raise BadPosition(field, why)
    taken[space] = piece


def _check_entered(decision: str, state: State) -> None:
    """Check who has entered the board. After the set-up each seat and the king have."""
    if not state["phase"]:
        _check_first_knights(decision, state)
        return
    for seat, knights in enumerate(state["knights"]):
        if not knights:
            raise BadPosition("knights", f"seat {seat} has none; add at least one")
    if state["king"] is None or not _height(state, state["king"]):
        raise BadPosition("king", "he is on no castle; put him on a space with a block")


def _check_first_knights(decision: str, state: State) -> None:
    """Check that the seats enter in their order, each on a block (rule 17)."""
    if state["king"] is not None:
        raise BadPosition("king", "he enters at the end of the set-up; leave him out")
    order = state["order"]
    entered = {Decision.FOUND: 0, Decision.KING: len(order)}.get(
        Decision(decision), min(sum(map(len, state["knights"])), len(order) - 1)
    )
    for seat, knights in enumerate(state["knights"]):
        number = int(seat in order[:entered])
        if len(knights) != number:
            why = f"seat {seat} has {len(knights)}; at this point put {number}"
            raise BadPosition("knights", why)
        for space in knights:
            if not _height(state, space):
                why = f"{space} has no block; put the first knight on a start block"
                raise BadPosition("knights", why)


def _height(state: State, space: str) -> int:
    column, row = divmod(NUMBERS[space], _SIDE)
    return int(state["heights"][row][column])


def _blocks_on_board(state: State) -> int:
    return sum(map(sum, state["heights"]))


def _check_towers(decision: str, state: State) -> None:
    """Check rule 10: no tower is higher than the area of its castle."""
    for castle in towers_by_castle(state["heights"]):
        for space, height in castle.items():
            if height < 0:
                raise BadPosition("heights", f"{SPACES[space]} is negative; write 0")
            if height > len(castle):
                why = (
                    f"{SPACES[space]} has {height}, and the area of its castle is "
                    f"{len(castle)}; lower it, because no tower is higher than that"
                )
                raise BadPosition("heights", why)
    if not state["phase"]:
        _check_start_blocks(decision, state)


def _check_start_blocks(decision: str, state: State) -> None:
    count = _blocks_on_board(state)
    founding = decision == Decision.FOUND
    if count >= START_BLOCKS if founding else count != START_BLOCKS:
        wanted = f"less than {START_BLOCKS}" if founding else str(START_BLOCKS)
        why = f"it has {count} blocks; for {decision} in the set-up put {wanted}"
        raise BadPosition("heights", why)
    founded = [
        space for castle in towers_by_castle(state["heights"]) for space in castle
    ]
    for one, other in combinations(founded, 2):
        columns = abs(one // _SIDE - other // _SIDE)
        if columns + abs(one % _SIDE - other % _SIDE) < _APART:
            why = (
                f"{SPACES[one]} and {SPACES[other]} are less than {_APART} steps apart"
            )
            raise BadPosition("heights", f"{why}; move one of these start blocks")


# Blocks off the board


def _check_stacks(rules: Rules, decision: str, state: State) -> None:
    """Check the stacks that are left: their number, their sizes, the current one."""
    current = state["current"]
    if current is not None and current < 0:
        raise BadPosition("current", f"it is {current}; write 0 or more")
    card = sorted(rules.stacks[state["phase"] - 1]) if state["phase"] else []
    taken = _under_knights_played(rules, state)
    for seat, sizes in enumerate(state["stacks"]):
        number = _stacks_left(rules, decision, state, seat)
        if len(sizes) != number:
            why = f"seat {seat} has {len(sizes)} of {number} stacks that are left"
            raise BadPosition("stacks", f"{why}; write {number} sizes")
        if any(size < 0 for size in sizes):
            raise BadPosition("stacks", f"seat {seat} has a negative size; write 0")
        least = zip(card[:number], sorted(sizes), strict=True)
        missing = sum(max(0, dealt - size) for dealt, size in least)
        if missing > taken[seat]:
            why = f"the stacks of seat {seat} are smaller than the ones dealt to it"
            raise BadPosition("stacks", f"{why}; add {missing - taken[seat]}")
    if decision in _IN_TURN and current is None:
        _check_choice(rules, state)


def _check_choice(rules: Rules, state: State) -> None:
    """Check that the seat still has to choose this turn's stack (rule 25)."""
    sizes = state["stacks"][state["seat"]]
    chosen = rules.stack_choice == "largest" or state["placed"]
    if chosen or (len(set(sizes)) == 1 and not state["played"]):
        why = "the seat has its stack of this turn; write the blocks left on it"
        raise BadPosition("current", why)


def _stacks_left(rules: Rules, decision: str, state: State, seat: int) -> int:
    """Return how many stacks a seat has, without the current one (rules 24, 25)."""
    if decision == Decision.STOCK:
        return _rounds(rules, state)
    if decision not in _IN_TURN:
        return 0
    left: int = _rounds(rules, state) - state["round"]
    turn = state["order"].index(seat)
    present = state["order"].index(state["seat"])
    waits = turn > present or (turn == present and state["current"] is None)
    return left + 1 if waits else left


def _under_knights_played(rules: Rules, state: State) -> list[int]:
    """Return by seat how many blocks UNDER_KNIGHT may have taken from its stacks."""
    played = [names.count("under_knight") for names in state["discards"]]
    return [sum(played)] * rules.seats if rules.deck_count == 1 else played


def _check_carried(rules: Rules, decision: str, state: State) -> None:
    for seat, blocks in enumerate(state["carried"]):
        if blocks < 0:
            raise BadPosition("carried", f"seat {seat} has {blocks}; write 0 or more")
        if blocks and not _may_carry(rules, decision, state, seat):
            why = f"seat {seat} cannot carry blocks over here; write 0"
            raise BadPosition("carried", why)
    if decision == Decision.STOCK and not any(state["carried"]):
        raise BadPosition("carried", "stock distributes carried blocks; write some")
    phases = rules.stacks[: state["phase"]]
    dealt = sum(map(sum, phases))
    for seat, sizes in enumerate(state["stacks"]):
        held = sum(sizes) + state["carried"][seat]
        held += (state["current"] or 0) if seat == state["seat"] else 0
        if held > dealt:
            why = (
                f"seat {seat} has {held} blocks, and {dealt} were dealt; take some off"
            )
            raise BadPosition("stacks", why)


def _may_carry(rules: Rules, decision: str, state: State, seat: int) -> bool:
    """True if a seat may have blocks that are not on a stack yet (rule 28)."""
    if rules.leftover_at_phase_end != "keep" or not state["phase"]:
        return False
    if decision in _IN_TURN:
        order = state["order"]
        ended = state["seat"] in order and order.index(seat) < order.index(
            state["seat"]
        )
        return ended and state["round"] == _rounds(rules, state)
    return True


def _check_supply(rules: Rules, decision: str, state: State) -> None:
    """Check that there are 92 blocks, and enough of them for what is still dealt."""
    held = _blocks_on_board(state) + sum(map(sum, state["stacks"]))
    held += sum(state["carried"]) + (state["current"] or 0)
    if state["supply"] != BLOCKS - held:
        why = f"there are {BLOCKS} blocks, and {held} are elsewhere"
        cure = f"write {BLOCKS - held}" if held <= BLOCKS else "take some away"
        raise BadPosition("supply", f"{why}; {cure}")
    due = rules.seats * sum(map(sum, rules.stacks[state["phase"] :]))
    copies = COPIES if rules.deck_count == 1 else rules.seats
    due += copies - sum(names.count("extra_block") for names in state["discards"])
    if decision == Decision.FOUND:
        due += START_BLOCKS - _blocks_on_board(state)
    if state["supply"] < due:
        why = f"{held} of {BLOCKS} blocks are on the board and the stacks, and {due} "
        why += f"are still needed; take {due - state['supply']} blocks away"
        raise BadPosition("heights", why)


def _check_scores(state: State) -> None:
    scores = state["scores"]
    for seat, score in enumerate(scores):
        if not 0 <= score <= MAX_SCORE:
            why = f"seat {seat} has {score}; write 0 to {MAX_SCORE}"
            raise BadPosition("scores", why)
        if score and not state["phase"]:
            raise BadPosition("scores", "nobody has points in the set-up; write 0")
        if score and scores.count(score) > 1:
            why = f"two seats have {score} points; change one (only 0 is shared)"
            raise BadPosition("scores", why)


# Cards


def _check_cards(rules: Rules, decision: str, state: State) -> None:
    missing = cards_elsewhere(rules, state)
    for holders, names in zip(_holders(rules), missing, strict=True):
        played = [name for seat in holders for name in state["discards"][seat]]
        if sorted(played) != names:
            why = "they have to be the cards that are not elsewhere; name these"
            raise BadPosition("discards", why)
    _check_drawn(rules, decision, state)
    _check_fresh(decision, state)
    if state["master"] not in (MASTERS if rules.master_card else (None,)):
        known = f"write one of {', '.join(MASTERS)}"
        cure = known if rules.master_card else "leave it out"
        raise BadPosition("master", f"these rules decide about it; {cure}")


def _holders(rules: Rules) -> list[list[int]]:
    """Return the seats that share the same cards: all seats, or each one by itself."""
    seats = list(range(rules.seats))
    return [seats] if rules.deck_count == 1 else [[seat] for seat in seats]


def cards_elsewhere(rules: Rules, state: State) -> list[list[str]]:
    """Return the cards that are in no hand and in no deck, in ASCII order.

    They were played. A game with one deck has one list, other games one list a seat.
    Raises BadPosition if a card is named too often.
    """
    result = []
    for number, holders in enumerate(_holders(rules)):
        left = Counter(CARDS * rules.copies)
        for field, names in _places(rules, state, number, holders):
            for name in names:
                if name not in CARD_IDS:
                    shown = ascii(name[:20])
                    raise BadPosition(field, f"{shown} is no card; correct it")
                left[name] -= 1
                if left[name] < 0:
                    why = f"there are too many cards {name}; leave one out"
                    raise BadPosition(field, why)
        result.append(sorted(left.elements()))
    return result


def _places(
    rules: Rules, state: State, number: int, holders: Sequence[int]
) -> Iterable[tuple[str, list[str]]]:
    for seat in holders:
        yield "hands", state["hands"][seat]
        if seat == state["seat"]:
            yield "drawn", state["drawn"] or []
    if rules.deck_count:
        yield "decks", state["decks"][number]


def _check_drawn(rules: Rules, decision: str, state: State) -> None:
    drawn = state["drawn"] or []
    if decision != Decision.KEEP:
        if drawn:
            raise BadPosition("drawn", f"{decision} has no drawn cards; leave them out")
        return
    pile = state["seat"] if rules.deck_count > 1 else 0
    deck = state["decks"][pile] if pile in range(rules.deck_count) else []
    if not 1 <= len(drawn) <= _DRAWN or (deck and len(drawn) < _DRAWN):
        why = f"write {_DRAWN} cards, or fewer of them if the deck is empty"
        raise BadPosition("drawn", why)


def _check_fresh(decision: str, state: State) -> None:
    if not state["fresh"]:  # outside of a turn there is none
        return
    fresh: Counter[str] = Counter(state["fresh"])
    if fresh - Counter(state["hands"][state["seat"]]):
        why = f"name only cards that seat {state['seat']} has in its hand"
        raise BadPosition("fresh", why)
    bought = state["bought"] - (decision == Decision.KEEP)
    if fresh.total() > bought:
        why = f"it has more cards than the {bought} that were bought this turn"
        raise BadPosition("fresh", f"{why}; leave some out")


def _listed(numbers: Iterable[int]) -> str:
    return ",".join(map(str, numbers))
