"""Torres TV: which game it shows, and the page without scripts."""

import gzip
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.staticfiles import finders
from django.core.cache import cache
from django.test import Client
from django.utils import timezone
from django.utils.html import escape

from ladder.bots.models import Submission
from ladder.games.models import Game, GameStatus, Match, Seat
from ladder.web.pages import featured
from tests.factories import HOSTILE, Show, make_bot, make_match, rate
from tests.tournaments.factories import tournament
from tests.web.test_watching import begin, end

Visit = Callable[[str], Client]
MAX_BYTES = 120_000


def tv(visit: Visit, query: str = "") -> str:
    answer = visit("").get(f"/tv/{query}")
    assert answer.status_code == 200
    return answer.content.decode()


def rated(show: Show, name: str, mu: float) -> Submission:
    submission = make_bot(name, f"owner of {name}")
    rate(show.season, submission, mu, 1.0)
    return submission


def running(*sitting: Submission, kind: Match.Kind = Match.Kind.LADDER) -> Game:
    match = make_match(*sitting, finished=0)
    Match.objects.filter(pk=match.pk).update(kind=kind)
    return begin(match)[0]


def test_the_best_and_closest_running_game_is_shown(visit: Visit, show: Show) -> None:
    strong, close, weak = (rated(show, f"b{mu}", mu) for mu in (40, 36, 20))
    first = running(show.anas, weak)
    assert featured.running_game() == first.pk
    best = running(strong, close)
    running(strong, weak)

    # A better game that begins does not end the one that is shown.
    assert featured.running_game() == first.pk
    cache.clear()
    assert featured.running_game() == best.pk
    assert best not in featured.next_games(best.pk, 9)
    html = tv(visit)
    assert f'data-game="{best.pk}"' in html
    assert f'href="/games/{first.pk}/">Game {first.pk}</a>' in html


def test_a_game_of_a_tournament_comes_before_an_equal_one(show: Show) -> None:
    one, two = rated(show, "one", 30.0), rated(show, "two", 30.0)
    cup = running(one, two, kind=Match.Kind.TOURNAMENT)
    running(one, two)

    assert featured.running_game() == cup.pk


def test_a_game_that_is_hidden_is_shown_no_longer(visit: Visit, show: Show) -> None:
    game, _ = begin(show.waiting)
    assert f'data-game="{game.pk}"' in tv(visit)
    Match.objects.filter(pk=show.waiting.pk).update(embargo=True)

    html = tv(visit)
    assert f"/games/{game.pk}/" not in html
    assert f'data-game="{show.game.pk}"' in html


def test_without_a_running_game_it_is_the_best_one_of_the_day(
    visit: Visit, show: Show
) -> None:
    close = make_match(show.anas, show.bens).games.get()
    later = make_match(show.anas, show.bens).games.get()
    old = make_match(show.anas, show.bens).games.get()
    for game, scores in ((show.game, (9, 90)), (close, (60, 61)), (old, (60, 60))):
        for number, score in enumerate(scores):
            Seat.objects.filter(game=game, number=number).update(score=score)
    since = timezone.now() - timedelta(days=2)
    Game.objects.filter(pk=old.pk).update(finished_at=since)

    assert featured.game_of_the_day() == close.pk
    html = tv(visit)
    assert f'data-game="{close.pk}"' in html
    assert "The best game of the day" in html
    Game.objects.filter(pk=close.pk).update(status=GameStatus.VOIDED)
    assert featured.game_of_the_day() in {later.pk, show.game.pk}
    Game.objects.update(finished_at=since)
    cache.clear()
    assert featured.game_of_the_day() == old.pk  # the last one


def test_the_number_of_games_does_not_change_the_cost(
    show: Show, django_assert_max_num_queries: Any
) -> None:
    for _ in range(3):
        running(show.anas, show.bens)
        make_match(show.anas, show.bens)

    with django_assert_max_num_queries(12):
        featured.featured_game()
        featured.game_of_the_day()


def test_the_page_needs_no_script(visit: Visit, show: Show) -> None:
    begin(show.waiting)
    cup = tournament({"format": "swiss"})
    html = tv(visit)

    assert '<noscript><meta http-equiv="refresh" content="10"></noscript>' in html
    assert 'class="cell' in html
    assert html.count('class="to-act"') == 1
    assert " is to move.</p>" in html
    assert html.count('<svg class="bar seat') == 2
    assert f'href="/tournaments/{cup.slug}/"' in html
    assert "Best of the day" in html
    assert HOSTILE not in html
    assert html.count("<script") == html.count('<script type="module" src=')
    assert '<a href="/tv/"><strong>Watch' in visit("").get("/").content.decode()


def test_the_stage_has_only_the_game(visit: Visit, show: Show) -> None:
    begin(show.waiting)
    html = tv(visit, "?stage=1")

    assert visit("").get("/tv?stage=1")["Location"] == "/tv/?stage=1"
    assert '<section id="tv"' in html
    for chrome in ("<nav", "<footer", "<header", "For a beamer"):
        assert chrome not in html


def test_an_empty_service_has_a_page(visit: Visit) -> None:
    html = tv(visit)

    assert 'data-renew="10"' in html
    assert "web/renew.js" in html


def test_the_winner_is_named_at_the_end(visit: Visit, show: Show) -> None:
    game, claim = begin(show.waiting)
    end(claim, show.waiting)
    best = show.waiting.games.get().seats.order_by("rank")[0].submission.bot

    html = tv(visit)
    assert f"{escape(best.name)} wins." in html
    assert f'data-game="{game.pk}"' in html


@pytest.mark.slow
def test_the_page_and_its_files_weigh_little(visit: Visit, show: Show) -> None:
    begin(show.waiting)
    packed = visit("").get("/tv/", HTTP_ACCEPT_ENCODING="gzip")
    names = ("site.css", "icon.svg", "tv.css", "tv.js", "live-board.js")
    viewer = ("viewer.css", "stream.js", "board.js", "players.js", "words.js")
    names += tuple(f"viewer/{name}" for name in viewer)
    files = [Path(str(finders.find(f"web/{name}"))).read_bytes() for name in names]

    assert sum(map(len, [packed.content, *map(gzip.compress, files)])) <= MAX_BYTES
