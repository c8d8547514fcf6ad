"""The pages with which people follow bots, ladders and tournaments."""

from html import unescape

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.test import Client
from pytest_django import Settings

from ladder.bots.models import Bot
from ladder.extras.follows import services
from ladder.extras.follows.models import DailyMail, Follow
from ladder.moderation import bots as moderation
from ladder.moderation.audit import Operator
from ladder.tournaments.models import Tournament
from tests.factories import Show
from tests.tournaments.factories import tournament

pytestmark = pytest.mark.django_db


def signed_in(name: str = "rita") -> Client:
    client = Client()
    client.force_login(User.objects.get_or_create(username=name)[0])
    return client


def page(client: Client, address: str, status: int = 200) -> str:
    answer = client.get(address)
    assert answer.status_code == status, address
    return unescape(answer.content.decode())


@pytest.fixture
def pages(show: Show) -> dict[str, str]:
    """The pages of things that can be followed, by the pages that follow them."""
    tournament({"format": "round_robin"})
    slug = show.anas.bot.slug
    return {
        f"/follow/?bot={slug}": f"/bots/{slug}/",
        "/follow/?ladder=main": "/ladders/main/",
        "/follow/?tournament=cup": "/tournaments/cup/",
    }


def test_people_follow_and_stop_without_scripts(pages: dict[str, str]) -> None:
    client = signed_in()
    for address, its_page in pages.items():
        assert f'href="{address}">Follow</a>' in page(client, its_page)
        assert 'value="yes">Follow</button>' in page(client, address)
        for _ in range(2):
            answer = client.post(address, {"follow": "yes"})
            assert (answer.status_code, answer.url) == (302, address)
        assert f'href="{address}">Following</a>' in page(client, its_page)
        assert "Stop following" in page(client, address)
        assert f'href="{its_page}"' in page(client, "/me/follows/")
    assert Follow.objects.count() == 3
    for address in pages:
        assert client.post(address, {"follow": "no"}).status_code == 302
    assert not Follow.objects.exists()


def test_the_other_ways_stand_beside_it(pages: dict[str, str]) -> None:
    for address, its_page in pages.items():
        shown = page(Client(), address)
        assert f'href="{its_page}feed.atom"' in shown
        assert 'href="/me/webhooks/"' in shown
        assert "data-notify=" in shown


def test_a_visitor_signs_in_and_comes_back(pages: dict[str, str]) -> None:
    for address in pages:
        kind, slug = address.removeprefix("/follow/?").split("=")
        back = f"/sign-in/?next=/follow/%3F{kind}%3D{slug}"
        assert f'href="{back}">Sign in to follow' in page(Client(), address)
        answer = Client().post(address, {"follow": "yes"})
        assert (answer.status_code, answer.url) == (302, back)
    assert not Follow.objects.exists()


def test_pages_stay_shared(pages: dict[str, str]) -> None:
    """A page for visitors has no token of a form, and sets no cookie."""
    for address in (*pages, *pages.values()):
        answer = Client().get(address)
        assert not answer.cookies
        assert b"csrf" not in answer.content


def test_forms_have_tokens(pages: dict[str, str]) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(User.objects.create(username="rita"))
    for address in (*pages, "/me/follows/"):
        assert client.post(address, {"follow": "yes"}).status_code == 403


@pytest.mark.parametrize(
    "query",
    ["", "?bot=", "?bot=nobody", "?bot=%00", "?ladder=none", "?tournament=draft"],
)
def test_what_does_not_exist_is_not_followed(show: Show, query: str) -> None:
    Tournament.objects.create(slug="draft", name="Draft", limits={})
    client = signed_in()

    assert client.get(f"/follow/{query}").status_code == 404
    assert client.post(f"/follow/{query}", {"follow": "yes"}).status_code == 404


def test_nobody_follows_a_bot_that_is_gone(show: Show) -> None:
    slug = show.anas.bot.slug
    Bot.objects.update(status=Bot.Status.BANNED)

    assert "/follow/" not in page(Client(), f"/bots/{slug}/")
    page(signed_in(), f"/follow/?bot={slug}", status=404)


