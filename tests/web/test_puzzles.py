"""`/puzzles/`: a turn in the address is judged, and any other text is refused."""

from dataclasses import replace
from http import HTTPStatus

import pytest
from django.test import Client
from django.utils import timezone

from ladder.extras.puzzles.collection import Puzzle, number_of_day, puzzles
from ladder.web.pages import puzzle_views

HOSTILE = (
    ["\0"],
    ["é" * 3000],
    ["block z9"],
    ["end"] * 65,
    ["end", "end"],
    ["buy"],
    [""],
    ["<script>"],
)


def page(client: Client, number: int, actions: tuple[str, ...] = ()) -> str:
    response = client.get(f"/puzzles/{number}/", {"action": actions})
    assert response.status_code == HTTPStatus.OK
    return response.content.decode()


def test_the_list_leads_to_each_puzzle_and_to_that_of_the_day(client: Client) -> None:
    listed = client.get("/puzzles/").content.decode()
    today = client.get("/puzzles/today/").content.decode()
    number = number_of_day(timezone.now().date())

    assert all(f'href="/puzzles/{n}/"' in listed for n in range(1, 101))
    assert 'href="/puzzles/today/"' in listed
    assert "Puzzle of the day" in today
    assert f'data-judge="/puzzles/{number}/"' in today


@pytest.mark.parametrize("number", [1, 50, 100])
def test_the_best_turn_is_found_action_by_action(client: Client, number: int) -> None:
    puzzle = puzzles()[number - 1]
    solution = puzzle.solution
    for count, action in enumerate(solution):
        shown = page(client, number, solution[:count])
        assert f"<option>{action}</option>" in shown
        assert shown.count('type="hidden" name="action"') == count

    assert f"the best turn. It gains {puzzle.gain} point" in page(
        client, number, solution
    )


def test_a_worse_turn_is_told_what_the_best_one_gains(client: Client) -> None:
    shown = page(client, 1, ("end",))

    gain = puzzles()[0].gain
    assert f"Your turn gains 0 points. The best turn gains {gain} points." in shown
    assert "Try again" in shown
    assert "Show the best turn" in shown


def test_a_turn_that_beats_the_search_is_praised(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    worse: Puzzle = replace(puzzles()[0], gain=1)
    monkeypatch.setattr(puzzle_views, "puzzles", lambda: (worse,))

    assert "You found a better turn than the search" in page(client, 1, worse.solution)


@pytest.mark.parametrize("actions", HOSTILE, ids=lambda actions: actions[0][:9])
def test_any_other_text_is_refused_in_a_sentence(
    client: Client, actions: list[str]
) -> None:
    shown = page(client, 1, tuple(actions))
    answer = client.get("/puzzles/1/turn.json", {"action": actions})

    assert 'role="alert"' in shown
    assert "<script>" not in shown
    assert answer.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    assert answer.json()["type"].endswith("bad-answer")
    assert answer.json()["detail"].endswith(".")


def test_the_script_gets_the_position_after_a_part_of_the_turn(client: Client) -> None:
    first = puzzles()[0].solution[:2]
    answer = client.get("/puzzles/1/turn.json", {"action": first}).json()

    assert not answer["complete"]
    assert "end" in answer["legal"]
    assert answer["frame"]["ap"] < 5


@pytest.mark.parametrize("address", ["0/", "101/", f"{10**9}/", "0/turn.json"])
def test_there_are_a_hundred_puzzles(client: Client, address: str) -> None:
    assert client.get(f"/puzzles/{address}").status_code == HTTPStatus.NOT_FOUND
