"""The board of the home page, and the weight of the page."""

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest
from django.contrib.staticfiles import finders
from django.test import Client

from ladder.games import attempts
from ladder.games.models import Match
from ladder.tournaments import services
from tests.factories import Show, make_bot, make_match, rate
from tests.tournaments.factories import tournament
from tests.web.test_watching import begin, end

Visit = Callable[[str], Client]
MAX_PAGE_BYTES = 50_000


def home(visit: Visit) -> str:
    answer = visit("").get("/")
    assert answer.status_code == 200
    return answer.content.decode()


def test_a_running_game_is_on_the_home_page(visit: Visit, show: Show) -> None:
    game, claim = begin(show.waiting)
    html = home(visit)

    assert f'data-game="{game.pk}" data-stream="/live/stream/"' in html
    assert f'src="/games/{game.pk}/board.svg"' in html
    assert f'<a class="watch" href="/games/{game.pk}/">Watch game {game.pk}</a>' in html
    assert "web/live-board.js" in html
    picture = visit("").get(f"/games/{game.pk}/board.svg")
    assert picture["Cache-Control"] == "public, max-age=0, s-maxage=1"
    end(claim, show.waiting)
    html = home(visit)
    assert "data-stream" not in html
    assert f'src="/games/{game.pk}/board.svg"' in html


def test_without_a_running_game_it_is_the_last_one(visit: Visit, show: Show) -> None:
    html = home(visit)

    assert f'src="/games/{show.game.pk}/board.svg"' in html
    assert "The last position of game" in html
    assert "live-board.js" not in html
    assert "viewer.css" not in html


def test_a_game_that_must_stay_secret_is_not_featured(visit: Visit, show: Show) -> None:
    both = make_match(show.anas, show.bens, games=2, finished=0)
    begin(both)
    assert "data-stream" not in home(visit)
    begin(show.waiting)
    Match.objects.filter(pk=show.waiting.pk).update(embargo=True)
    assert "data-stream" not in home(visit)
    third = make_match(show.anas, show.bens, finished=0)
    begin(third)
    Match.objects.filter(pk=third.pk).update(kind=Match.Kind.COMPARISON)

    assert f'src="/games/{show.game.pk}/board.svg"' in home(visit)


def test_a_picture_that_is_still_secret_is_not_shown(visit: Visit, show: Show) -> None:
    """One of two games with the same decks is finished, and the other one is open."""
    make_match(show.anas, show.bens, games=2, finished=1)

    html = home(visit)
    assert f'src="/games/{show.game.pk}/board.svg"' in html
    assert visit("").get(f"/games/{show.game.pk}/board.svg").status_code == 200


def test_a_running_game_is_followed_from_attempt_to_attempt(
    visit: Visit, show: Show
) -> None:
    game, claim = begin(show.waiting)
    attempts.fail(claim, "the worker died")
    assert "data-stream" not in home(visit)
    begin(show.waiting, moves=1)

    assert f'data-game="{game.pk}" data-stream="/live/stream/"' in home(visit)


def test_tournaments_that_can_be_entered_are_listed(visit: Visit, show: Show) -> None:
    cup = tournament({"format": "swiss"})
    assert f'<a href="/tournaments/{cup.slug}/"><bdi>Cup</bdi></a>' in home(visit)
    services.cancel(cup)

    assert "Tournaments now" not in home(visit)


@pytest.mark.slow
def test_the_home_page_weighs_little_and_needs_no_script(
    visit: Visit, show: Show
) -> None:
    """The page, its style sheet and pictures, without the modules of the board."""
    for number in range(60):
        rate(show.season, make_bot(f"bot {number}", f"owner {number}"), 20.0, 1.0)
    game, _ = begin(show.waiting)
    packed = visit("").get("/", HTTP_ACCEPT_ENCODING="gzip")
    picture = visit("").get(f"/games/{game.pk}/board.svg", HTTP_ACCEPT_ENCODING="gzip")
    files = [finders.find(f"web/{name}") for name in ("site.css", "icon.svg")]
    sheets = [gzip.compress(Path(str(file)).read_bytes()) for file in files]

    assert packed["Content-Encoding"] == "gzip"
    weight = sum(map(len, [packed.content, picture.content, *sheets]))
    assert weight <= MAX_PAGE_BYTES
    html = gzip.decompress(packed.content).decode()
    assert html.count("<script") == html.count('<script type="module"')


@pytest.mark.parametrize("who", ["", "ana"])
def test_a_hostile_name_is_text_beside_the_board(
    visit: Visit, show: Show, who: str
) -> None:
    begin(show.waiting)

    html = visit(who).get("/").content.decode()
    assert "<script>alert" not in html
    assert "<bdi>&lt;script&gt;alert(1)&lt;/script&gt;</bdi>" in html
