"""The page of a tournament before, during and after it."""

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from ladder.games.models import Game
from ladder.games.worker.play import play
from ladder.tournaments import services, visibility
from ladder.tournaments.models import Tournament
from ladder.web.pages import tournament_pages
from ladder.web.pages.tournament_steps import in_words
from tests.tournaments.factories import begun, play_out, tick, tournament, worker
from tests.web.test_watching import begin

pytestmark = pytest.mark.django_db(transaction=True)
Visit = Callable[[str], Client]


@pytest.fixture(autouse=True)
def _scripted(scripted_players: None) -> None:
    """Play games without processes."""


def page(visit: Visit, cup: Tournament) -> str:
    answer = visit("").get(f"/tournaments/{cup.slug}/")
    assert answer.status_code == 200
    return answer.content.decode()


def text(html: str) -> str:
    """Return the words of a page without its markup."""
    return " ".join(re.sub(r"<[^>]+>", "", html).replace("\xa0", " ").split())


# Before the start.


def test_the_closing_of_entry_and_the_start_are_counted_down(visit: Visit) -> None:
    now = timezone.now()
    closes, starts = now + timedelta(hours=2, minutes=5.5), now + timedelta(days=1.1)
    cup = tournament({"format": "swiss"}, closes_at=closes, starts_at=starts)
    html = page(visit, cup)

    assert "Entry closes in 2 hours, 5 minutes, on" in text(html)
    assert f"{closes:%Y-%m-%d %H:%M} UTC" in text(html)
    assert "The tournament starts in 1 day, 2 hours, on" in text(html)
    assert re.findall(r'role="timer" data-until="([^"]+)"', html) == [
        each.isoformat() for each in (closes, starts)
    ]
    assert "web/countdown.js" in html
    assert 'data-renew="30"' in html


def test_without_a_closing_time_entry_closes_at_the_start(visit: Visit) -> None:
    starts = timezone.now() + timedelta(minutes=30.5)
    cup = tournament({"format": "swiss"}, starts_at=starts)

    words = text(page(visit, cup))
    assert "Entry closes and the tournament starts in 30 minutes" in words


def test_after_entry_the_start_is_counted_down(visit: Visit) -> None:
    starts = timezone.now() + timedelta(hours=1.01)
    terms: dict[str, Any] = {"starts_at": starts, "must_check_in": True}
    cup = tournament({"format": "swiss"}, **terms)
    services.close_entry(cup)

    words = text(page(visit, cup))
    assert "Check-in ends and the tournament starts in 1 hour, on" in words


def test_a_step_without_a_time_is_up_to_the_organiser(visit: Visit) -> None:
    cup = tournament({"format": "swiss"})
    html = page(visit, cup)
    assert "The organiser closes entry; no time is set." in html
    assert "countdown.js" not in html
    services.close_entry(cup)

    assert "The organiser starts the tournament; no time is set." in page(visit, cup)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(-5, "now"), (0, "now"), (30, "in less than a minute"), (90, "in 1 minute")],
)
def test_short_times_have_words(seconds: int, words: str) -> None:
    at = timezone.now() + timedelta(seconds=seconds + 0.5 * (seconds > 0))

    assert in_words(at).replace("\xa0", " ") == words


# While it runs.


def test_the_decided_matches_of_the_round_are_counted(visit: Visit) -> None:
    cup = begun({"format": "swiss", "rounds": 2, "duplicate": False}, 4)
    tick(slots=8)
    words = text(page(visit, cup))
    assert "Round 1 of 2: 0 of 2 matches are decided." in words
    assert "Round 2 is paired when all of them are decided." in words

    fixture = cup.fixtures.earliest("table")
    finish(fixture.match_id)
    tick(slots=8)
    assert "Round 1 of 2: 1 of 2 matches are decided." in text(page(visit, cup))


def finish(match: int | None) -> None:
    """Play the games of one match."""
    for game in Game.objects.filter(match=match):
        play(game.pk, worker())


@pytest.mark.parametrize(
    ("config", "title", "follows"),
    [
        ({"format": "round_robin"}, "All rounds: 0 of 6", "in any order"),
        ({"format": "single_elimination"}, "Round 1: 0 of 2", "A contest begins"),
        ({"format": "groups"}, "Round 1: 0 of 2", "The final begins when"),
    ],
)
def test_each_format_says_what_follows(
    visit: Visit, config: dict[str, Any], title: str, follows: str
) -> None:
    cup = begun(config, 4)
    tick(slots=8)
    words = text(page(visit, cup))

    assert f"{title} matches are decided." in words
    assert follows in words


def test_a_running_game_is_linked_and_can_be_watched(visit: Visit) -> None:
    cup = begun({"format": "round_robin", "duplicate": False}, 4)
    tick(slots=8)
    fixture = cup.fixtures.filter(round=1).earliest("table")
    assert fixture.match is not None
    assert "Playing now" not in page(visit, cup)
    game, _ = begin(fixture.match, moves=2)
    html = page(visit, cup)

    assert f'<a href="/games/{game.pk}/">Watch game {game.pk}</a>' in html
    assert f'Watch<span class="hidden"> game {game.pk}</span>' in html
    assert html.count('class="tag running">running') == 3  # the tournament's own, too
    assert 'data-renew="10"' in html
    assert "the same decks" not in html


