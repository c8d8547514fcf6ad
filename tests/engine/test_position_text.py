"""Positions as text: the round trip, the canonical form, and what is refused."""

import re
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

from engine.editions import PRESETS
from engine.errors import BadPosition
from engine.evaluation import key_of
from engine.game import TorresGame
from engine.moves import OVER, Decision
from engine.notation import texts
from engine.position_check import OVER as THE_END, checked_position
from engine.position_text import (
    FIELDS,
    HEIGHTS,
    MARKER,
    PlacedPosition,
    is_position_text,
    position_from,
    text_of,
    text_of_state,
)
from engine.rulesets import resolve
from engine.search import position_of
from tests.engine.factories import RULESETS_AND_SEATS, game, play_on

# Switches with decisions and blocks that no edition has with every number of seats.
VARIANTS: list[tuple[str, int, dict[str, object]]] = [
    ("devir-2017", 2, {"stack_limit": None}),
    ("devir-2017-shared-deck", 3, {"stack_limit": 5, "order": "descending"}),
    ("torres-3d", 4, {"start_blocks": "marked", "card_access": "own_deck"}),
    ("yucata", 2, {"stacks": [[9, 1], [1, 2, 3], [12]], "max_blocks_per_turn": 4}),
]
FAVOURED = ("", "buy", "play", "stack", "end", "block", "score")


def positions(seed: str, share: float) -> Iterator[TorresGame]:
    """Yield games at random moments: all rulesets and numbers of seats, over and over.

    Decisions outside of a turn are rare, so that each of them is yielded.
    """
    rng = Random(seed)
    forms = [(*form, {}) for form in RULESETS_AND_SEATS] + VARIANTS
    number = 0
    while True:
        for ruleset, seats, switches in forms:
            number += 1
            torres = game(ruleset, seats, f"{seed} {number}", **switches)
            yield torres
            for _ in play_on(torres, rng, favour=rng.choice(FAVOURED)):
                if torres.decision != "turn" or rng.random() < share:
                    yield torres


def decision_of(torres: TorresGame) -> str:
    return str(torres.decision or THE_END)


def check_round_trip(torres: TorresGame, rng: Random) -> tuple[object, str]:
    """Check the text of a position; return its key with its rules, and the text."""
    rules, position = torres.rules, torres.position
    key = key_of(position)
    text = text_of(position, rules)
    again = position_from(text)

    assert key_of(again.position) == key
    assert again.rules == rules
    assert again.decision == decision_of(torres)
    assert again.position.legal() == position.legal()
    assert text_of(again.position, rules) == text
    assert text_of_state(rules, decision_of(torres), torres.state()) == text
    state = checked_position(rules, decision_of(torres), torres.state())
    assert key_of(state) == key
    if not torres.over and not rules.deck_count:
        view = torres.state(torres.seat)
        message = position_of(rules, decision_of(torres), view, rng=rng)
        assert key_of(message) == key
    return (rules, key), text


def check_many(number: int, seed: str, share: float) -> None:
    """Check positions, and that two of them have one text exactly if they have one key.

    The decisions of a turn make up most of a game; all others must be among them.
    """
    texts: dict[object, str] = {}
    rng = Random(seed)
    decisions = set()
    for count, torres in enumerate(positions(seed, share)):
        decisions.add(decision_of(torres))
        key, text = check_round_trip(torres, rng)
        assert texts.setdefault(key, text) == text
        if count >= number:
            break
    assert len(set(texts.values())) == len(texts)
    assert decisions == {THE_END, *Decision}


def test_a_text_gives_its_position_and_is_canonical() -> None:
    check_many(2_000, "fast", 0.04)


@pytest.mark.deep
def test_100_000_texts_give_their_positions_and_are_canonical() -> None:
    check_many(100_000, "slow", 0.5)


@pytest.mark.parametrize(("ruleset", "seats"), RULESETS_AND_SEATS)
def test_the_key_of_a_state_is_the_key_of_the_game(ruleset: str, seats: int) -> None:
    torres = game(ruleset, seats, "keys")
    for _ in play_on(torres, Random(seats), favour="play"):
        same = position_of(torres.rules, decision_of(torres), torres.state())
        assert key_of(same) == key_of(torres.position)


