"""The button "Test against my last version", and the page of a comparison."""

import re

import pytest

from ladder.extras.comparisons.models import VersionComparison
from ladder.games.models import Game
from tests.comparisons.factories import (
    begun,
    bot,
    finish_all,
    ladder,
    new_wins,
    old_wins,
    play_out,
    tick,
    undecided,
)
from tests.factories import HOSTILE, Show
from tests.web.test_pages import AccessibilityCheck

BUTTON = "Test against my last version"


def text(browser, address: str) -> str:
    page = browser.get(address)
    assert page.status_code == 200, address
    content = page.content.decode()
    check = AccessibilityCheck()
    check.feed(content)
    check.close()
    assert check.faults == []
    assert HOSTILE not in content
    return content


def test_the_button_starts_a_comparison_and_says_before_what_it_costs(visit) -> None:
    bot()
    ladder()
    ana = visit("ana")

    page = text(ana, "/bots/grendel/")
    assert BUTTON in page
    assert "Plays #2 against #1 in unrated games on idle workers" in page
    assert "Expected games: 256 at a bound, 419 at worst, and never more than" in page
    for stranger in ("ben", ""):
        assert BUTTON not in text(visit(stranger), "/bots/grendel/")

    answer = ana.post("/bots/grendel/compare-versions/", {"ladder": "main"})
    row = VersionComparison.objects.get()
    assert (answer.status_code, answer["Location"]) == (302, f"/comparisons/{row.pk}/")
    page = text(ana, f"/comparisons/{row.pk}/")
    assert "Undecided: more blocks are needed." in page
    assert "It waits for idle workers, because rated games go first." in page
    assert "About 419 more games are expected" in page
    page = text(ana, "/bots/grendel/")
    assert BUTTON not in page
    assert f'href="/comparisons/{row.pk}/"' in page


def test_the_page_shows_the_figures_and_the_blocks_that_hurt(visit) -> None:
    row = begun()
    for better in (new_wins, old_wins, new_wins):
        tick(slots=1)
        finish_all(better)
    tick(slots=1)

    page = text(visit("ana"), f"/comparisons/{row.pk}/")
    games = Game.objects.filter(match=row.blocks.get(number=1).match_id)
    rows = re.findall(r'<tr><th scope="row" class="n">(\d+)</th>', page)
    assert rows == ["2"]
    for game in games:
        assert f'href="/games/{game.pk}/"' in page
    assert '<dd>3 <span class="soft">(6 games)</span></dd>' in page
    assert "It waits" not in page
    assert "(−2.94 to 2.94)" in page
    why = text(visit(""), f"/matches/{games[0].match_id}/")
    assert "compares two of its versions. This match is block 2" in why
    assert "It is not rated." in why


def test_the_result_and_the_next_comparison(visit) -> None:
    row = play_out(begun())
    ana = visit("ana")

    page = text(ana, f"/comparisons/{row.pk}/")
    assert "#2 is better than #1." in page
    assert "Cancel</button>" not in page
    assert "http-equiv" not in page
    assert BUTTON in text(ana, "/bots/grendel/")


def test_the_owner_cancels_it_on_the_page(visit) -> None:
    row = begun()
    ana = visit("ana")

    cancel = f"/comparisons/{row.pk}/cancel/"
    assert visit("ben").post(cancel).status_code == 404
    assert ana.get(cancel).status_code == 405
    assert ana.post(cancel)["Location"] == f"/comparisons/{row.pk}/"
    assert "cancelled</span>" in text(ana, f"/comparisons/{row.pk}/")
    ana.post(cancel)
    assert "The comparison is cancelled already." in text(ana, "/bots/grendel/")


@pytest.mark.parametrize("who", ["ben", ""])
def test_nobody_else_sees_the_page(visit, who: str) -> None:
    row = begun()
    page = visit(who).get(f"/comparisons/{row.pk}/")

    assert page.status_code == (404 if who else 302)


@pytest.mark.parametrize("wanted", ["", "nope", "\0", "main\0", "x" * 5000])
def test_a_wrong_ladder_shows_an_error(visit, wanted: str) -> None:
    bot()
    ladder()
    ana = visit("ana")
    ana.post("/bots/grendel/compare-versions/", {"ladder": wanted})

    assert "Choose a ladder for the comparison." in text(ana, "/bots/grendel/")
    assert not VersionComparison.objects.exists()


def test_a_bot_with_one_version_has_no_button(visit) -> None:
    bot(versions=1)
    ladder()
    ana = visit("ana")

    page = text(ana, "/bots/grendel/")
    assert BUTTON not in page
    assert "you can test it here against #1" in page
    ana.post("/bots/grendel/compare-versions/", {"ladder": "main"})
    assert "has no older version that was ready" in text(ana, "/bots/grendel/")


def test_games_of_a_comparison_do_not_hide_those_of_the_ladder(visit) -> None:
    begun()
    tick()
    finish_all()
    game = Game.objects.first()

    for address in ("/bots/grendel/", "/"):
        assert f"/games/{game.pk}/" not in text(visit("ana"), address)
    assert f"/games/{game.pk}/" in text(visit("ana"), "/games/?bot=grendel")


def test_a_hostile_note_is_escaped(visit, show: Show) -> None:
    row = undecided(show)

    assert "&lt;script&gt;" in text(visit("ana"), f"/comparisons/{row.pk}/")
