"""The lessons of `/learn/` in a real browser: from home to the end on a phone."""

import pytest
from playwright.sync_api import Page, expect

from tests.web.test_accessibility import PHONE, violations_everywhere
from tests.web.test_learn import SOLUTIONS

pytestmark = [
    pytest.mark.slow,
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
]


def test_a_newcomer_solves_all_lessons_on_a_phone(served_page: Page) -> None:
    page = served_page
    page.set_viewport_size(PHONE)
    page.goto("/")
    page.get_by_role("link", name="Learn to play in two minutes").click()
    for number, space in enumerate(SOLUTIONS, start=1):
        expect(page.get_by_text(f"{number} of {len(SOLUTIONS)}")).to_be_visible()
        page.locator(f".tiles a[href='?space={space}']").click()
        expect(page.get_by_role("status")).to_contain_text("Right.")
        if number < len(SOLUTIONS):
            page.get_by_role("link", name="Next").click()

    page.get_by_role("link", name="Play without an account").click()
    expect(page.get_by_role("heading", name="Play by hand")).to_be_visible()


def test_the_keyboard_is_enough_and_a_wrong_space_is_explained(
    served_page: Page,
) -> None:
    page = served_page
    page.goto("/learn/2/")
    field = page.get_by_label("Choose a space on the board, or write its name")
    field.fill("c4")
    field.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("Not c4: neither a step")
    assert violations_everywhere(page) == []
    field.fill("b3")
    field.press("Enter")
    expect(page.get_by_role("status")).to_contain_text("Right.")

    assert violations_everywhere(page) == []
