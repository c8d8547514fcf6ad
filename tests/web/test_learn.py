"""`/learn/`: every lesson has a solution, and every other choice is explained."""

from http import HTTPStatus

import pytest
from django.test import Client

from engine.moves import SPACES
from ladder.web.pages.learn_views import LESSONS, Lesson, judge

SOLUTIONS = ("c4", "b3", "c8", "d4", "c4", "c4")


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.title)
def test_a_lesson_has_solutions_and_explains_all_other_spaces(lesson: Lesson) -> None:
    outcomes = {space: judge(lesson, space) for space in SPACES}
    right = {space for space, outcome in outcomes.items() if outcome.solved}

    assert SOLUTIONS[LESSONS.index(lesson)] in right
    assert len(right) <= 8
    for space in SPACES:
        is_legal = lesson.action.format(space) in lesson.game().legal()
        expected = lesson.why if space in right else lesson.missing
        text = outcomes[space].text
        assert text == expected if is_legal else "(rule" in text


@pytest.mark.parametrize("space", ["", "z9", "c", "C4", "\0", "é" * 3000])
def test_any_text_is_answered_in_a_sentence(client: Client, space: str) -> None:
    response = client.get("/learn/1/", {"space": space})

    assert response.status_code == HTTPStatus.OK
    solved = space.strip().lower() == "c4"
    expected = "Right." if solved else "Choose a space from a1 to h8."
    assert expected in response.content.decode()


@pytest.mark.parametrize("number", [0, 7, 10**9])
def test_there_are_six_lessons(client: Client, number: int) -> None:
    assert client.get(f"/learn/{number}/").status_code == HTTPStatus.NOT_FOUND
