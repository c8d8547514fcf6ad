"""Invariants that hold in every position."""

from collections import Counter
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from engine.editions import PRESETS
from engine.errors import IllegalAction
from engine.game import TorresGame
from engine.notation import move_of, text
from tests.engine.factories import RULESETS_AND_SEATS, game, play_on

NEAR = [(0, 1), (1, 0), (0, -1), (-1, 0)]
games = st.tuples(
    st.sampled_from(RULESETS_AND_SEATS), st.integers(0, 2**32), st.integers(0, 250)
)


def at(table: tuple[str, int], seed: int, plies: int) -> TorresGame:
    """Return a game after `plies` random actions."""
    torres = game(*table, str(seed))
    for number, _ in enumerate(play_on(torres, Random(seed), favour="play")):
        if number >= plies:
            break
    return torres


def castles(heights: list[list[int]]) -> list[set[tuple[int, int]]]:
    """Return the castles of a board as sets of (row, column), found by walking."""
    left = {(r, c) for r in range(8) for c in range(8) if heights[r][c]}
    result = []
    while left:
        castle = set()
        edge = [left.pop()]
        while edge:
            row, column = edge.pop()
            castle.add((row, column))
            for down, right in NEAR:
                if (row + down, column + right) in left:
                    left.remove((row + down, column + right))
                    edge.append((row + down, column + right))
        result.append(castle)
    return result


@pytest.mark.rule(2, 3, 5)
@given(games)
@settings(max_examples=60, deadline=None)
def test_blocks_knights_and_cards_are_conserved(
    sample: tuple[tuple[str, int], int, int],
) -> None:
    torres = at(*sample)
    state: Any = torres.state()

    on_board = sum(map(sum, state["heights"]))
    stacked = sum(map(sum, state["stacks"])) + (state["current"] or 0)
    assert on_board + stacked + sum(state["carried"]) + state["supply"] == 92
    for knights, reserve in zip(state["knights"], state["reserve"], strict=True):
        assert len(knights) + reserve == 6
    cards = sum(map(len, state["hands"] + state["decks"] + state["discards"]))
    cards += len(state["drawn"] or [])
    rules = torres.rules
    assert cards == (40 if rules.card_access == "shared_deck" else 10 * rules.seats)


@pytest.mark.rule(8, 10, 11)
@given(games)
@settings(max_examples=60, deadline=None)
def test_castles_stay_apart_and_no_higher_than_their_area(
    sample: tuple[tuple[str, int], int, int],
) -> None:
    torres = at(*sample)
    state: Any = torres.state()
    parts = castles(state["heights"])

    assert len(parts) == torres.position.board.castles
    if torres.decision != "found":
        assert len(parts) >= 6
    for castle in parts:
        assert max(state["heights"][r][c] for r, c in castle) <= len(castle)


@pytest.mark.rule(64)
@given(games)
@settings(max_examples=60, deadline=None)
def test_scores_differ_unless_they_are_0(
    sample: tuple[tuple[str, int], int, int],
) -> None:
    scores = [s for s in at(*sample).position.track.scores if s]

    assert len(scores) == len(set(scores))


@given(games, st.integers(0, 10**9))
@settings(max_examples=40, deadline=None)
def test_exactly_the_listed_moves_are_legal(
    sample: tuple[tuple[str, int], int, int], seed: int
) -> None:
    torres = at(*sample)
    position = torres.position
    legal = set(position.legal())
    rng = Random(seed)
    words = torres.legal()

    assert words == sorted(set(words))
    assert [move_of(position, word) for word in words] == position.legal()
    assert [text(position, move) for move in position.legal()] == words
    for move in legal:
        assert position.allows(move)
    kinds = range(25)
    for _ in range(3000):
        move = rng.choice(kinds) << 16 | rng.randrange(70) << 8 | rng.randrange(70)
        assert bool(position.allows(move)) == (move in legal), move


@pytest.mark.parametrize("ruleset", ["yucata", "rio-grande-1999"])
def test_any_number_is_played_or_refused(ruleset: str) -> None:
    """Try numbers at and beside every bound at every kind of decision."""
    edges = (0, 1, 2, 3, 63, 64, 65, 66, 255)
    numbers = [k << 16 | a << 8 | b for k in range(27) for a in edges for b in edges]
    torres = game(ruleset, 3, "numbers")
    counts: Counter[object] = Counter()
    for _ in play_on(torres, Random(3), favour="buy"):
        if torres.over:
            break
        counts[torres.decision] += 1
        if counts[torres.decision] > 2:
            continue
        position = torres.position
        legal = position.legal()
        for move in (-1, *numbers):
            if move in legal:
                position.copy().apply(move)
            else:
                with pytest.raises(IllegalAction, match="not legal"):
                    position.apply(move)
        assert position.legal() == legal

    assert len(counts) > 2


TOKENS = """
add block buy end enter first found keep king move play score stack stock stay top
bottom current ap6 ap7 up2 jump regroup door_up diagonal move_block under_knight
extra_block a1 a4 b2 c3 c4 d4 d8 e1 f6 h8 h9 i1 0 1 2 3 -1 3,3 3,2 2,2,2 01 \u00b2
"""
WORDS = st.sampled_from(TOKENS.split())


@given(
    games,
    st.one_of(
        st.lists(WORDS, max_size=5).map(" ".join),
        st.text(max_size=30),
        st.lists(WORDS, max_size=4).map(lambda w: " ".join(w) + "\n"),
    ),
)
@settings(max_examples=300, deadline=None)
def test_any_string_is_played_or_refused_with_a_reason(
    sample: tuple[tuple[str, int], int, int], action: str
) -> None:
    torres = at(sample[0], sample[1] % 20, sample[2] % 60)
    legal = torres.legal()
    before = torres.state()
    if action in legal:
        torres.play(action)
        return
    with pytest.raises(IllegalAction) as refusal:
        torres.play(action)

    assert len(refusal.value.why) > 10
    assert torres.state() == before


@pytest.mark.rule(21)
@pytest.mark.parametrize("ruleset", PRESETS)
def test_a_view_never_shows_what_is_hidden(ruleset: str) -> None:
    torres = game(ruleset, 3, "hidden")
    for _ in play_on(torres, Random(2), favour="buy"):
        full: Any = torres.state()
        for seat in range(3):
            view: Any = torres.state(seat)
            assert view["hand"] == full["hands"][seat]
            assert view["hands"] == [len(hand) for hand in full["hands"]]
            assert view["decks"] == [len(deck) for deck in full["decks"]]
            decides = torres.position.seat == seat
            assert view["drawn"] == (full["drawn"] if decides else None)
            assert view["fresh"] == (full["fresh"] if decides else [])
            shared = {k: v for k, v in view.items() if k in full}
            for key in ("hands", "decks", "drawn", "fresh"):
                del shared[key]
            assert all(full[key] == value for key, value in shared.items())


@pytest.mark.rule(12)
@given(games)
@settings(max_examples=60, deadline=None)
def test_at_most_one_piece_stands_on_a_space(
    sample: tuple[tuple[str, int], int, int],
) -> None:
    state: Any = at(*sample).state()
    spaces = [space for knights in state["knights"] for space in knights]
    spaces.append(state["king"])

    assert len(set(spaces)) == len(spaces)