def sample() -> str:
    """Return the text of a turn in the second round, with cards and all stacks."""
    return (
        "torres-position/1:rules=rio-grande-own-decks:seats=2:phase=2:round=2:order=10:"
        "decision=turn:seat=1:ap=3:bought=1:heights=......../...1..../..1..1../"
        ".......1/1......./..1..1../......../....2121:knights=a4,b4/c3,d8:king=f6:"
        "stacks=3,3,3/3,3:current=2:scores=7/12:hands=67/j:fresh=j:"
        "decks=uekmdjro/u67ekmdr"
    )


def changed(**changes: str | None) -> str:
    """Return the sample with some fields changed, or left out for None."""
    fields = dict(part.split("=", 1) for part in sample()[len(MARKER) :].split(":"))
    fields |= {field: value for field, value in changes.items() if value is not None}
    for field, value in changes.items():
        if value is None:
            fields.pop(field, None)
    return MARKER + ":".join(f"{name}={value}" for name, value in fields.items())


def test_the_sample_is_a_position() -> None:
    placed = position_from(sample())

    assert placed.rules == resolve("rio-grande-own-decks", 2)
    assert placed.state["supply"] == 92 - 13 - 17
    assert placed.state["reserve"] == [4, 4]
    assert placed.state["discards"] == [[], ["door_up"]]
    assert not any(text.startswith("play") for text in texts(placed.position))
    assert text_of(placed.position, placed.rules) == position_text(sample())
    assert placed.position.playout(7) > 0


def position_text(text: str) -> str:
    placed = position_from(text)
    return text_of(placed.position, placed.rules)


def test_fields_in_another_order_and_empty_ones_give_the_same_text() -> None:
    fields = sample()[len(MARKER) :].split(":")
    turned = MARKER + ":".join(["played=0", "carried=/", *reversed(fields)]) + "\n"

    assert position_text(turned) == position_text(sample())


def test_a_position_text_is_known_by_its_beginning() -> None:
    assert is_position_text(f" {sample()}")
    assert not is_position_text("game-7.json")


