"""Tournaments on their pages: brackets, and how to enter."""

import pytest

from tests.tournaments.cast import begun, play_out, tournament

pytestmark = pytest.mark.django_db(transaction=True)


def page(visit, slug: str) -> str:
    answer = visit("").get(f"/tournaments/{slug}/")
    assert answer.status_code == 200
    return answer.content.decode()


@pytest.fixture(autouse=True)
def _scripted(settings) -> None:
    """Games are played without processes here."""
    settings.TORRES_OPEN_PLAYER = "ladder.ops.scripted.open_player"


def test_an_elimination_has_a_bracket(visit) -> None:
    made = begun({"format": "single_elimination"}, 3)

    before = page(visit, made.slug)
    assert "<h3>Round 2</h3>" in before
    assert before.count(">bye<") == 1
    assert before.count(">open<") == 1
    assert before.count("✓") == 1
    play_out(made)
    after = page(visit, made.slug)
    assert ">open<" not in after
    assert after.count("✓") == 3


def test_a_round_robin_has_none(visit) -> None:
    made = begun({"format": "round_robin"}, 3)

    assert "Bracket" not in page(visit, made.slug)


def test_who_may_enter_is_told_how(visit) -> None:
    made = tournament({"format": "swiss"})

    assert f"/api/v1/tournaments/{made.slug}/entrants/" in page(visit, made.slug)
