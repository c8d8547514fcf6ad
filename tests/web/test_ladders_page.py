"""The list of ladders, and what the home page shows beside the leaderboard."""

from collections.abc import Callable

import pytest
from django.core.cache import cache
from django.test import Client
from django.utils import timezone

from ladder.bots.models import Bot
from ladder.games import visibility as games
from ladder.games.models import Game, Match, Seat, Worker
from ladder.ratings.models import Entry, Ladder
from ladder.tournaments.models import Tournament
from ladder.web.pages import ladder_pages
from tests.factories import HOSTILE, Show, fold, make_ladder, make_match, pair
from tests.web.test_ladder_pages import text
from torres.rating import upsets

Visit = Callable[[str], Client]


def test_each_ladder_says_its_rules_in_words(visit: Visit, show: Show) -> None:
    blitz = make_ladder("blitz").ladder
    Ladder.objects.filter(pk=blitz.pk).update(
        name=HOSTILE,
        switches={"max_blocks_per_turn": 4, "unknown": 1},
        tables={"2": 1, "4": 3},
        admission="operators",
    )
    page = text(visit(""), "/ladders/")

    assert HOSTILE not in page
    assert "<strong>2</strong> bots play in season 1, open" in page
    assert "The second edition as Yucata plays it" in page
    assert "2 seats 25 %, 4 seats 75 %" in page
    assert "1 s for each turn, and a bank of 10 s for the whole game" in page
    assert "operators admit bots" in page
    assert ": 4</span>" in page
    assert "Yucata (<code>yucata</code>)" in page


def test_withdrawn_bots_do_not_count_as_playing(visit: Visit, show: Show) -> None:
    Bot.objects.filter(pk=show.anas.bot.pk).update(status="withdrawn")

    assert "<strong>1</strong> bot plays" in text(visit(""), "/ladders/")


def test_a_ladder_that_cannot_be_played_is_listed(visit: Visit, show: Show) -> None:
    Ladder.objects.update(
        ruleset="none", switches=[1], tables={"2": "x"}, limits={"pids": "x"}
    )

    page = text(visit(""), "/ladders/")
    assert "Main ladder" in page
    assert "MiB" not in page


def test_the_languages_are_those_of_live_workers(visit: Visit, show: Show) -> None:
    Worker.objects.update(drained=True)
    assert "No worker is running now" in text(visit(""), "/ladders/")
    Worker.objects.create(
        name="w:9:9#1",
        host="w",
        languages=["rust"],
        sandbox="full",
        versions={"language:rust": "rustc 1.80"},
    )

    page = text(visit(""), "/ladders/")

    assert "<strong>rust</strong>" in page
    assert "rustc 1.80" in page
    assert "No worker offers python" in page


@pytest.fixture
def upset(show: Show) -> Game:
    """A game that the bot with the lower rating won."""
    match = make_match(show.anas, show.bens)
    pair(show.season, match)
    game = match.games.get()
    winner = game.seats.get(rank=1).bot
    loser = game.seats.get(rank=2).bot
    entry = fold(show.season, game, {winner: (20.0, 1.0), loser: (30.0, 1.0)})
    before = {winner.pk: [18.0, 1.0], loser.pk: [31.5, 1.0]}
    for change in entry.changes:
        change["before"] = before[change["bot"]]
    Entry.objects.filter(pk=entry.pk).update(changes=entry.changes)
    return game


def shown_upsets(show: Show) -> list[Game]:
    leads = ladder_pages.upset_leads(show.season)
    shown = games.games().in_bulk(leads)
    return [upset.game for upset in ladder_pages.latest_upsets(leads, shown)]


def test_the_home_page_shows_the_latest_upsets(visit: Visit, upset: Game) -> None:
    page = text(visit(""), "/")

    assert "Latest upsets" in page
    assert f'href="/games/{upset.pk}/">Game {upset.pk}</a>:' in page
    assert "rated 13.5 lower" in page
    assert HOSTILE not in page


@pytest.mark.parametrize("change", ["voided", "embargo", "newcomer", "tie", "close"])
def test_a_game_that_does_not_surprise_is_no_upset(
    visit: Visit, show: Show, upset: Game, change: str
) -> None:
    if change == "voided":
        Game.objects.filter(pk=upset.pk).update(status="voided")
    elif change == "embargo":
        Match.objects.filter(pk=upset.match_id).update(embargo=True)
    entry = Entry.objects.get(game=upset)
    if change == "newcomer":
        for each in entry.changes:
            each["before"][1] = upsets.MAX_UPSET_SIGMA + 0.1
    elif change == "close":
        lower = min(entry.changes, key=lambda each: each["before"][0])
        lower["before"][0] = 31.5 - upsets.MIN_UPSET + 0.1
    elif change == "tie":
        entry.inputs["seats"] = [{**seat, "rank": 1} for seat in entry.inputs["seats"]]
    Entry.objects.filter(pk=entry.pk).update(changes=entry.changes, inputs=entry.inputs)

    assert shown_upsets(show) == []


def test_only_the_latest_games_and_few_upsets_are_read(
    show: Show, upset: Game, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert shown_upsets(show) == [upset]
    cache.clear()
    later = make_match(show.anas, show.bens)
    pair(show.season, later)
    fold(show.season, later.games.get(), {show.anas.bot: (31.0, 1.0)})
    monkeypatch.setattr(ladder_pages, "UPSET_ENTRIES", 1)

    assert shown_upsets(show) == []
    assert Seat.objects.filter(game=upset).exists()


def test_the_home_page_lists_tournaments_that_are_going(
    visit: Visit, show: Show
) -> None:
    for number, status in enumerate(["running", "entry", "finished", "draft"]):
        Tournament.objects.create(
            slug=f"cup-{number}",
            name=f"Cup {status}",
            status=status,
            started_at=timezone.now(),
            config={},
        )
    page = text(visit(""), "/")

    assert "Tournaments now" in page
    assert "Cup running" in page
    assert "Cup entry" in page
    assert "Cup finished" not in page
    assert "Cup draft" not in page