def test_a_follow_is_ended_in_the_list_by_its_owner_only(show: Show) -> None:
    rita, eve = signed_in("rita"), signed_in("eve")
    rita.post("/follow/?ladder=main", {"follow": "yes"})
    row = Follow.objects.get()
    eve.post("/me/follows/", {"end": row.pk})
    for value in ("", "x", "²", "9" * 30):
        assert rita.post("/me/follows/", {"end": value}).status_code == 302
    assert Follow.objects.exists()
    rita.post("/me/follows/", {"end": row.pk})

    assert not Follow.objects.exists()
    assert "Nothing yet" in page(rita, "/me/follows/")


def test_the_number_of_follows_is_limited(
    show: Show, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(services, "MAX_FOLLOWS", 1)
    client = signed_in()
    client.post("/follow/?ladder=main", {"follow": "yes"})
    address = f"/follow/?bot={show.anas.bot.slug}"
    answer = client.post(address, {"follow": "yes"}, follow=True)

    assert "You follow 1 bots" in answer.content.decode()
    assert Follow.objects.count() == 1


def test_the_database_refuses_a_follow_of_two_things(show: Show) -> None:
    user = User.objects.create(username="rita")
    bot, ladder = show.anas.bot, show.season.ladder
    for values in ({}, {"bot": bot, "ladder": ladder}):
        with pytest.raises(IntegrityError), transaction.atomic():
            Follow.objects.create(user=user, **values)
    Follow.objects.create(user=user, bot=bot)
    with pytest.raises(IntegrityError), transaction.atomic():
        Follow.objects.create(user=user, bot=bot)


def test_people_choose_the_mail_where_there_is_mail(
    show: Show, settings: Settings
) -> None:
    client = signed_in()
    client.post("/me/follows/", {"mail": "yes"})
    assert "sends no mail" in page(client, "/me/follows/")
    assert not DailyMail.objects.exists()
    settings.TORRES_SENDS_MAIL = True
    for _ in range(2):
        client.post("/me/follows/", {"mail": "yes"})
    shown = page(client, "/me/follows/")
    assert DailyMail.objects.get().site == "http://testserver/"
    assert "at most one a day" in shown
    assert "Your account has no address yet." in shown
    User.objects.update(email="rita@example.org")
    assert "no address yet" not in page(client, "/me/follows/")
    client.post("/me/follows/", {"mail": "no"})
    assert not DailyMail.objects.exists()


def test_a_deleted_account_leaves_nothing(show: Show) -> None:
    """Neither its own follows, nor its name in what others have seen."""
    rita = User.objects.create(username="rita", email="rita@example.org")
    ana = User.objects.get(username="ana")
    for user in (rita, ana):
        services.follow(user, show.season.ladder)
        services.follow(user, show.anas.bot)
        services.start_daily_mail(user, "http://testserver/")
        services.follow(user, show.bens.bot)
    slug = show.anas.bot.slug
    moderation.delete_account(Operator(None, "test"), ana)

    assert {row.user_id for row in Follow.objects.all()} == {rita.pk}
    assert [row.user_id for row in DailyMail.objects.all()] == [rita.pk]
    assert slug not in str(list(Follow.objects.values_list("seen")))
    client = Client()
    client.force_login(rita)
    assert slug not in page(client, "/me/follows/")
    page(client, f"/follow/?bot=deleted-{show.anas.bot_id}", status=404)


def test_a_list_asks_the_database_no_more_often_for_more_rows(
    show: Show, django_assert_num_queries
) -> None:
    client = signed_in()
    client.post("/follow/?ladder=main", {"follow": "yes"})
    client.get("/me/follows/")
    with django_assert_num_queries(4):  # session, user, follows, mail
        client.get("/me/follows/")
    for bot in (show.anas.bot, show.bens.bot):
        client.post(f"/follow/?bot={bot.slug}", {"follow": "yes"})
    with django_assert_num_queries(4):
        client.get("/me/follows/")