def test_a_running_game_of_a_duplicate_match_says_that_it_is_secret(visit) -> None:
    cup = begun({"format": "round_robin"}, 2)
    tick(slots=8)
    fixture = cup.fixtures.get()
    assert fixture.match is not None
    game, _ = begin(fixture.match, moves=2)
    html = page(visit, cup)

    assert f'<a href="/games/{game.pk}/">Game {game.pk}</a>' in html
    assert "have the same decks" in html
    assert "Watch game" not in html


def test_many_running_games_are_cut(visit: Visit, monkeypatch) -> None:
    monkeypatch.setattr(tournament_pages, "MAX_RUNNING", 1)
    cup = begun({"format": "round_robin", "duplicate": False}, 4)
    tick(slots=8)
    matches = [f.match for f in cup.fixtures.filter(match__isnull=False)[:2]]
    for match in matches:
        assert match is not None
        begin(match, moves=1)

    html = page(visit, cup)
    assert html.count("Watch game") == 1
    assert "More games run; the list has the latest 1." in html


def test_nothing_of_a_running_round_that_is_held_back_is_shown(visit: Visit) -> None:
    terms = {"format": "single_elimination", "duplicate": False}
    cup = begun(terms, 4, held_back=True)
    tick(slots=8)
    before = page(visit, cup)
    fixture = cup.fixtures.earliest("table")
    assert fixture.match is not None
    begin(fixture.match, moves=2)

    assert page(visit, cup) == before
    assert "matches are decided" not in before


# At the end.


def places(html: str) -> list[tuple[list[str], str]]:
    """Return the names and the title of each place on the podium."""
    rows = re.findall(r'<li class="place\d">(.*?)</li>', html, re.DOTALL)
    return [
        (re.findall(r"<bdi>(.*?)</bdi>", row), re.findall(r"</span>(\D+)</p>$", row)[0])
        for row in rows
    ]


def test_the_podium_shows_shared_places(visit: Visit) -> None:
    cup = begun({"format": "single_elimination"}, 4)
    assert "Podium" not in page(visit, cup)
    play_out(cup)
    names = [line.name for line in visibility.overview(cup).lines]

    assert places(page(visit, cup)) == [
        (names[:1], "First"),
        (names[1:2], "Second"),
        (names[2:], "Third, shared"),
    ]


def test_two_winners_leave_no_second_place(visit: Visit, monkeypatch) -> None:
    cup = play_out(begun({"format": "round_robin"}, 3))
    overview = visibility.overview

    def shared(cup: Tournament) -> visibility.Overview:
        shown = overview(cup)
        first = [replace(line, rank=1) for line in shown.lines[:2]]
        return replace(shown, lines=[*first, shown.lines[2]])

    monkeypatch.setattr(visibility, "overview", shared)
    titles = [title for _, title in places(page(visit, cup))]

    assert titles == ["First, shared", "Third"]


def test_a_podium_is_not_crowded(visit: Visit, monkeypatch) -> None:
    monkeypatch.setattr(tournament_pages, "MAX_SHARING", 1)
    cup = play_out(begun({"format": "single_elimination"}, 4))

    assert "and 1 more" in page(visit, cup)


def test_the_podium_waits_until_everything_is_revealed(visit: Visit) -> None:
    cup = play_out(begun({"format": "single_elimination"}, 4, held_back=True))
    assert cup.status == "finished"
    for _ in range(2):
        assert "Podium" not in page(visit, cup)
        services.reveal_next(cup)

    assert "Podium" in page(visit, cup)
    assert "The thick line is the way of the winner." in page(visit, cup)


def test_a_cancelled_tournament_has_no_podium(visit: Visit) -> None:
    cup = begun({"format": "round_robin"}, 3)
    services.cancel(cup)
    html = page(visit, cup)

    assert "Podium" not in html
    assert "data-renew" not in html


def test_a_page_that_has_not_changed_is_not_sent_again(visit: Visit) -> None:
    cup = play_out(begun({"format": "round_robin"}, 3))
    browser = visit("")
    first = browser.get(f"/tournaments/{cup.slug}/")
    known = {"HTTP_IF_NONE_MATCH": first["ETag"]}

    assert browser.get(f"/tournaments/{cup.slug}/", **known).status_code == 304


def test_all_rows_of_the_standings_have_as_many_cells(visit: Visit) -> None:
    """Finalists have no tie-breaks; their rows had too few cells."""
    cup = play_out(begun({"format": "groups", "groups": 2, "advance": 1}, 6))
    html = page(visit, cup).split("<h2>Standings</h2>")[1].split("</table>")[0]
    rows = [len(re.findall(r"<t[dh]\b", row)) for row in html.split("<tr>")[1:]]

    assert len(rows) == 7
    assert len(set(rows)) == 1


def test_a_hostile_name_is_text_on_the_podium_and_in_the_tables(visit: Visit) -> None:
    cup = begun({"format": "round_robin"}, 2)
    bot = cup.entrants.earliest("pk").bot
    bot.name = "<script>alert(1)</script>"
    bot.save()
    play_out(cup)

    html = page(visit, cup)
    assert "<script>alert" not in html
    assert html.count("&lt;script&gt;alert(1)") >= 4
