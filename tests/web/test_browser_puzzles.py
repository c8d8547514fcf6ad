"""A puzzle in a real browser: from home to the verdict on a phone, by keyboard."""

import pytest
from playwright.sync_api import Page, expect

from ladder.extras.puzzles.collection import puzzles
from tests.web.test_accessibility import PHONE, violations_everywhere

pytestmark = [
    pytest.mark.slow,
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
]


def test_the_puzzle_of_the_day_is_solved_by_keyboard_on_a_phone(
    served_page: Page,
) -> None:
    page = served_page
    page.set_viewport_size(PHONE)
    page.goto("/")
    page.get_by_role("link", name="Puzzle of the day").click()
    address = page.locator("#play").get_attribute("data-judge") or ""
    puzzle = puzzles()[int(address.split("/")[2]) - 1]
    verdict = page.get_by_role("status")
    page.locator("#options button", has_text="Take a point").click()
    expect(page.locator("#steps li")).to_have_count(1)
    page.click("#finish")
    expect(verdict).to_contain_text(f"The best turn gains {puzzle.gain} point")
    assert violations_everywhere(page) == []

    page.get_by_role("link", name="Try again").press("Enter")
    page.locator("#everything summary").press("Enter")
    for number, action in enumerate(puzzle.solution[:-1], start=1):
        page.select_option("#legal", action)
        page.locator("#legal").press("Enter")
        expect(page.locator("#steps li")).to_have_count(number)
    assert violations_everywhere(page) == []
    page.locator("#finish").press("Enter")

    expect(verdict).to_contain_text(f"the best turn. It gains {puzzle.gain}")
    page.get_by_role("link", name="All puzzles").click()
    expect(page.locator(".done")).to_have_count(1)
    expect(page.get_by_text("You have solved 1 of 100")).to_be_visible()


def test_a_puzzle_whose_solution_was_shown_does_not_count(page: Page) -> None:
    page.goto("/puzzles/3/")
    page.get_by_text("Show the best turn").click()
    page.get_by_role("link", name="See it on the board").click()
    expect(page.get_by_role("status")).to_contain_text("the best turn. It gains")
    page.get_by_role("link", name="All puzzles").click()
    expect(page.locator("[data-puzzle]")).to_have_count(100)
    expect(page.locator(".done")).to_have_count(0)