@pytest.mark.parametrize(
    ("field", "changes", "words"),
    [
        ("knights", {"knights": "a1,a2,a3,a4,a5,a6,a7/c3"}, "seat 0 has 7; leave at"),
        ("knights", {"knights": "a4,i9/c3"}, "'i9' is no space; write a1 to h8"),
        ("knights", {"knights": "a4,c3/c3"}, "c3 has a knight of seat 0 and a knight"),
        ("knights", {"knights": "a4/f6"}, "put him"),
        ("knights", {"knights": "/c3"}, "seat 0 has none; add at least one"),
        ("knights", {"knights": "a4/c3/d8"}, "its number of parts is 3; write 2"),
        ("king", {"king": "a1"}, "put him on a space with a block"),
        ("king", {"king": None}, "put him on a space with a block"),
        ("phase", {"phase": "7"}, "it is 7; write 1 to 3, or 0 for the set-up"),
        ("phase", {"phase": "-1"}, "'-1' is no number"),
        ("round", {"round": "5"}, "it is 5; in phase 2 write 1 to 4"),
        ("decision", {"phase": "0", "round": "0"}, "turn belongs to phase"),
        ("decision", {"decision": "dance"}, "it is unknown; write one of found"),
        ("decision", {"decision": "stock"}, "these rules have no decision stock"),
        ("order", {"order": "11"}, "name each seat once"),
        ("order", {"order": "12"}, "name each seat once"),
        ("order", {"order": "0"}, "its number of entries is 1; write 2"),
        ("order", {"order": None}, "it is missing; add order="),
        ("seat", {"seat": "2"}, "turn belongs to a seat; write one of 0,1"),
        ("seat", {"seat": None}, "turn belongs to a seat; write one of 0,1"),
        ("seats", {"seats": "5"}, "it is 5; write 2 to 4"),
        ("rules", {"rules": "chess"}, "unknown ruleset 'chess'; choose one of yucata"),
        ("rules", {"rules": "yucata,castling=1"}, "'castling=1' is no switch"),
        ("rules", {"rules": "yucata,max_buys=lots"}, "it has to be a whole number"),
        ("rules", {"rules": "yucata,stacks=3.x-1-1"}, "'x' is no number"),
        ("ap", {"ap": "9"}, "it is 9; write 0 to 7"),
        ("ap", {"ap": "5"}, "1 of 5 were spent"),
        ("ap", {"ap": "one"}, "'one' is no number"),
        ("ap", {"ap": "²"}, "is no number"),
        ("bought", {"bought": "3"}, "it is 3; write 0 to 2"),
        ("placed", {"placed": "4"}, "it is 4; write 0 to 3"),
        ("played", {"played": "yes"}, "'yes' is neither 0 nor 1"),
        ("heights", {"heights": "8/8/8"}, "its number of rows is 3; write 8"),
        ("current", {"current": None, "stacks": "3,3,3/3,3,3"}, "has its stack"),
        ("stacks", {"stacks": "3,3/3,3"}, "seat 0 has 2 of 3 stacks that are left"),
        ("stacks", {"stacks": "3,3,3/3,0"}, "smaller than the ones dealt to it; add 3"),
        ("stacks", {"stacks": "3,3,3/3,40"}, "seat 1 has 45 blocks, and 24 were dealt"),
        ("carried", {"carried": "1/"}, "seat 0 cannot carry blocks over here"),
        ("scores", {"scores": "7/7"}, "two seats have 7 points; change one"),
        ("scores", {"scores": "7/123456"}, "is no number"),
        ("hands", {"hands": "66/j"}, "there are too many cards ap6; leave one out"),
        ("hands", {"hands": "6?/j"}, "'?' is no card; write letters of u67ekmdjro"),
        ("decks", {"decks": "u/u/u"}, "its number of parts is 3; write 2"),
        ("decks", {"hands": "6/j", "decks": "jj/"}, "too many cards jump"),
        ("fresh", {"fresh": "6"}, "name only cards that seat 1 has"),
        ("fresh", {"bought": "0"}, "more cards than the 0 that were bought"),
        ("drawn", {"drawn": "o"}, "turn has no drawn cards"),
        ("master", {"master": "row"}, "leave it out"),
    ],
)
def test_a_wrong_field_is_named_with_the_cure(
    field: str, changes: dict[str, str | None], words: str
) -> None:
    if words == "put him":  # a knight and the king on one space
        field, words = "king", "f6 has a knight of seat 1 and the king; move one"
    with pytest.raises(BadPosition) as caught:
        position_from(changed(**changes))

    assert str(caught.value).startswith(f"{field}: ")
    assert caught.value.field == field
    assert words in str(caught.value)


def board(rows: str) -> str:
    return changed(heights="/".join(rows.split()))


def test_a_tower_is_no_higher_than_its_castle_is_large() -> None:
    text = board(
        "........ ...1.... ..1..1.. .......9 1....... ..1..1.. ........ ....2121"
    )
    with pytest.raises(BadPosition, match="heights: h5 has 9, and the area"):
        position_from(text)


def test_too_many_blocks_are_refused() -> None:
    text = board(
        "........ ...1.... ..1..1.. 444444.1 444444.. 444.11.. ........ ....2121"
    )
    with pytest.raises(BadPosition, match="of 92 blocks are on the board"):
        position_from(text)


def test_carried_blocks_need_a_choice() -> None:
    """One block on four equal stacks has one outcome, so that the engine puts it."""
    torres = game("devir-2017", 2, "carry", stack_limit=None)
    play = play_on(torres, Random(3), favour="score")
    while torres.decision != "stock":
        next(play)
    text = text_of(torres.position, torres.rules)
    one = "1/0" if torres.seat == 0 else "0/1"

    assert ":carried=" in text
    with pytest.raises(BadPosition, match="has no choice with 1; put them on its"):
        position_from(re.sub(":carried=[^:]*", f":carried={one}", text))


def test_nothing_of_a_turn_is_left_after_it() -> None:
    torres = game("yucata", 2, "after a turn")
    play = play_on(torres, Random(3))
    while torres.decision != "king":
        next(play)
    text = text_of(torres.position, torres.rules)

    for field, value in (("current", "0"), ("ap", "1"), ("played", "1")):
        with pytest.raises(BadPosition, match=f"{field}: king is outside of a turn"):
            position_from(f"{text}:{field}={value}")


def test_a_row_names_its_number() -> None:
    with pytest.raises(BadPosition, match="heights: row 7 is"):
        position_from(board("........ ..1 ........ . . . . ."))


