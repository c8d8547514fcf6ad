"""The stored puzzles: the engine and a search agree with the file."""

from datetime import date, timedelta
from random import Random

import pytest

from engine.analysis import PROMISE
from engine.evaluation import Evaluator
from engine.position_text import position_from, text_of
from engine.turns import TurnSearch
from ladder.extras.puzzles.collection import (
    Level,
    end_turn,
    number_of_day,
    puzzles,
)
from tests.puzzles.making import PuzzleMaker, positions, puzzle_of_turn

POINTS = [{"score": 1.0, "castles": 1.0, "king": 1.0, "master": 1.0}] * 4
SEED = "2026"  # of the stored puzzles


def test_there_are_a_hundred_positions_each_once_and_the_easy_ones_first() -> None:
    levels = [each.level for each in puzzles()]

    assert len({each.text for each in puzzles()}) == len(puzzles()) == 100
    assert levels == sorted(levels, key=list(Level).index)
    assert set(levels) == set(Level)


def test_each_solution_is_legal_and_gains_what_the_file_says() -> None:
    for puzzle in puzzles():
        game = puzzle.game()
        position = game.position
        assert text_of(position, game.rules) == puzzle.text
        assert position.order[game.rules.seats - 1] == position.seat
        for action in puzzle.solution:
            game.play(action)
        assert len(game.scoring) == 1
        assert puzzle.gain_of(game) == puzzle.gain > 0


def test_a_search_finds_no_better_turn() -> None:
    search = TurnSearch(Evaluator(POINTS, POINTS), PROMISE)
    for puzzle in puzzles()[::25]:
        game = puzzle.game()
        game.position = search.best(game.position, 500, 1)[0].position
        end_turn(game)

        assert puzzle.gain_of(game) <= puzzle.gain


def test_the_games_of_a_seed_have_its_puzzles_again() -> None:
    stored = {each.text for each in puzzles()}
    found = positions(Random(SEED))
    texts = (text_of(position, rules) for rules, position in found)

    assert any(next(texts) in stored for _ in range(60))


@pytest.mark.slow
def test_the_search_makes_a_puzzle_again() -> None:
    puzzle = puzzles()[0]
    maker = PuzzleMaker()
    placed = position_from(puzzle.text)
    turn = maker.best_turn(placed.position)
    assert turn is not None
    level = maker.level_of(placed.position, turn)
    assert level is not None

    assert puzzle_of_turn(placed.rules, placed.position, turn, level) == puzzle


def test_each_puzzle_has_its_day() -> None:
    first = date(2026, 11, 27)
    numbers = {number_of_day(first + timedelta(day)) for day in range(100)}

    assert numbers == set(range(1, 101))
