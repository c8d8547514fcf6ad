"""The webhooks of a person on the page "Your bots", with the checks of the REST API."""

import re
from html import unescape

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import Settings

from ladder.accounts import tokens
from ladder.accounts.scopes import Scope
from ladder.events import outbox, stream
from ladder.events.kinds import EventKind
from ladder.events.outbox import NewEvent
from ladder.extras.webhooks import signing
from ladder.extras.webhooks.models import Webhook, WebhookDelivery
from tests.factories import make_bot

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.usefixtures("loopback"),
]
ADDRESS = "/me/webhooks/"
URL = "http://127.0.0.1:8000/hook"


def signed_in(name: str) -> Client:
    client = Client()
    client.force_login(User.objects.get_or_create(username=name)[0])
    return client


@pytest.fixture
def visitor() -> Client:
    return signed_in("ana")


def create(client: Client, status: int = 200, **fields: object) -> str:
    """Send the form, and return the text of the page."""
    answer = client.post(ADDRESS, {"url": URL} | fields)
    assert answer.status_code == status
    return unescape(answer.content.decode())


def test_a_webhook_is_created_and_its_secret_shown_once(
    visitor: Client, data_dir: object
) -> None:
    slug = make_bot("one", "ben").bot.slug
    chosen = {"types": ["game.finished", "game.voided"], "bots": f" {slug} , "}
    page = create(visitor, **chosen)
    row = Webhook.objects.get()

    assert (row.user.username, row.url) == ("ana", URL)
    assert (row.types, row.bots) == (chosen["types"], [slug])
    secret = re.search('<code id="webhook-secret">(whsec_[^<]+)</code>', page)
    assert secret is not None
    assert secret[1] == signing.secret_of(row.salt)
    later = visitor.get(ADDRESS).content.decode()
    assert "whsec_" not in later
    assert f"types: game.finished, game.voided; bots: {slug}" in later


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"url": "ftp://1.1.1.1/"}, "http"),
        ({"url": "http://10.0.0.1/"}, "public"),
        ({"url": ""}, "required"),
        ({"url": "http://1.1.1.1/" + "x" * 500}, "at most 500"),
        ({"url": "http://1.1.1.1/\0"}, "Null characters"),
        ({"types": ["game.lost"]}, "game.lost is not one of the available choices"),
        ({"bots": "nobody"}, "There is no bot 'nobody'"),
        ({"bots": "\0"}, "Null characters"),
        ({"ladders": "main, <i>"}, "There is no ladder"),
        ({"tournaments": "x " * 51}, "There is no tournament 'x'"),
        ({"bots": " ".join(f"b{n}" for n in range(51))}, "at most 50 bots"),
    ],
)
def test_a_refusal_tells_what_to_change(
    visitor: Client, fields: dict[str, object], why: str
) -> None:
    page = create(visitor, 422, **fields)

    assert why in page
    assert "whsec_" not in page
    assert not Webhook.objects.exists()


def test_the_quota_is_that_of_the_rest_api(visitor: Client, settings: Settings) -> None:
    settings.TORRES_WEBHOOKS_PER_USER = 1
    create(visitor)

    assert "You have 1 webhooks" in create(visitor, 422)
    assert Webhook.objects.count() == 1


def test_only_the_owner_sees_and_deletes_a_webhook(visitor: Client) -> None:
    create(visitor)
    delete = f"{ADDRESS}{Webhook.objects.get().pk}/delete/"
    stranger = signed_in("ben")

    assert URL not in stranger.get(ADDRESS).content.decode()
    assert stranger.post(delete).status_code == 404
    assert Client().post(delete).url == "/sign-in/?next=/me/"
    assert URL in visitor.get(ADDRESS).content.decode()
    assert visitor.get(delete).status_code == 405
    assert visitor.post(delete).url == ADDRESS
    assert visitor.post(delete).status_code == 404
    assert not Webhook.objects.exists()


def test_a_token_that_only_reads_changes_nothing(visitor: Client) -> None:
    create(visitor)
    delete = f"{ADDRESS}{Webhook.objects.get().pk}/delete/"
    token = tokens.new_token(User.objects.get(), scopes=Scope.READ)
    reader = Client()
    reader.post("/sign-in/", {"token": token})

    assert URL in reader.get(ADDRESS).content.decode()
    assert reader.post(ADDRESS, {"url": URL}).status_code == 403
    assert reader.post(delete).status_code == 403
    assert Webhook.objects.count() == 1


def deliver(webhook: Webhook, **values: object) -> None:
    outbox.record(NewEvent(EventKind.BOT_STATUS, {"text": "x"}))
    stream.number_new()
    now = timezone.now()
    moments = {"created_at": now, "next_at": now}
    WebhookDelivery.objects.create(
        webhook=webhook, event_id=stream.newest(), **moments | values
    )


@pytest.mark.parametrize("count", [1, 30])
def test_deliveries_that_failed_are_listed(visitor: Client, count: int) -> None:
    create(visitor)
    webhook = Webhook.objects.get()
    Webhook.objects.update(failures=3, failing_since=timezone.now())
    deliver(webhook, status="delivered", tries=1)
    for number in range(count):
        deliver(webhook, status="failed", tries=20, error=f"<b>answer {number}</b>")
    deliver(webhook, status="waiting", tries=1, error="It did not answer.")
    with CaptureQueriesContext(connection) as queries:
        page = visitor.get(ADDRESS).content.decode()

    assert f", {count} given up" in page
    assert '<span class="tag warn">failing</span>' in page
    assert f"&lt;b&gt;answer {count - 1}&lt;/b&gt;" in page
    assert "It did not answer." in page
    assert page.count("bot.status</td>") == min(count + 1, 20)
    assert len(queries) < 20


def test_a_webhook_that_was_switched_off_says_why(visitor: Client) -> None:
    create(visitor)
    Webhook.objects.update(active=False, note="The receiver answered 410 Gone.")

    assert (
        ">off</span> The receiver answered 410 Gone."
        in visitor.get(ADDRESS).content.decode()
    )
