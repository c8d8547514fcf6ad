"""Torres TV in a real browser."""

import pytest
from playwright.sync_api import Page, expect

from tests import factories
from tests.web.test_accessibility import violations_everywhere
from tests.web.test_watching import begin, end

pytestmark = [
    pytest.mark.slow,
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
]


def test_tv_goes_from_game_to_game_by_itself(served_page: Page) -> None:
    page = served_page
    show = factories.everything()
    following = factories.make_match(show.anas, show.bens, finished=0)
    page.goto("/tv/?stage=1")
    screen = page.locator("#tv")
    which, moment = screen.locator(".which"), screen.locator(".moment")

    expect(which).to_have_text("The best game of the day")
    game, claim = begin(show.waiting, moves=5)
    expect(which).to_have_text("running")
    expect(screen.get_by_role("link", name=f"Watch game {game.pk}")).to_be_visible()
    frames = page.request.get(f"/games/{game.pk}/frames.json").json()["frames"]
    name = game.seats.get(number=frames[-1]["seat"]).submission.bot.name
    expect(moment).to_contain_text(f"{name} is to move.")
    expect(screen.locator("li.to-act .name")).to_have_text(name)
    assert "\n".join(violations_everywhere(page)) == ""
    end(claim, show.waiting)
    expect(moment).to_contain_text("wins.")
    new, _ = begin(following, moves=5)
    watch = screen.get_by_role("link", name=f"Watch game {new.pk}")
    expect(watch).to_have_attribute("href", f"/games/{new.pk}/")
    players = screen.get_by_role("list", name="Players").get_by_role("listitem")
    expect(players).to_have_count(2)
    expect(moment).to_contain_text("is to move.")
