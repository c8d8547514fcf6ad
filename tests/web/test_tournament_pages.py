"""Tournaments on their pages: brackets, and how to enter."""

import pytest

from ladder.tournaments import services
from tests.games import factories
from tests.tournaments.factories import begun, play_out, tournament

pytestmark = pytest.mark.django_db(transaction=True)


def page(visit, slug: str) -> str:
    answer = visit("").get(f"/tournaments/{slug}/")
    assert answer.status_code == 200
    return answer.content.decode()


@pytest.fixture(autouse=True)
def _scripted(scripted_players: None) -> None:
    """Play games without processes."""


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

    assert "/sign-in/?next=/tournaments/cup/" in page(visit, made.slug)


def test_ana_enters_checks_in_and_leaves(visit) -> None:
    made = tournament({"format": "swiss"}, must_check_in=True)
    bot = factories.bot("grendel", "ana")
    browser, given = visit("ana"), {"bot": "grendel"}

    def said(what: str) -> str:
        answer = browser.post(f"/tournaments/cup/{what}/", given, follow=True)
        return answer.content.decode()

    assert "has not entered" in browser.get("/tournaments/cup/").content.decode()
    assert "it has to check in" in said("enter")
    assert "is checked in" in said("check-in")
    assert "has left" in said("withdraw")
    assert made.entrants.get().bot == bot
    assert "has entered" in said("enter") or "is checked in" in said("enter")


@pytest.mark.parametrize("who", ["ben", ""])
@pytest.mark.parametrize("what", ["enter", "check-in", "withdraw"])
def test_nobody_else_enters_or_withdraws_it(visit, who: str, what: str) -> None:
    made = tournament({"format": "swiss"})
    services.enter(made, factories.bot("grendel", "ana"))
    services.enter(made, factories.bot("other", "cleo"))

    answer = visit(who).post(f"/tournaments/cup/{what}/", {"bot": "grendel"})

    assert answer.status_code == (404 if who else 302)
    assert not made.entrants.exclude(withdrawn_at=None).exists()
    assert not made.entrants.exclude(checked_in_at=None).exists()


def test_a_refusal_is_told_on_the_page(visit) -> None:
    tournament({"format": "swiss"})
    factories.bot("grendel", "ana", ready=False)

    answer = visit("ana").post(
        "/tournaments/cup/enter/", {"bot": "grendel"}, follow=True
    )

    assert b"no submission that is ready" in answer.content
