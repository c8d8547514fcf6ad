"""The pages of a ladder: bands, trends, comparisons and challenges."""

import re

import pytest
from django.core.cache import cache
from django.utils import timezone

from ladder.bots.models import Bot
from ladder.games.models import Match
from ladder.ratings import challenges, leaderboard, statistics
from ladder.ratings.models import Challenge, Rating, Season
from ladder.web.pages import boards
from tests.factories import (
    HOSTILE,
    Show,
    fold,
    make_bot,
    make_match,
    opine,
    pair,
    rate,
    upload,
)

CHALLENGE = "/ladders/main/challenge/"


def text(client, address: str, status: int = 200) -> str:
    page = client.get(address)
    assert page.status_code == status
    return page.content.decode()


@pytest.fixture
def many(show: Show) -> Show:
    """Seven bots. The order of ranks 1 to 2 and of ranks 4 to 7 is not certain."""
    for name, mu in (("p3", 20.0), ("p4", 10.0), ("p5", 9.9), ("p6", 9.8), ("p7", 9.7)):
        rate(show.season, make_bot(name, name), mu, 1.0)
    ranges = dict.fromkeys((show.anas.bot.slug, show.bens.bot.slug), (1, 2))
    ranges |= {"p3": (3, 3), **dict.fromkeys(("p4", "p5", "p6", "p7"), (4, 7))}
    opine(show.season, ranges)
    return show


def test_the_leaderboard_groups_ranks_whose_order_is_not_certain(
    visit, many: Show
) -> None:
    page = text(visit(""), "/ladders/main/")

    bands = re.findall(r"Ranks (\d+) to (\d+): order not certain", page)
    assert bands == [("1", "2"), ("4", "7")]
    assert page.count("<tbody") == 3
    assert 'scope="rowgroup"' in page


def test_a_band_is_shown_on_each_of_its_pages(visit, many: Show, monkeypatch) -> None:
    monkeypatch.setattr("ladder.web.pages.boards.ROWS", 5)

    assert "Ranks 4 to 7" in text(visit(""), "/ladders/main/")
    second = text(visit(""), "/ladders/main/?page=2")
    assert "Ranks 4 to 7" in second
    assert "Ranks 1 to 2" not in second


def test_an_archived_season_can_still_be_opened(visit, show: Show) -> None:
    show.season.status = Season.Status.ARCHIVED
    show.season.save()
    ladder = show.season.ladder
    ladder.seasons.create(
        number=2, status=Season.Status.OPEN, parameters=show.season.parameters
    )
    now, then = (
        text(visit(""), f"/ladders/main/{which}") for which in ("", "?season=1")
    )

    assert "season 2, open" in now
    assert 'href="?season=1"' in now
    assert "No bot is rated here yet" in now
    assert "season 1, archived" in then
    assert show.anas.bot.name in then
    text(visit(""), "/ladders/main/?season=3", 404)


def test_a_leaderboard_shows_trends(visit, show: Show) -> None:
    Rating.objects.filter(bot=show.anas.bot).update(fresh=20)
    page = text(visit(""), "/ladders/main/?figures=all")

    # Both bots had 25 - 24 before the game: see tests/factories.py.
    assert "▲</span> +26.00" in page
    assert "▲</span> +22.00" in page
    assert page.count(">settling<") == 1
    assert page.count("too few games") == 2
    opine(show.season, {show.anas.bot.slug: (1, 2)})
    cache.clear()
    page = text(visit(""), "/ladders/main/")
    assert page.count("too few games") == 1
    assert "+9.00" in page
    assert "6.8 to 11.2" in page
    for figure in ("▲</span>", ">1 to 2<", "TrueSkill μ"):
        assert figure not in page
        assert figure in text(visit(""), "/ladders/main/?figures=all")


def test_a_trend_covers_only_the_last_games(show: Show, monkeypatch) -> None:
    rating = Rating.objects.get(bot=show.anas.bot)
    monkeypatch.setattr(statistics, "TREND_GAMES", 1)
    match = make_match(show.anas, show.bens)
    pair(show.season, match)
    fold(show.season, match.games.get(), {show.anas.bot: (31.0, 1.0)})

    # The game before this one led to 30.5 - 3 * 1.0.
    assert statistics.trend(show.season, rating) == pytest.approx(27.0 - 27.5)


def test_a_leaderboard_is_cached_for_a_moment(visit, show: Show, monkeypatch) -> None:
    # On a busy machine the moment would be over too soon.
    monkeypatch.setattr(boards, "LEADERBOARD_TTL_S", 60)
    browser = visit("")
    first = browser.get("/ladders/main/")
    rate(show.season, make_bot("newcomer"), 50.0, 1.0)

    assert browser.get("/ladders/main/").content == first.content
    known = {"HTTP_IF_NONE_MATCH": first["ETag"]}
    assert browser.get("/ladders/main/", **known).status_code == 304
    cache.clear()
    assert b"/bots/newcomer/" in browser.get("/ladders/main/", **known).content


def test_a_bot_page_shows_the_statistics_of_the_season(visit, show: Show) -> None:
    page = text(visit(""), f"/bots/{show.anas.bot.slug}/")

    assert "Strength by seat" in page
    rating = Rating.objects.select_related("bot").get(bot=show.anas.bot)
    cell = statistics.strength(show.season, rating.bot)[0]
    assert f"{100 * cell.share:.0f}\xa0% <span" in page
    assert f"/ladders/main/compare/?bot=grendel&amp;other={show.bens.bot.slug}" in page
    assert "Possible ranks" not in page
    opine(show.season, {show.anas.bot.slug: (1, 2)})
    page = text(visit(""), f"/bots/{show.anas.bot.slug}/")
    assert "(6.8 to 11.2)" in page
    assert "<dt>Possible ranks</dt><dd>1 to 2</dd>" in page
    assert HOSTILE not in page


