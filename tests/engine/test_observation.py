"""Observations, action ids and masks."""

from array import array
from random import Random
from typing import Any

import pytest

from engine.evaluation import FEATURES
from engine.moves import CARD_NAMES, DECISIONS, MASTER_NAMES, NUMBERS, SPACES, STOCK
from engine.observation import (
    ACTION_COUNT,
    ACTIONS,
    LAYOUT,
    MAX_LEGAL,
    OBSERVATION_SIZE,
    SEAT_NUMBERS,
    Observer,
    id_of,
)
from engine.search import determinize
from tests.engine.factories import RULESETS_AND_SEATS, game, play_on

OBSERVER = Observer()


def observation(on: Any, seat: int) -> dict[str, list[float]]:
    """Return an observation as its parts by name."""
    out = array("f", bytes(4 * OBSERVATION_SIZE))
    OBSERVER.observe(on, seat, out, 0)
    parts = {}
    start = 0
    for name, length in LAYOUT:
        parts[name] = list(out[start : start + length])
        start += length
    return parts


def counts(cards: list[str]) -> list[float]:
    return [cards.count(name) for name in CARD_NAMES]


def test_every_action_has_one_id() -> None:
    assert len(set(ACTIONS)) == ACTION_COUNT == 19_915
    assert [id_of(move) for move in ACTIONS] == list(range(ACTION_COUNT))
    assert id_of(STOCK << 16 | 999) == -1
    assert id_of(1 << 16 | 200 << 8) == -1


@pytest.mark.parametrize(("ruleset", "seats"), RULESETS_AND_SEATS)
def test_the_mask_marks_exactly_the_legal_moves(ruleset: str, seats: int) -> None:
    torres = game(ruleset, seats, "mask")
    for ply, _ in enumerate(play_on(torres, Random(seats), favour="play")):
        legal = torres.position.legal()
        if ruleset == "rio-grande-2005":  # there are more ways to leave blocks than ids
            legal = [move for move in legal if id_of(move) >= 0]
        assert -1 not in [id_of(move) for move in legal]
        if ply % 10:
            continue
        mask = array("b", bytes(ACTION_COUNT + 3))
        assert OBSERVER.mask(torres.position, mask, 3) == len(legal)
        marked = [ACTIONS[i - 3] for i, one in enumerate(mask) if one]
        assert sorted(marked) == sorted(legal)


