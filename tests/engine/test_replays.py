"""Recorded replays verify; every fault is reported (docs/contract.md, section 7)."""

import copy
import json
from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from engine.errors import EngineError
from engine.faults import Fault
from engine.game import TorresGame
from engine.replay import document, trace, verify
from engine.replay_format import InvalidReplay, NotJson, load
from tests.engine.factories import RULESETS_AND_SEATS, game


def record(
    ruleset: str = "yucata", seats: int = 2, seed: str = "r", **opts: Any
) -> Any:
    """Return the replay of a random game as JSON.

    `forfeits` are the numbers of answers at which the seat forfeits; the game stops
    after `stop` answers.
    """
    torres = game(ruleset, seats, seed)
    rng = Random(seed)
    moves: list[dict[str, object]] = []
    forfeits: list[dict[str, object]] = []
    while not torres.over and len(moves) < opts.get("stop", 10**6):
        if (
            len(moves) in opts.get("forfeits", ())
            and torres.seat not in torres.forfeited
        ):
            forfeit = {"seat": torres.seat, "reason": "timeout"}
            forfeits.append({**forfeit, "before_move": len(moves)})
            torres.forfeit(torres.seat or 0, Fault.TIMEOUT)
            continue
        moves.append(answer(torres, rng))
    players = [{"name": f"seat {seat}"} for seat in range(seats)]
    replay = document(
        torres, seed=seed, players=players, moves=moves, forfeits=forfeits
    )
    return json.loads(json.dumps(replay))


def answer(torres: TorresGame, rng: Random) -> dict[str, object]:
    seat = torres.seat
    if seat in torres.forfeited:
        actions = torres.automatic()
        for action in actions:
            torres.play(action, auto=True)
        return {"seat": seat, "actions": actions, "auto": True}
    actions: list[str] = []
    turn = torres.turn_id
    while not actions or (
        torres.turn_id == turn and not torres.over and rng.random() < 0.6
    ):
        if actions and actions[-1] == "buy":
            break
        actions.append(rng.choice(torres.legal()))
        torres.play(actions[-1])
    return {"seat": seat, "actions": actions}


@pytest.mark.parametrize(("ruleset", "seats"), RULESETS_AND_SEATS)
def test_a_recorded_game_verifies(ruleset: str, seats: int) -> None:
    verify(record(ruleset, seats))
    verify(record(ruleset, seats, forfeits=(9, 30)))
    verify(record(ruleset, seats, stop=25))


def test_keys_come_in_the_order_of_the_contract() -> None:
    assert list(record())[:10] == [
        "format",
        "ruleset",
        "switches",
        "seats",
        "seed",
        "setup",
        "players",
        "moves",
        "forfeits",
        "scoring",
    ]


def test_a_missing_switch_has_the_presets_value() -> None:
    replay = record()
    del replay["switches"]["stack_limit"]

    verify(replay)


def test_an_unfinished_trace_says_so() -> None:
    last = list(trace(record(stop=10)))[-1]

    assert (last["over"], last["result"]) == (False, None)


def test_a_forfeited_seat_may_keep_and_end_in_one_answer_or_two() -> None:
    torres = game("devir-2017", 3)
    moves: list[dict[str, object]] = []
    while torres.decision != "turn":
        moves.append({"seat": torres.seat, "actions": [torres.legal()[0]]})
        torres.play(torres.legal()[0])
    seat = torres.seat or 0
    moves.append({"seat": seat, "actions": ["buy"]})
    torres.play("buy")
    forfeits = [{"seat": seat, "before_move": len(moves), "reason": "crash"}]
    torres.forfeit(seat, Fault.CRASH)
    keep = torres.automatic()
    torres.play(keep[0])
    end = torres.automatic()
    for action in end:
        torres.play(action)
    players = [{"name": "x"}] * 3
    for entries in ([keep, end], [keep + end]):
        answers = [{"seat": seat, "actions": a, "auto": True} for a in entries]
        verify(
            document(
                torres,
                seed="s",
                players=players,
                moves=[*moves, *answers],
                forfeits=forfeits,
            )
        )


