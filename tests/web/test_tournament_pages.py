"""The pages of tournaments: brackets and entry."""

from typing import Any

import pytest
from django.core.cache import cache
from django.template.loader import render_to_string

from ladder.tournaments import services
from ladder.web.pages import tournament_pages
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
    cup = begun({"format": "single_elimination"}, 3)

    before = page(visit, cup.slug)
    assert "<h3>Round 2</h3>" in before
    assert before.count(">bye<") == 1
    assert before.count(">open<") == 1
    assert before.count("✓") == 1
    play_out(cup)
    after = page(visit, cup.slug)
    assert ">open<" not in after
    assert after.count("✓") == 3


def test_a_round_robin_has_no_bracket(visit) -> None:
    cup = begun({"format": "round_robin"}, 3)

    assert "Bracket" not in page(visit, cup.slug)


def test_the_results_are_written_once_for_all_visitors(
    visit, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.TORRES_FRESH_SECONDS = 60
    cup = begun({"format": "round_robin"}, 3)
    written = []

    def count(template: str, context: dict[str, Any]) -> str:
        written.append(template)
        return render_to_string(template, context)

    monkeypatch.setattr(tournament_pages, "render_to_string", count)
    address = f"/tournaments/{cup.slug}/"
    pages = [visit(who).get(address).content.decode() for who in ("ana", "ben")]
    assert written == ["web/_results.html"]
    for text in pages:
        assert "<h2>Standings</h2>" in text
        assert '<table class="cross">' not in text  # there is no result yet
    play_out(cup)
    cache.clear()
    after = visit("ana").get(address).content.decode()
    assert len(written) == 2
    assert '<table class="cross">' in after
    assert "&lt;table" not in after


def test_an_anonymous_visitor_is_told_how_to_enter(visit) -> None:
    cup = tournament({"format": "swiss"})

    assert "/sign-in/?next=/tournaments/cup/" in page(visit, cup.slug)


def test_ana_enters_checks_in_and_leaves(visit) -> None:
    cup = tournament({"format": "swiss"}, must_check_in=True)
    bot = factories.bot("grendel", "ana")
    browser = visit("ana")
    fields = {"bot": "grendel"}

    def page_after(action: str) -> str:
        answer = browser.post(f"/tournaments/cup/{action}/", fields, follow=True)
        return answer.content.decode()

    assert "has not entered" in browser.get("/tournaments/cup/").content.decode()
    assert "it still has to check in" in page_after("enter")
    assert "is checked in" in page_after("check-in")
    assert "has left" in page_after("withdraw")
    assert cup.entrants.get().bot == bot
    assert "has entered" in page_after("enter") or "is checked in" in page_after(
        "enter"
    )


@pytest.mark.parametrize("who", ["ben", ""])
@pytest.mark.parametrize("what", ["enter", "check-in", "withdraw"])
def test_nobody_else_enters_or_withdraws_it(visit, who: str, what: str) -> None:
    cup = tournament({"format": "swiss"})
    services.enter(cup, factories.bot("grendel", "ana"))
    services.enter(cup, factories.bot("other", "cleo"))

    answer = visit(who).post(f"/tournaments/cup/{what}/", {"bot": "grendel"})

    assert answer.status_code == (404 if who else 302)
    assert not cup.entrants.exclude(withdrawn_at=None).exists()
    assert not cup.entrants.exclude(checked_in_at=None).exists()


def test_an_error_is_shown_on_the_tournament_page(visit) -> None:
    tournament({"format": "swiss"})
    factories.bot("grendel", "ana", ready=False)

    answer = visit("ana").post(
        "/tournaments/cup/enter/", {"bot": "grendel"}, follow=True
    )

    assert b"no submission that is ready" in answer.content
