"""Atom feeds of bots, ladders and tournaments, read with a parser of XML."""

from xml.etree import ElementTree as ET

import pytest
from django.core.cache import cache
from django.test import Client

from ladder.bots.models import Bot
from ladder.events import stream
from ladder.events.models import Fact
from ladder.ratings import seasons
from ladder.tournaments.models import Tournament
from tests import factories
from tests.tournaments.factories import begun, play_out, tournament

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("data_dir", "scripted_players"),
]
ATOM = "{http://www.w3.org/2005/Atom}"


def entries(path: str) -> list[tuple[str, str]]:
    """Return the titles and links of a feed."""
    answer = Client().get(path)
    assert answer.status_code == 200
    assert answer["Content-Type"].startswith("application/atom+xml")
    feed = ET.fromstring(answer.content)
    found = [
        (each.findtext(f"{ATOM}title", ""), each.find(f"{ATOM}link").attrib["href"])
        for each in feed.iter(f"{ATOM}entry")
    ]
    numbers = [each.findtext(f"{ATOM}id") for each in feed.iter(f"{ATOM}entry")]
    assert len(set(numbers)) == len(numbers)
    return found


def news() -> None:
    """Forget the news, which a service reads anew once a minute."""
    stream.number_new()
    cache.clear()


def test_a_bot_has_its_games_with_their_pages() -> None:
    show = factories.everything()
    game = show.game
    slug = show.anas.bot.slug
    news()
    (title, link), *_ = entries(f"/bots/{slug}/feed.atom")

    scores = {seat.score for seat in game.seats.all()}
    assert all(f"({score})" in title for score in scores)
    assert link == f"http://testserver/games/{game.pk}/"


def test_a_ladder_has_its_seasons() -> None:
    season = factories.make_ladder()
    seasons.freeze(season)
    news()

    assert entries("/ladders/main/feed.atom")[0] == (
        "Season 1 of the ladder main is frozen.",
        "http://testserver/ladders/main/",
    )


def test_a_tournament_has_its_rounds_and_holds_back_the_same() -> None:
    play_out(begun({"format": "round_robin"}, 2))
    # A fast machine writes several in the same millisecond.
    Fact.objects.update(created_at=Fact.objects.earliest("pk").created_at)
    news()
    titles = [title for title, _ in entries("/tournaments/cup/feed.atom")]

    assert titles[0] == "Cup is over."
    assert titles[-2:] == ["Cup has started.", "Cup: entry is open."]
    assert "Cup: round 1 is finished." in titles
    Fact.objects.filter(kind="tournament.finished").update(public=False)
    news()
    titles = [title for title, _ in entries("/tournaments/cup/feed.atom")]
    assert "Cup is over." not in titles


def test_a_damaged_event_is_left_out() -> None:
    season = factories.make_ladder()
    seasons.freeze(season)
    seasons.reopen(season)
    stream.number_new()
    Fact.objects.filter(kind="season.frozen").update(data={"ladder": "main"})
    news()

    titles = [title for title, _ in entries("/ladders/main/feed.atom")]
    assert "Season 1 of the ladder main goes on." in titles
    assert not any("frozen" in title for title in titles)


def test_names_cannot_break_a_feed() -> None:
    cup = tournament({"format": "swiss"})
    Tournament.objects.filter(pk=cup.pk).update(name="<b>&\x08\x1b[31m]]>")
    news()

    assert entries("/tournaments/cup/feed.atom")


def test_what_has_no_page_has_no_feed() -> None:
    show = factories.everything()
    slug = show.anas.bot.slug
    cup = tournament({"format": "swiss"})
    Bot.objects.filter(slug=slug).update(status="banned")
    Tournament.objects.filter(pk=cup.pk).update(status="draft")
    for path in (f"/bots/{slug}", "/bots/nobody", "/tournaments/cup", "/ladders/none"):
        assert Client().get(f"{path}/feed.atom").status_code == 404


def test_pages_name_their_feeds() -> None:
    show = factories.everything()
    begun({"format": "swiss"}, 2)
    for path in (f"/bots/{show.anas.bot.slug}/", "/ladders/main/", "/tournaments/cup/"):
        assert 'type="application/atom+xml"' in Client().get(path).content.decode()
        assert f'href="{path}feed.atom"' in Client().get(path).content.decode()