def test_what_is_no_position_is_refused() -> None:
    for text, words in (
        ("", f"position: begin it with {MARKER}"),
        ("game.json", f"position: begin it with {MARKER}"),
        (f"{sample()}:ap=3", "ap: it is there twice"),
        (f"{sample()}:colour=red", "position: 'colour=red' is no field"),
        (f"{MARKER}{'x' * 5_000}", "position: it has 5018 characters"),
        (MARKER, "position: '' is no field"),
    ):
        with pytest.raises(BadPosition) as caught:
            position_from(text)
        assert words in str(caught.value)


# Fuzzing

ALPHABET = "0123456789:=/,.-abcdefgh" + HEIGHTS[-3:] + "é\0\n"


def mutated(text: str, donor: str, rng: Random) -> str:
    """Return a text with some characters changed, or fields taken from another text."""
    for _ in range(rng.choice((1, 1, 2, 5))):
        at = rng.randrange(len(text))
        kind = rng.randrange(5)
        if kind == 0:
            text = text[:at] + rng.choice(ALPHABET) + text[at + 1 :]
        elif kind == 1:
            text = text[:at] + rng.choice(ALPHABET) + text[at:]
        elif kind == 2:
            text = text[:at] + text[at + rng.randrange(4) :]
        else:
            field, _, value = rng.choice(donor.split(":")).partition("=")
            parts = [p for p in text.split(":") if p.partition("=")[0] != field]
            text = ":".join([*parts, f"{field}={value}"][: len(parts) + kind - 3])
    return text


def check_fuzzed(number: int, seed: str) -> int:
    """Check that each fuzzed text is a position that can be played, or is refused.

    Return how many were accepted.
    """
    rng = Random(seed)
    accepted = 0
    donor = sample()
    for count, torres in enumerate(positions(seed, 0.02)):
        text = text_of(torres.position, torres.rules)
        for _ in range(20):
            placed = read(mutated(text, donor, rng))
            if placed is not None:
                accepted += 1
                check_playable(placed, rng)
        donor = text
        if count * 20 >= number:
            break
    return accepted


def read(text: str) -> PlacedPosition | None:
    """Return the position of a text, or None if it is refused as it has to be."""
    try:
        return position_from(text)
    except BadPosition as error:
        caught = error
    assert caught.field in {*FIELDS, "position"}
    assert str(caught).startswith(f"{caught.field}: ")
    assert "\n" not in str(caught)
    return None


def check_playable(placed: PlacedPosition, rng: Random) -> None:
    """Check that the text is stable, and that each later position is accepted, too."""
    text = text_of(placed.position, placed.rules)
    again = position_from(text).position
    assert key_of(again) == key_of(placed.position)
    assert text_of(again, placed.rules) == text
    for _ in range(rng.randrange(12)):
        if again.decision != OVER:
            again.perform(rng.choice(again.legal()))
    later = position_from(text_of(again, placed.rules)).position
    if later.decision != OVER:
        assert later.playout(rng.getrandbits(60)) > 0
    assert later.decision == OVER


def test_fuzzed_texts_are_refused_with_a_sentence_or_can_be_played() -> None:
    assert check_fuzzed(4_000, "fuzz") > 100


@pytest.mark.deep
def test_100_000_fuzzed_texts_are_refused_or_can_be_played() -> None:
    assert check_fuzzed(100_000, "slow fuzz") > 2_000


JUNK: tuple[Any, ...] = (None, 0, -1, 7, 10**30, True, 1.5, "", "a1", [], {}, [[]])


@pytest.mark.parametrize("ruleset", PRESETS)
def test_a_fuzzed_state_is_refused_or_is_a_position(ruleset: str) -> None:
    """The same check reads a state as JSON, so that a field may have any type."""
    rng = Random(ruleset)
    torres = game(ruleset, 3, "state")
    for _ in play_on(torres, rng):
        if rng.random() > 0.1:
            continue
        for field, value in torres.state().items():
            for junk in (*rng.sample(JUNK, 4), value):
                check_junk(torres, field, junk)


def check_junk(torres: TorresGame, field: str, junk: object) -> None:
    state = torres.state() | {field: junk}
    try:
        checked_position(torres.rules, decision_of(torres), state)
    except BadPosition as error:
        refused = error.field
    else:
        refused = field
    assert refused in state
