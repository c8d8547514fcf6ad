"""Every page, checked with axe-core for violations of WCAG 2.2 A and AA."""

from typing import Any

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Browser, Page

from tests import factories
from tests.web import sitemap

pytestmark = [
    pytest.mark.slow,
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
]
WCAG_TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
RULES = {"type": "tag", "values": WCAG_TAGS}
# All that the colours of a page decide. Other rules find the same in both schemes.
RULES_OF_COLOURS = {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}
DESKTOP: Any = {"width": 1280, "height": 800}
PHONE: Any = {"width": 390, "height": 844}


RUN_AXE = "options => axe.run(options).then(results => results.violations)"


def violations(page: Page, rules: dict[str, Any] = RULES) -> list[str]:
    """Return the rules that the page violates, with the markup that violates them.

    The page must have loaded axe-core.
    """
    options = {"runOnly": rules, "resultTypes": ["violations"], "selectors": False}
    found: list[dict[str, Any]] = page.evaluate(RUN_AXE, options)
    return [
        f"{page.url}: {rule['id']}: {node['html'][:200]}"
        for rule in found
        for node in rule["nodes"]
    ]


def open_context(chromium: Browser, live_server: Any, name: str) -> Page:
    context = chromium.new_context(base_url=live_server.url)
    if name:
        cookie = sitemap.session_cookie(name)
        context.add_cookies(
            [{"name": "sessionid", "value": cookie, "url": live_server.url}]
        )
    return context.new_page()


def violations_everywhere(page: Page) -> list[str]:
    """Return the violations of the open page on a desktop, a phone, and in the dark.

    It is also a fault if a page is wider than the phone. A page is not loaded again for
    its dark colours, because style sheets alone set them, and they are the same at
    every width.
    """
    page.evaluate(AXE_SCRIPT)
    page.emulate_media(color_scheme="light")
    page.set_viewport_size(DESKTOP)
    found = violations(page)
    page.set_viewport_size(PHONE)
    found += violations(page)
    width = page.evaluate("document.documentElement.scrollWidth")
    if width > PHONE["width"]:
        found.append(f"{page.url}: {width} px wide on a phone")
    page.emulate_media(color_scheme="dark")
    return found + violations(page, RULES_OF_COLOURS)


def violations_of_pages(page: Page, addresses: list[str]) -> list[str]:
    """Return the violations of the pages at these addresses. Close the context."""
    found = []
    for address in addresses:
        answer = page.goto(address)
        assert answer is not None, address
        assert answer.ok, address
        found += violations_everywhere(page)
    page.context.close()
    return found


@pytest.mark.slow
def test_no_page_with_hostile_texts_violates_wcag(
    chromium: Browser, live_server, data_dir
) -> None:
    show = factories.everything()
    bot, game = show.anas.bot.slug, show.game.pk
    public = ["/", f"/bots/{bot}/", f"/submissions/{show.rejected.pk}/"]
    public += [f"/games/{game}/", f"/games/{game}/embed/", "/docs/?q=forfeit"]
    own = ["/me/", "/ladders/main/challenge/"]

    for name, shown in (("", public), ("ana", public + own)):
        page = open_context(chromium, live_server, name)
        assert violations_of_pages(page, shown) == [], name


@pytest.mark.slow
@pytest.mark.parametrize("name", [pytest.param("", marks=pytest.mark.deep), "olga"])
def test_no_page_violates_wcag(
    chromium: Browser, live_server, data_dir, settings, name: str
) -> None:
    settings.TORRES_SIGN_UP = "open"
    sitemap.fill(sitemap.SMALL)
    shown = sitemap.pages(name)
    assert len(shown) > 20
    page = open_context(chromium, live_server, name)

    assert violations_of_pages(page, shown) == []
