"""The track, castles, king's bonus, master cards (docs/rules.md, 54-59 and 72)."""

import pytest

from engine.editions import PRESETS
from engine.moves import MASTER_NAMES
from engine.notation import move_of
from engine.rulesets import resolve
from engine.setup import derive
from engine.track import Track
from tests.engine.factories import position

C09 = ("a3=2 a4=1 a5=1 c2 c3 c4=3 d4=4 d1=2 e1 e3 f3 g3", "a3 d4 e3", "a4 c4 d1")


def track(*scores: int) -> Track:
    line = Track()
    line.seats = len(scores)
    line.scores = [*scores, *[0] * (4 - len(scores))]
    return line


@pytest.mark.rule(54)
def test_an_advance_skips_taken_scores() -> None:
    two = track(7, 8)
    three = track(7, 8, 9)
    two.gain(0, 1)
    three.gain(0, 1)

    assert (two.scores[0], three.scores[0]) == (9, 10)


@pytest.mark.rule(56)
def test_a_taken_score_is_skipped() -> None:
    line = track(10, 12)
    line.gain(0, 5)
    line.gain(1, 3)

    assert list(line.scores[:2]) == [15, 16]


@pytest.mark.rule(59)
def test_a_seat_that_gains_nothing_does_not_move() -> None:
    line = track(0, 0)
    line.gain(0, 0)

    assert list(line.scores[:2]) == [0, 0]


def points_of(
    blocks: str, mine: str, theirs: str, phase: int, **changes: object
) -> list[list[int]]:
    """Return the castle points and the king points of both seats."""
    board = position(blocks, mine, theirs, **changes).board  # type: ignore[arg-type]
    line = track(0, 0)
    return [
        [line.castles(board, seat) for seat in (0, 1)],
        [line.king(board, seat, phase) for seat in (0, 1)],
    ]


@pytest.mark.rule(55)
def test_the_highest_knight_counts_once() -> None:
    blocks = "c3=3 c4=2 c5 d3 b3"

    assert points_of(blocks, "c3 c4", "c5", 1, king="d3")[0] == [15, 5]


@pytest.mark.rule(55, 57)
def test_the_yucata_example() -> None:
    assert points_of(*C09, 2, king="a5") == [[25, 19], [10, 0]]
    assert points_of(*C09, 1, king="a5")[1] == [0, 5]
    assert points_of(*C09, 3, king="a5")[1] == [0, 0]


@pytest.mark.rule(57)
@pytest.mark.parametrize(
    ("knights", "phase", "points"),
    [("a1 b1", 1, 16), ("a1 b1", 2, 26), ("b1 c1", 1, 13), ("b1 c1", 2, 18)],
)
def test_the_kings_castle(knights: str, phase: int, points: int) -> None:
    # a1 is level 4, b1 level 2, c1 and d1 level 1: an area of 4.
    castles, king = points_of("a1=4 b1=2 c1 d1", knights, "", phase, king="d1")

    assert castles[0] + king[0] == points


@pytest.mark.rule(57)
def test_the_kings_bonus_is_given_once() -> None:
    assert points_of("a1 b1 c1", "a1 b1", "", 1, king="c1")[1] == [5, 0]


def master(
    name: str,
    phase: int,
    mine: str,
    theirs: str = "",
    blocks: str = "",
    **switches: bool,
) -> list[int]:
    board = position(blocks, mine, theirs).board
    line = track(0, 0)
    line.master = MASTER_NAMES.index(name)
    for switch, value in switches.items():
        setattr(line, switch, value)
    return [line.card(board, seat, phase) for seat in (0, 1)]


@pytest.mark.rule(72)
def test_border_knights() -> None:
    assert master("border", 2, "a1 a3 h8 d4", "b1 c1") == [20, 10]
    assert master("border", 2, "a1 a3", "b1 c1") == [10, 10]
    assert master("border", 3, "d4", "e5") == [0, 0]


@pytest.mark.rule(72)
def test_diagonal_knights() -> None:
    assert master("diagonals", 1, "a1 h1 d4", "b1 b2") == [8, 2]


@pytest.mark.rule(72)
@pytest.mark.parametrize(
    ("phase", "castles", "points"),
    [(1, 4, 5), (1, 3, 0), (1, 5, 0), (2, 5, 15), (3, 6, 30)],
)
def test_the_castles_card_needs_the_exact_number(
    phase: int, castles: int, points: int
) -> None:
    spaces = ["a1", "c1", "e1", "g1", "a3", "c3"]
    blocks = " ".join(spaces)

    assert (
        master("castles", phase, " ".join(spaces[:castles]), blocks=blocks)[0] == points
    )


SIX = "a1 a2 a3 a4 a5 a6"