@pytest.mark.parametrize(("ruleset", "seats"), RULESETS_AND_SEATS)
def test_an_observation_has_the_numbers_of_the_state(ruleset: str, seats: int) -> None:
    torres = game(ruleset, seats, "observation")
    for ply, _ in enumerate(play_on(torres, Random(seats), favour="buy")):
        if ply % 15:
            continue
        for seat in range(seats):
            state: Any = torres.state(seat)
            seen = observation(torres.position, seat)
            heights = [state["heights"][n % 8][n // 8] for n in range(64)]
            assert seen["heights"] == heights
            king = NUMBERS.get(state["king"], -1)
            assert seen["king"] == [float(n == king) for n in range(64)]
            decision = DECISIONS.index(torres.decision)
            assert seen["decision"].index(1) == decision
            assert seen["course"][1:3] == [state["phase"], state["round"]]
            assert seen["course"][4] == (state["seat"] == seat)
            assert seen["course"][6:9] == [
                state["ap"],
                state["bought"],
                state["placed"],
            ]
            assert seen["course"][10] == (
                0 if state["current"] is None else state["current"] + 1
            )
            assert seen["hand"] == counts(state["hand"])
            assert seen["fresh"] == counts(state["fresh"])
            assert seen["drawn"] == counts(state["drawn"] or [])
            master = state["master"]
            assert seen["master"] == [float(name == master) for name in MASTER_NAMES]
            check_seats(seen, state, seat, seats)


def check_seats(
    seen: dict[str, list[float]], state: dict[str, Any], seat: int, seats: int
) -> None:
    for turn in range(4):
        knights = seen[f"knights_{turn}"]
        numbers = dict(zip(SEAT_NUMBERS, seen[f"seat_{turn}"], strict=False))
        if turn >= seats:
            assert not any([*knights, *seen[f"seat_{turn}"]])
            continue
        other = (seat + turn) % seats
        spaces = [SPACES[n] for n, one in enumerate(knights) if one]
        assert spaces == state["knights"][other]
        assert numbers["score"] == state["scores"][other]
        assert numbers["reserve"] == state["reserve"][other]
        assert numbers["turn"] == state["order"].index(other) + 1
        assert [n for name, n in numbers.items() if name[:6] == "stack_" and n] == [
            size for size in state["stacks"][other] if size
        ][:4]
        played = seen[f"seat_{turn}"][len(SEAT_NUMBERS) :]
        assert played == counts(state["discards"][other])


def test_an_observation_shows_nothing_that_is_hidden() -> None:
    torres = game("yucata", 3, "hidden")
    rng = Random(1)
    for ply, _ in enumerate(play_on(torres, Random(3), favour="buy")):
        if torres.over or ply % 10:
            continue
        for seat in range(3):
            guess = determinize(torres.position, seat, rng)
            assert observation(guess, seat) == observation(torres.position, seat)


def test_a_seat_has_all_public_features() -> None:
    assert SEAT_NUMBERS[:15] == FEATURES[:15]
    assert FEATURES[14] == "deck"


def test_a_move_without_an_id_is_left_out_of_the_mask() -> None:
    """Switches may allow more ways to leave blocks than there are ids."""
    sizes = [[8, 7, 6, 5, 4, 3, 2, 1], [1], [1]]
    torres = game("rio-grande-own-decks", stack_limit=None, stacks=sizes)
    while torres.decision != "turn":
        torres.play(torres.legal()[0])
    torres.play("stack 8")
    legal = torres.position.legal()
    marked = OBSERVER.mask(torres.position, array("b", bytes(ACTION_COUNT)), 0)

    assert marked == len([move for move in legal if id_of(move) >= 0]) < len(legal)
    rows = Rows(1)
    rows.observe([torres.position])
    assert list(rows.starts) == [0, marked]


class Rows:
    """The arrays that some games need."""

    def __init__(self, games: int) -> None:
        self.seats = array("i", bytes(4 * games))
        self.seen = array("f", bytes(4 * games * OBSERVATION_SIZE))
        self.masks = array("b", bytes(games * ACTION_COUNT))
        self.legal = array("h", bytes(2 * games * MAX_LEGAL))
        self.starts = array("i", bytes(4 * (games + 1)))
        self.finished = array("b", bytes(games))

    def observe(self, positions: list[Any]) -> None:
        OBSERVER.observe_all(
            positions, self.seats, self.seen, self.masks, self.legal, self.starts
        )

    def step(self, positions: list[Any], actions: list[int]) -> int:
        played = array("q", actions)
        return OBSERVER.step_all(
            positions, played, self.masks, self.legal, self.starts, self.finished
        )


def test_many_positions_are_observed_and_played_in_one_call() -> None:
    games = [game("yucata", 3, str(number)) for number in range(3)]
    positions = [torres.position for torres in games]
    rows = Rows(3)
    rng = Random(4)
    while not any(rows.finished):
        rows.observe(positions)
        assert list(rows.seats) == [position.seat for position in positions]
        legal = [[id_of(move) for move in p.legal()] for p in positions]
        listed = rows.legal[: rows.starts[3]].tolist()
        assert listed == [action for ids in legal for action in ids]
        assert sum(rows.masks) == len(listed)
        assert rows.step(positions, [legal[0][0], -1, ACTION_COUNT]) == 1
        assert rows.step(positions, [legal[0][0], ACTION_COUNT, -1]) == 1
        assert rows.step(positions, [rng.choice(ids) for ids in legal]) == -1
        assert not any(rows.masks)

    over = [torres.position.decision == 0 for torres in games]
    assert over == list(map(bool, rows.finished))
    with pytest.raises(ValueError, match="a game is over"):
        rows.observe(positions)
    one = array("f", bytes(4 * OBSERVATION_SIZE))
    left = [
        position for position, ended in zip(positions, over, strict=True) if not ended
    ]
    rows.observe(left[:1])
    OBSERVER.observe(left[0], left[0].seat, one, 0)
    assert rows.seen[:OBSERVATION_SIZE] == one


@pytest.mark.parametrize("name", ["seats", "seen", "masks", "legal", "starts"])
def test_arrays_that_are_too_short_are_refused(name: str) -> None:
    """Compiled code would write beyond their ends."""
    positions = [game("yucata", 2, str(number)).position for number in range(2)]
    rows = Rows(2)
    setattr(rows, name, getattr(rows, name)[:-1])

    with pytest.raises(ValueError, match="room for"):
        rows.observe(positions)
    assert not any(rows.masks)


@pytest.mark.parametrize("name", ["masks", "starts", "finished", "actions"])
def test_a_step_with_arrays_that_are_too_short_is_refused(name: str) -> None:
    positions = [game("yucata", 2, str(number)).position for number in range(2)]
    rows = Rows(2)
    rows.observe(positions)
    actions = [id_of(position.legal()[0]) for position in positions]
    if name == "actions":
        actions.pop()
    else:
        setattr(rows, name, getattr(rows, name)[:-1])

    with pytest.raises(ValueError, match="room for"):
        rows.step(positions, actions)


def test_wrong_lists_of_legal_actions_leave_marks_and_crash_nothing() -> None:
    position = game("yucata", 2, "x").position
    rows = Rows(1)
    rows.observe([position])
    marks = sum(rows.masks)
    rows.legal[0] = -1
    rows.legal[1] = 32_767
    rows.starts[0] = -5
    rows.starts[1] = 2**31 - 1

    assert rows.step([position], [id_of(position.legal()[0])]) == -1
    assert 0 < sum(rows.masks) <= marks


def test_single_arrays_that_are_too_short_and_wrong_seats_are_refused() -> None:
    position = game("yucata", 2, "x").position
    numbers = array("f", bytes(4 * OBSERVATION_SIZE))
    mask = array("b", bytes(ACTION_COUNT))
    for start in (-1, 1):
        with pytest.raises(ValueError, match="room for"):
            OBSERVER.mask(position, mask, start)
        with pytest.raises(ValueError, match="room for"):
            OBSERVER.observe(position, 0, numbers, start)
    for seat in (-1, 2, 4):
        with pytest.raises(ValueError, match=f"seat {seat} in a game with 2 seats"):
            OBSERVER.observe(position, seat, numbers, 0)
    assert not any(mask)
