"""The pages of tournaments in a real browser."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import Browser, Page, expect

from ladder.tournaments.models import Tournament
from tests.tournaments.factories import (
    FORMATS,
    begun,
    play_out,
    play_scheduled,
    tick,
    tournament,
    worker,
)
from tests.web.test_accessibility import violations_everywhere

pytestmark = [
    pytest.mark.slow,
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
]
LINE = """([selector, side]) => {
    const style = getComputedStyle(document.querySelector(selector), side);
    const edge = side === "::before" ? "Top" : "Right";
    return [style.content, style[`border${edge}Width`], style[`border${edge}Style`]];
}"""
LONG_NAME = "Wiglaf-the-companion-of-Beowulf-" * 2


@pytest.fixture(autouse=True)
def _scripted(scripted_players: None) -> None:
    """Play games without processes."""


def address(cup: Tournament) -> str:
    return f"/tournaments/{cup.slug}/"


def line(page: Page, selector: str, side: str = "::after") -> list[str]:
    """Return content, width and style of a line beside the first such contest.

    The line after a contest turns up or down at its right edge.
    """
    found: list[str] = page.evaluate(LINE, [selector, side])
    return found


def test_the_time_until_the_next_step_is_counted_down(page: Page) -> None:
    page.clock.install()
    closes = timezone.now() + timedelta(days=1, hours=2, seconds=30)
    cup = tournament({"format": "swiss"}, closes_at=closes)
    page.goto(address(cup))
    timer = page.get_by_role("timer")

    expect(timer).to_have_text(re.compile(r"^in 1 day, 02:00:\d\d$"))
    page.clock.fast_forward(timedelta(hours=2, minutes=1).seconds * 1000)
    expect(timer).to_have_text(re.compile(r"^in 23:59:\d\d$"))
    page.clock.fast_forward(timedelta(days=1).days * 86_400_000)
    expect(timer).to_have_text("now")


def test_without_scripts_the_time_is_in_words(chromium: Browser, live_server) -> None:
    closes = timezone.now() + timedelta(days=1, hours=2, seconds=30)
    cup = tournament({"format": "swiss"}, closes_at=closes)
    context = chromium.new_context(base_url=live_server.url, java_script_enabled=False)
    page = context.new_page()
    page.goto(address(cup))

    words = re.compile(r"^in 1\sday, 2\shours$")
    expect(page.get_by_role("timer")).to_have_text(words)
    expect(page.locator(".countdown").first).to_contain_text(
        f"{closes:%Y-%m-%d %H:%M} UTC"
    )
    context.close()


def test_a_running_tournament_renews_its_page_up_to_the_podium(page: Page) -> None:
    cup = begun({"format": "swiss", "rounds": 2, "duplicate": False}, 8)
    tick(slots=20)
    page.clock.install()
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(address(cup))
    expect(page.locator("main")).to_contain_text("0 of 4 matches are decided")
    standings = page.get_by_role("region", name="Standings")
    standings.evaluate("node => { node.scrollLeft = 40; node.focus(); }")

    play_scheduled(worker())
    tick(slots=20)
    page.clock.run_for(11_000)
    expect(page.locator("main")).to_contain_text("Round 2 of 2")
    expect(standings).to_be_focused()
    assert standings.evaluate("node => node.scrollLeft") == 40
    play_out(cup)
    page.clock.run_for(11_000)
    expect(page.get_by_role("heading", name="Podium")).to_be_visible()
    expect(page.locator("[data-renew]")).to_have_count(0)


def test_a_page_is_not_renewed_under_a_reader_who_uses_a_link(page: Page) -> None:
    cup = begun({"format": "swiss", "rounds": 2, "duplicate": False}, 4)
    tick(slots=20)
    page.clock.install()
    page.goto(address(cup))
    link = page.locator("tbody a").first
    link.focus()
    play_scheduled(worker())
    tick(slots=20)

    with page.expect_response(lambda answer: answer.url.endswith(address(cup))):
        page.clock.run_for(11_000)
    expect(link).to_be_focused()
    expect(page.locator("main")).to_contain_text("Round 1 of 2")


def test_the_contests_of_a_bracket_are_joined_by_lines(page: Page) -> None:
    cup = begun({"format": "single_elimination"}, 4)
    tick(slots=20)
    page.goto(address(cup))
    first, final = ".bracket .pair > ol > li", ".bracket .last > ol > li"
    assert line(page, first) == ['""', "1px", "dashed"]
    assert line(page, final, "::before")[0] == '""'
    assert line(page, final)[0] == "none"

    play_out(cup)
    page.reload()
    assert line(page, f"{first}.path")[1:] == ["3px", "solid"]
    assert line(page, f"{final}.came", "::before")[1:] == ["3px", "solid"]
    boxes = [
        page.locator(selector).first.bounding_box()
        for selector in (f"{first} table", f"{final} table")
    ]
    assert boxes[0] is not None
    assert boxes[1] is not None
    assert boxes[1]["x"] >= boxes[0]["x"] + boxes[0]["width"]


def test_both_brackets_of_a_double_elimination_lead_to_the_final(page: Page) -> None:
    cup = play_out(begun({"format": "double_elimination"}, 4))
    page.goto(address(cup))
    centres = []
    for part in ("main .last", "final :first-child", "losers .last"):
        name, column = part.split()
        table = page.locator(f".part.{name} .bracket > {column} table")
        size = table.bounding_box()
        assert size is not None
        centres.append(size["y"] + size["height"] / 2)

    assert centres == sorted(centres)
    assert line(page, ".joined .main .last > ol > li")[0] == '""'
    assert line(page, ".joined .losers .last > ol > li")[0] == '""'
    assert line(page, ".joined .final .came", "::before")[1] == "3px"


@pytest.mark.parametrize("config", FORMATS, ids=lambda config: config["format"])
def test_no_state_of_a_tournament_violates_wcag_or_is_too_wide(
    chromium: Browser, live_server, config: dict[str, Any]
) -> None:
    """Entry, a round in play, and the end; light and dark, desktop and phone."""
    closes = timezone.now() + timedelta(hours=2)
    entry = tournament(config, slug="entry", closes_at=closes)
    cup = begun(config, 6)
    bot = cup.entrants.earliest("pk").bot
    bot.name = LONG_NAME[:64]
    bot.save()
    tick(slots=20)
    found: list[str] = []
    for stage in ("entry", "running", "finished"):
        if stage == "running":
            play_scheduled(worker())
            tick(slots=20)
        elif stage == "finished":
            play_out(cup)
        shown = entry if stage == "entry" else cup
        context = chromium.new_context(base_url=live_server.url)
        page = context.new_page()
        page.goto(address(shown))
        found += [f"{stage}: {fault}" for fault in violations_everywhere(page)]
        context.close()

    assert "\n".join(found) == ""
