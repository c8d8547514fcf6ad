"""The owner's bots at a glance."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from ladder.bots import services
from ladder.bots.models import Bot, Submission
from ladder.games.models import Game, Match, Seat
from ladder.ratings.models import Rating
from ladder.web.pages import dashboard
from ladder.web.pages.dashboard import OwnBot
from tests.factories import HOSTILE, Show, make_bot, make_match

Visit = Callable[[str], Client]


def own(show: Show) -> OwnBot:
    owner = show.anas.bot.owner
    assert owner is not None
    return next(each for each in dashboard.own_bots(owner) if each.bot == show.anas.bot)


def test_the_dashboard_shows_rank_rating_and_newest_upload(
    visit: Visit, show: Show
) -> None:
    page = visit("ana").get("/me/").content.decode()

    assert "rank 1</strong>" in page
    assert "of 2<" in page
    assert "27.00" in page
    assert f'href="/submissions/{show.rejected.pk}/">#2' in page
    assert "Read why the newest upload was rejected" in page
    assert HOSTILE not in page
    assert show.bens.bot.slug not in page


def test_the_change_is_that_of_the_last_day(show: Show) -> None:
    """The only game lifted the rating from 1.0, see factories."""
    assert own(show).standings[0].change == pytest.approx(27.0 - 1.0)

    long_ago = timezone.now() - timedelta(days=2)
    Game.objects.filter(pk=show.game.pk).update(finished_at=long_ago)
    # The rating after that game: 30.5 - 3 * 1.0.
    assert own(show).standings[0].change == pytest.approx(27.0 - 27.5)
    Rating.objects.update(games=0)
    assert own(show).standings[0].change is None


def test_the_last_forfeit_is_linked_with_its_reason(visit: Visit, show: Show) -> None:
    later = make_match(show.anas, show.bens)
    for match, fault in ((show.match, "crash"), (later, "timeout")):
        seats = Seat.objects.filter(game__match=match, bot=show.anas.bot)
        seats.update(fault=fault, fault_detail="The clock ran out.")

    page = visit("ana").get("/me/").content.decode()

    assert ">timeout</span>" in page
    assert ">crash</span>" not in page
    assert "The clock ran out." in page
    assert f'href="/games/{later.games.get().pk}/"' in page
    assert ">timeout</span>" not in visit("ben").get("/me/").content.decode()
    Match.objects.filter(pk=later.pk).update(embargo=True)
    assert ">crash</span>" in visit("ana").get("/me/").content.decode()


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"status": "withdrawn"}, "Let it play again"),
        ({"status": "benched"}, "ask operators"),
    ],
)
def test_the_next_step_follows_from_the_status(
    show: Show, change: dict[str, str], text: str
) -> None:
    Bot.objects.filter(pk=show.anas.bot.pk).update(**change)

    step = own(show).next_step
    assert step is not None
    assert text in step.text


def test_the_next_step_follows_from_uploads_and_ladders(show: Show) -> None:
    def text() -> str:
        step = own(show).next_step
        return step.text if step else ""

    Submission.objects.filter(pk=show.rejected.pk).update(status="waiting")
    assert "for what the newest upload waits" in text()
    Submission.objects.filter(pk=show.rejected.pk).update(status="retired")
    assert text() == ""
    places = show.season.ladder.memberships.filter(bot=show.anas.bot)
    places.update(status="benched")
    assert "benched for forfeits" in text()
    places.update(status="left")
    assert "plays on no ladder" in text()
    assert [place.status for place in own(show).places] == ["left"]


def test_a_new_bot_is_told_to_upload(visit: Visit, show: Show) -> None:
    owner = show.anas.bot.owner
    assert owner is not None
    services.create_bot(owner, "Newest")

    page = visit("ana").get("/me/").content.decode()

    assert 'href="/bots/newest/#upload">Upload its first program' in page
    assert "It has no rating yet." in page


def test_more_bots_ask_no_more_queries(
    show: Show, django_assert_max_num_queries
) -> None:
    owner = show.anas.bot.owner
    assert owner is not None
    for number in range(5):
        make_bot(f"more {number}", "ana")

    with django_assert_max_num_queries(5):
        assert len(dashboard.own_bots(owner)) == 6