@pytest.mark.rule(72)
@pytest.mark.parametrize(
    ("name", "knights", "blocks", "points"),
    [
        ("adjacent", SIX, "", 40),
        ("adjacent", "a1 a2 a3 a4 a5 a7", "", 0),
        ("adjacent", "a1 a2", "", 0),
        ("all_levels", SIX, "a1 a2=2 a3=3 a4=4 a5=5", 40),
        ("all_levels", SIX, "a1 a2 a3=3 a4=4 a5=5", 0),
        ("row", "a1 b1 c1 d1 e1 h1", "", 50),
        ("row", "a1 a2 a3 a4 a5 a8", "", 50),
        ("row", "a1 a2 a3 a4 a5 b5", "", 0),
        ("square", "a1 a3 c1 c3", "", 50),
        ("square", "b1 a2 c2 b3", "", 0),
        ("square", "a1 a3 c1 c4", "", 0),
        ("one_level", SIX, "", 50),
        ("one_level", SIX, "a1", 0),
    ],
)
def test_master_cards_of_the_third_phase(
    name: str, knights: str, blocks: str, points: int
) -> None:
    assert master(name, 3, knights, blocks=blocks)[0] == points
    assert master(name, 2, knights, blocks=blocks)[0] == 0


def test_readings_of_the_master_cards_are_switches() -> None:
    assert master("adjacent", 3, "a1 a2", all_six=False)[0] == 40
    assert master("row", 3, "a1 b1 c1 d1 e1 h1", contiguous=True)[0] == 0
    assert master("row", 3, SIX, contiguous=True)[0] == 50
    assert master("square", 3, "b1 a2 c2 b3", tilted=True)[0] == 50
    assert master("square", 3, "g1 f3 h4 g6", tilted=True)[0] == 0


@pytest.mark.rule(54)
def test_one_action_point_may_give_several_points() -> None:
    on = position("a1", scores=[7, 8])
    on.apply(move_of(on, "score") or 0)

    assert list(on.track.scores[:2]) == [9, 8]
    assert on.ap == 4


@pytest.mark.rule(7, 9)
@pytest.mark.parametrize("level", [0, 1, 2, 3])
def test_a_level_is_the_number_of_blocks_under_the_knight(level: int) -> None:
    tower = f"c3={level}" if level else ""

    # With c3 the castle has the spaces c3, c4, d3, d4, d5 and e3.
    assert points_of(f"{tower} c4 d3 d4 d5 e3", "c3", "", 1, king="e3")[0] == [
        6 * level,
        0,
    ]


def phase_scores(
    blocks: str, mine: str, theirs: str, first: int, *scores: int
) -> list[int]:
    """Return the scores after the scoring of phase 3; the king stands on h8."""
    line = track(*scores)
    line.score_phase(position(f"{blocks} h8", mine, theirs, king="h8").board, 3, first)
    return list(line.scores[:2])


@pytest.mark.rule(55)
@pytest.mark.parametrize(("first", "scores"), [(0, [4, 5]), (1, [5, 4])])
def test_castles_are_scored_clockwise_from_the_starting_player(
    first: int, scores: list[int]
) -> None:
    assert phase_scores("a1=2 a2 c1=2 c2", "a1", "c1", first, 0, 0) == scores


@pytest.mark.rule(56)
def test_the_points_of_all_castles_are_added_at_once() -> None:
    """Two castles give 2 points each. The other player has 2 and would be passed."""
    assert phase_scores("a1 a2 c1 c2", "a1 c1", "", 0, 0, 2) == [4, 2]
    assert phase_scores("a1 a2 c1 c2", "a1 c1", "", 0, 0, 4) == [5, 4]


@pytest.mark.rule(57)
def test_the_kings_bonus_comes_after_all_castles() -> None:
    """Seat 0 gets 6 and 5 points and seat 1 gets 11, so that the order decides."""
    line = track(0, 0)
    blocks = "a1 a2 a3 a4 a5 a6 c1=2 c2 c3 c4 e1 e2 e3"
    board = position(blocks, "a1", "c1 e1", king="a6").board
    line.score_phase(board, 1, 0)

    assert list(line.castle_points[:2]) == [6, 11]
    assert list(line.king_points[:2]) == [5, 0]
    assert list(line.scores[:2]) == [12, 11]


@pytest.mark.rule(58)
@pytest.mark.parametrize("ruleset", PRESETS)
def test_master_cards_belong_to_the_master_version(ruleset: str) -> None:
    rules = resolve(ruleset, 2)
    is_master = ruleset in ("rio-grande-1999-master", "torres-3d", "devir-2017-master")

    assert (derive(rules, "any").master is not None) == is_master


@pytest.mark.rule(58)
@pytest.mark.parametrize(("card", "points"), [(-1, 0), (0, 4)])
def test_the_master_card_is_scored_in_each_phase(card: int, points: int) -> None:
    line = track(0, 0)
    line.master = card  # none, or BORDER
    line.score_phase(position("h8", "a1", king="h8").board, 1, 0)

    assert line.master_points[0] == points
    assert line.scores[0] == points