def test_two_bots_are_compared(visit, show: Show) -> None:
    slugs = (show.anas.bot.slug, show.bens.bot.slug)
    page = text(visit(""), "/ladders/main/compare/?bot={}&other={}".format(*slugs))
    back = text(visit(""), "/ladders/main/compare/?other={}&bot={}".format(*slugs))

    assert "that Grendel is the better bot is <strong>67\xa0%</strong>" in page
    assert "is the better bot is <strong>33\xa0%</strong>" in back
    assert "order is not certain yet" in page
    opine(show.season, {slugs[0]: (1, 1), slugs[1]: (2, 2)})
    certain = text(visit(""), "/ladders/main/compare/?bot={}&other={}".format(*slugs))
    assert "order is certain enough" in certain
    assert "In 1 rated game together" in page
    assert "+1.00" in page
    assert "−1.00" in back


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("bot=grendel&other=nobody", "There is no bot “nobody”."),
        ("bot=grendel&other=unrated", "Not rated here in this season: unrated"),
        ("bot=grendel&other=grendel", "Choose two different bots"),
        ("bot=%00&other=%3Cb%3E", "There is no bot “&lt;b&gt;”."),
        ("bot=a%00b&other=grendel", "There is no bot “ab”."),
    ],
)
def test_an_unknown_bot_cannot_be_compared(
    visit, show: Show, query: str, message: str
) -> None:
    make_bot("unrated")

    assert message in text(visit(""), f"/ladders/main/compare/?{query}", 404)


def test_ana_challenges_ben_from_the_second_seat(visit, show: Show) -> None:
    browser = visit("ana")
    page = text(browser, f"{CHALLENGE}?one={show.bens.bot.slug}")
    assert f'value="{show.bens.bot.slug}"' in page
    assert "20 of 20" in page

    fields = {"bot": "grendel", "one": show.bens.bot.slug, "seat": "1"}
    response = browser.post(CHALLENGE, fields)

    match = Match.objects.get(kind="challenge")
    assert response["Location"] == f"/matches/{match.pk}/"
    seats = match.games.get().seats.order_by("number")
    assert [seat.submission for seat in seats] == [show.bens, show.anas]
    page = text(browser, response["Location"])
    assert "Your challenge is scheduled" in page
    assert "ana asked for this match" in page
    assert "It is not rated" in page
    assert "19 of 20" in text(browser, CHALLENGE)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"one": "nobody"}, "no bot"),
        ({"one": "grendel"}, "itself"),
        ({"one": "p3", "two": "p4"}, "is played by 2"),
        ({"one": ""}, "This field is required"),
        ({"one": "<b>"}, "There is no bot “&lt;b&gt;”."),
        ({"one": "p3", "bot": "p4"}, "Select a valid choice"),
    ],
)
def test_an_invalid_challenge_shows_the_reason_and_keeps_the_form(
    visit, many: Show, fields: dict[str, str], message: str
) -> None:
    many.season.ladder.tables = {"2": 1.0, "4": 0.0}
    many.season.ladder.save()
    filled = {"bot": "grendel", "seat": "0"} | fields

    page = visit("ana").post(CHALLENGE, filled)

    assert page.status_code == 422
    assert message in page.content.decode()
    assert not Challenge.objects.exists()


def test_a_used_up_quota_is_shown_and_enforced(visit, show: Show, monkeypatch) -> None:
    monkeypatch.setattr(challenges, "MAX_CHALLENGES", 0)
    browser = visit("ana")

    assert "Come back later" in text(browser, CHALLENGE)
    fields = {"bot": "grendel", "one": show.bens.bot.slug, "seat": "0"}
    assert browser.post(CHALLENGE, fields).status_code == 422


def test_a_user_without_a_bot_is_told_what_to_do(visit, show: Show) -> None:
    assert "None of your bots is ready" in text(visit("cleo"), CHALLENGE)
    assert visit("").get(CHALLENGE).status_code == 302


def test_an_owner_activates_an_older_upload(visit, show: Show) -> None:
    upload(show.anas.bot, b"the next")
    address = f"/submissions/{show.anas.pk}/activate/"
    browser = visit("ana")
    assert address in text(browser, "/bots/grendel/")
    assert address in text(browser, f"/submissions/{show.anas.pk}/")

    page = browser.post(address, follow=True).content.decode()

    assert "grendel #1 plays from now on" in page
    assert Bot.objects.get(slug="grendel").submissions.get(status="ready") == show.anas


@pytest.mark.parametrize("who", ["ben", "cleo", ""])
def test_nobody_else_activates_an_older_upload(visit, show: Show, who: str) -> None:
    upload(show.anas.bot, b"the next")
    browser = visit(who)

    answer = browser.post(f"/submissions/{show.anas.pk}/activate/")

    assert answer.status_code == (404 if who else 302)
    assert "Play again" not in text(browser, "/bots/grendel/")
    assert show.anas.bot.submissions.get(status="ready").number == 3


def test_a_refused_activation_shows_the_reason(visit, show: Show) -> None:
    page = visit("ana").post(f"/submissions/{show.rejected.pk}/activate/", follow=True)

    assert b"only an upload that was ready" in page.content


def test_a_ladder_without_bots_or_season_has_a_message(visit, show: Show) -> None:
    Rating.objects.all().delete()
    assert "No bot is rated here yet" in text(visit(""), "/ladders/main/")
    show.season.status, show.season.ended_at = "archived", timezone.now()
    show.season.save()
    assert leaderboard.current(leaderboard.ladders().get()) == show.season
    assert visit("").get("/").status_code == 200
