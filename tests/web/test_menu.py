"""The main menu, and how pages write times, numbers and editions."""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from http import HTTPStatus

import pytest
from django.test import Client
from playwright.sync_api import BrowserContext, expect

from ladder.games.models import Game
from ladder.web.pages import best_games
from ladder.web.templatetags.formatting import day, decimals, edition, moment, short
from ladder.web.templatetags.menu import SECTIONS
from tests.factories import Show

Visit = Callable[[str], Client]
CURRENT = re.compile(r'<a href="([^"]+)" aria-current="(\w+)">')


def current(visit: Visit, address: str) -> list[tuple[str, str]]:
    """Return the marked links of a page, with the value of aria-current."""
    answer = visit("").get(address)
    assert answer.status_code == 200, address
    return CURRENT.findall(answer.content.decode().partition("<main")[0])


def test_the_menu_marks_the_section_and_the_page(visit: Visit, show: Show) -> None:
    assert current(visit, "/") == []
    assert current(visit, "/games/") == [("/tv/", "true"), ("/games/", "page")]
    assert current(visit, f"/games/{show.game.pk}/") == [("/tv/", "true")]
    assert current(visit, "/tv/") == [("/tv/", "page"), ("/tv/", "page")]
    assert current(visit, "/ladders/main/") == [("/leaderboard/", "true")]
    assert current(visit, "/docs/search/") == [("/write/", "true")]
    # The rules belong to those who play, although they are a document.
    assert current(visit, "/docs/rules/") == [
        ("/play/", "true"),
        ("/docs/rules/", "page"),
    ]


def test_a_section_with_one_page_has_no_second_row(visit: Visit, show: Show) -> None:
    page = visit("").get("/tournaments/").content.decode()

    assert current(visit, "/tournaments/") == [("/tournaments/", "page")]
    assert 'class="section"' not in page


def test_all_pages_of_the_menu_exist(visit: Visit, show: Show) -> None:
    home = visit("").get("/").content.decode()
    heads = re.findall(r'<a href="([^"]+)">(\w+)</a>', home.partition("<main")[0])
    assert [label for _, label in heads[:5]] == [each.label for each in SECTIONS]
    for address, _ in heads[:5]:
        page = visit("").get(address, follow=True).content.decode()
        row = page.partition('class="section"')[2].partition("</nav>")[0]
        for entry in re.findall(r'href="([^"]+)"', row):
            assert visit("").get(entry, follow=True).status_code == 200, entry


def test_the_leaderboard_is_that_of_the_default_ladder(
    visit: Visit, show: Show
) -> None:
    assert visit("").get("/leaderboard/").url == "/ladders/main/"


def test_without_a_ladder_the_leaderboard_is_the_list(visit: Visit) -> None:
    assert visit("").get("/leaderboard/").url == "/ladders/"


def test_times_numbers_and_editions_are_written_for_people() -> None:
    at = datetime(2026, 11, 27, 18, 30, 5, 7, tzinfo=UTC)
    elsewhere = at.astimezone(timezone(timedelta(hours=2)))

    assert moment(at).endswith(">2026-11-27 18:30 UTC</time>")
    assert moment(elsewhere).endswith(">2026-11-27 18:30 UTC</time>")
    assert moment(at, "seconds").endswith(">2026-11-27 18:30:05 UTC</time>")
    assert day(elsewhere).endswith(">2026-11-27</time>")
    assert (moment(None), day(None)) == ("", "")
    assert (decimals(-0.73, 2), short(-3.0, 1)) == ("−0.73", "−3")
    assert edition("rio-grande-1999-master") == "Rio Grande 1999, master version"
    assert edition("of-tomorrow") == "of-tomorrow"


def test_the_best_games_say_margin_and_surprises(visit: Visit, show: Show) -> None:
    [best] = best_games.best_games({show.game.pk: 2.0})
    page = visit("").get("/games/").content.decode()

    first, second = sorted((seat.score for seat in show.game.seats.all()), reverse=True)
    assert f"won by {first - second} point" in best.result
    assert "upset" in best.tags
    assert f'src="/games/{show.game.pk}/card.png"' in page
    assert "Best of the day" in page
    assert "Best of the day" not in visit("").get("/games/?before=99").content.decode()


def test_a_damaged_replay_stops_no_page(visit: Visit, show: Show) -> None:
    Game.objects.filter(pk=show.game.pk).update(replay=b"damaged")
    page = f"/games/{show.game.pk}/"

    assert "Best of the day" in visit("").get("/games/").content.decode()
    assert "is damaged" in visit("").get(page).content.decode()
    assert visit("").get(f"{page}card.png").status_code == HTTPStatus.NOT_FOUND
    answer = visit("").get(f"/api/v1{page}replay/")
    assert answer.status_code == HTTPStatus.NOT_FOUND
    assert answer.json()["type"].endswith("no-replay")


def test_the_lead_changes_when_another_seat_leads_after_a_phase(monkeypatch) -> None:
    replay = (
        '{"scoring": [{"scores": [5, 3]}, {"scores": [9, 9]}, {"scores": [9, 20]}]}'
    )
    monkeypatch.setattr(best_games.games, "replay", lambda _: replay)

    assert best_games._read_changes(None) == 2


@pytest.mark.slow
@pytest.mark.browser
def test_times_are_shown_in_the_time_zone_of_the_reader(
    chromium, live_server, show: Show
) -> None:
    context: BrowserContext = chromium.new_context(
        locale="en-GB", timezone_id="Asia/Tokyo", base_url=live_server.url
    )
    page = context.new_page()
    page.goto("/games/")
    time = page.locator("table time").last
    title = time.get_attribute("title")

    assert title is not None
    at = datetime.fromisoformat(title.removesuffix(" UTC")).replace(tzinfo=UTC)
    shown = at.astimezone(timezone(timedelta(hours=9)))
    expect(time).to_have_text(re.compile(f"{shown.day} .*{shown:%H:%M}"))
    page.goto("/bots/")
    shown_day = re.compile(r"^\d+ [A-Z][a-z]+$")
    expect(page.locator("table time").first).to_have_text(shown_day)
    context.close()