def put(*path: Any, value: Any) -> Callable[[Any], None]:
    def change(replay: Any) -> None:
        for key in path[:-1]:
            replay = replay[key]
        replay[path[-1]] = value

    return change


def drop(*path: Any) -> Callable[[Any], None]:
    def change(replay: Any) -> None:
        for key in path[:-1]:
            replay = replay[key]
        del replay[path[-1]]

    return change


FAULTS: list[tuple[str, Callable[[Any], None]]] = [
    ("setup", put("format", value="torres-replay/2")),
    ("setup", drop("ruleset")),
    ("setup", put("ruleset", value=["yucata"])),
    ("setup", put("ruleset", value="go")),
    ("setup", put("seats", value=2.0)),
    ("setup", put("seats", value=True)),
    ("setup", put("switches", value=[])),
    ("setup", put("switches", "colour", value=1)),
    ("setup", put("switches", "max_buys", value=True)),
    ("setup", put("setup", value=None)),
    ("setup", put("setup", "first", value=5)),
    ("setup", put("setup", "first", value=False)),
    ("setup", put("setup", "master", value="row")),
    ("setup", put("setup", "master", value=[])),
    ("setup", drop("setup", "master")),
    ("setup", put("setup", "decks", value={})),
    ("setup", drop("setup", "decks", 1)),
    ("setup", drop("setup", "decks", 1, 3)),
    ("setup", put("setup", "decks", 0, 0, value="jump jump")),
    ("setup", put("setup", "decks", 0, 0, value=7)),
    ("setup", put("setup", "decks", 0, value="ap6")),
    ("setup", put("players", value=[])),
    ("setup", put("players", 0, value="x")),
    ("setup", put("players", 0, value={})),
    ("setup", put("moves", value={})),
    ("setup", put("forfeits", value=None)),
    ("setup", put("forfeits", value=[1])),
    ("setup", drop("scoring")),
    ("move 3", put("moves", 3, value=[])),
    ("move 3", put("moves", 3, "actions", value=[])),
    ("move 3", put("moves", 3, "actions", value="end")),
    ("move 3", put("moves", 3, "actions", value=[1])),
    ("move 3", put("moves", 3, "seat", value=7)),
    ("move 0", put("moves", 0, "seat", value=True)),
    ("move 3", put("moves", 3, "auto", value=True)),
    ("move 3", put("moves", 3, "auto", value=False)),
    ("move 0", put("moves", 0, "actions", value=["enter a4", "enter c3"])),
    ("move 3", put("moves", 3, "actions", value=["end", "score"])),
    ("move 3", put("moves", 3, "actions", value=["buy", "score"])),
    ("move 3", put("moves", 3, "actions", value=["\ud800" * 1000])),
    ("scoring 1", put("scoring", value=[])),
    ("scoring 1", put("scoring", 0, value=1)),
    ("scoring 2", put("scoring", 1, "king", value=[1, 2])),
    ("scoring 2", put("scoring", 1, "phase", value=2.0)),
    ("scoring 3", put("scoring", 2, "master", 0, value=False)),
    ("scoring 4", lambda replay: replay["scoring"].append(replay["scoring"][0])),
    ("result", drop("result")),
    ("result", put("result", value=[])),
    ("result", put("result", "ranks", value=[1, 1])),
    ("result", put("result", "ranks", value=None)),
    ("result", put("result", "reason", value="luck")),
]


@pytest.mark.parametrize(("where", "change"), FAULTS)
def test_a_fault_is_reported_with_its_place(
    where: str, change: Callable[[Any], None]
) -> None:
    replay = record()
    change(replay)

    with pytest.raises(InvalidReplay) as fault:
        verify(replay)
    assert fault.value.where == where
    assert len(str(fault.value)) < 500


def test_seat_0_starts_if_the_ruleset_says_so() -> None:
    replay = record("devir-2017")
    replay["setup"]["first"] = 1

    with pytest.raises(InvalidReplay, match="seat 0 starts"):
        verify(replay)


def test_a_ruleset_with_a_master_card_needs_one() -> None:
    replay = record("torres-3d")
    replay["setup"]["master"] = None

    with pytest.raises(InvalidReplay, match="setup"):
        verify(replay)


