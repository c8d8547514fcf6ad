"""Every page, checked with axe-core for violations of WCAG 2.2 A and AA."""

from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

from ladder.accounts import tokens
from tests import factories
from tests.web.test_pages import addresses

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
WCAG_TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
OPTIONS = {
    "runOnly": {"type": "tag", "values": WCAG_TAGS},
    "resultTypes": ["violations"],
}
# The page of the API is Swagger UI, whose markup is not ours.
FOREIGN = {"/api/docs/"}
PHONE = {"width": 390, "height": 844}


def violations(page: Page) -> list[str]:
    """Return the rules that the page violates, with the markup that violates them."""
    found: list[dict[str, Any]] = (
        Axe().run(page, options=OPTIONS).response["violations"]
    )
    return [
        f"{page.url}: {rule['id']}: {node['html'][:200]}"
        for rule in found
        for node in rule["nodes"]
    ]


def sign_in(page: Page, name: str) -> None:
    page.goto("/sign-in/")
    page.locator("input[name=token]").fill(tokens.token_for(name))
    page.locator("form:has(input[name=token]) button").first.click()
    page.wait_for_url("**/me/")


@pytest.mark.parametrize(
    ("scheme", "name"), [("light", ""), ("dark", ""), ("light", "ana")]
)
def test_no_page_violates_wcag(
    chromium: Browser, live_server, data_dir, scheme: Any, name: str
) -> None:
    show = factories.everything()
    shown = [each for each in addresses(show) if each not in FOREIGN]
    shown.append(f"/games/{show.game.pk}/embed/")
    context = chromium.new_context(base_url=live_server.url, color_scheme=scheme)
    page = context.new_page()
    if name:
        sign_in(page, name)
        shown = [
            "/me/",
            f"/bots/{show.anas.bot.slug}/",
            f"/submissions/{show.anas.pk}/",
        ]
        shown.append("/ladders/main/challenge/")
    found = []
    for address in shown:
        page.goto(address)
        found += violations(page)
        page.set_viewport_size(PHONE)
        found += violations(page)
        page.set_viewport_size({"width": 1280, "height": 800})
    context.close()
    assert "\n".join(found) == ""