@pytest.mark.parametrize(
    "forfeit",
    [
        {"seat": 2, "before_move": 1, "reason": "crash"},
        {"seat": True, "before_move": 1, "reason": "crash"},
        {"seat": 0, "before_move": 999, "reason": "crash"},
        {"seat": 0, "before_move": 1.0, "reason": "crash"},
        {"seat": 0, "before_move": 1, "reason": "bored"},
        {"seat": 0, "before_move": 1, "reason": ["crash"]},
        {"seat": 0, "before_move": 1},
    ],
)
def test_a_malformed_forfeit_is_refused(forfeit: dict[str, object]) -> None:
    replay = record()
    replay["forfeits"] = [forfeit]

    with pytest.raises(InvalidReplay, match="setup"):
        verify(replay)


def test_a_seat_forfeits_once_in_order_and_not_after_the_end() -> None:
    replay = record("yucata", 3, forfeits=(9,))
    again = copy.deepcopy(replay)
    again["forfeits"].append({**again["forfeits"][0], "before_move": 12})
    late = copy.deepcopy(replay)
    seat = next(s for s in range(3) if s != late["forfeits"][0]["seat"])
    end = {"seat": seat, "before_move": len(late["moves"]), "reason": "crash"}
    late["forfeits"].append(end)
    early = copy.deepcopy(replay)
    early["forfeits"].append({**end, "before_move": 2})
    for broken, where in ((again, "move 12"), (late, "move"), (early, "setup")):
        with pytest.raises(InvalidReplay, match=where):
            verify(broken)


def test_a_forfeited_seat_must_give_the_prescribed_answer() -> None:
    replay = record("yucata", 3, forfeits=(9,))
    number = next(n for n, move in enumerate(replay["moves"]) if "auto" in move)
    replay["moves"][number]["actions"] = ["score", "end"]

    with pytest.raises(InvalidReplay, match=f"move {number}: a forfeited seat"):
        verify(replay)


def test_a_missing_repeated_or_extra_move_is_refused() -> None:
    whole = record()
    for change in (
        lambda moves: moves.pop(5),
        lambda moves: moves.insert(5, moves[5]),
        lambda moves: moves.append(moves[-1]),
        lambda moves: moves.pop(),
    ):
        replay = copy.deepcopy(whole)
        change(replay["moves"])
        with pytest.raises(InvalidReplay):
            verify(replay)


def test_a_result_of_an_unfinished_game_is_refused() -> None:
    replay = record(stop=9)
    replay["result"] = {"scores": [0, 0], "ranks": [1, 1], "reason": "completed"}

    with pytest.raises(InvalidReplay, match="result: the game is not finished"):
        verify(replay)


def test_hostile_bytes() -> None:
    assert load(b"[1]") == [1]
    for data in (b"", b"{", b"\xff", b'{"a":1}x', b"\xef\xbb\xbf{}"):
        with pytest.raises(NotJson, match=r"this is no replay: it is no (text|JSON)"):
            load(data)
    for data in (b"[" * 10**5 + b"]" * 10**5, b"9" * 10**4):
        with pytest.raises(InvalidReplay):
            load(data)


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(["yucata", "end", "a4", "enter a4", "torres-replay/1"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["seat", "actions", "auto"]), inner, max_size=3
        )
    ),
    max_leaves=6,
)
PATHS = [
    (),
    *[(key,) for key in record(stop=4)],
    ("moves", 0),
    ("moves", 1, "actions"),
    ("moves", 2, "actions", 0),
    ("moves", 0, "seat"),
    ("setup", "first"),
    ("setup", "decks", 0),
    ("switches", "stacks"),
    ("switches", "buy_draw"),
    ("players", 1),
]
BASE = record(stop=4)


@given(st.sampled_from(PATHS), JSON)
@settings(max_examples=400, deadline=None)
def test_any_json_in_a_replay_is_judged(path: Any, value: Any) -> None:
    replay = copy.deepcopy(BASE)
    if path:
        put(*path, value=value)(replay)
    else:
        replay = value
    try:
        verify(replay)
    except EngineError as error:
        assert isinstance(error, InvalidReplay)  # noqa: PT017 - anything else is a bug
