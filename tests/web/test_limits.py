"""Limits of sign-in, tokens and headers; and what a failure leaves in the log."""

import threading
from datetime import timedelta
from types import SimpleNamespace

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from structlog.testing import capture_logs

from ladder.accounts import tokens
from ladder.accounts.models import ApiToken
from ladder.common import rate_limits
from torres.common.errors import TooMany


@pytest.mark.django_db
def test_the_admin_site_has_no_sign_in_of_its_own() -> None:
    answer = Client().post("/admin/login/?next=/admin/", {"username": "olga"})

    assert answer.status_code == 302
    assert answer.url == "/sign-in/?next=/admin/"


def test_a_window_opens_with_the_first_request_and_ends_by_itself() -> None:
    first, second = rate_limits.count("ana", window_s=2), rate_limits.count("ana", 2)
    waits = iter(range(100))
    while rate_limits.count("ana", 2).requests > 1:
        assert next(waits) < 99, "the window never ends"
        threading.Event().wait(0.05)

    assert (first, second.requests) == ((1, 2), 2)
    assert 1 <= second.left_s <= 2


def test_the_turn_of_a_minute_gives_nobody_more_requests(monkeypatch) -> None:
    moments = iter([119.0, 121.0])
    monkeypatch.setattr(rate_limits, "time", SimpleNamespace(time=moments.__next__))

    assert rate_limits.count("ana") == (1, 60)
    assert rate_limits.count("ana") == (2, 58)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("2001:db8::1", "2001:db8:0:0:ffff::2", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("192.0.2.1", "192.0.2.2", False),
        ("192.0.2.1", "::ffff:192.0.2.1", True),
        ("::ffff:192.0.2.1", "::ffff:192.0.2.2", False),
        ("", "unix:", False),
    ],
)
def test_the_addresses_of_one_network_are_one_client(rf, one, other, same) -> None:
    """A network of 64 bits got 26 of 26 attempts at a password."""
    first, second = (
        rate_limits.address(rf.get("/", REMOTE_ADDR=address))
        for address in (one, other)
    )

    assert (first == second) == same


def test_invalid_tokens_are_counted(anybody, settings) -> None:
    settings.TORRES_RATE_ANONYMOUS = 5
    head = {"HTTP_AUTHORIZATION": "Bearer wrong"}
    answers = [anybody.get("/api/v1/bots/", **head) for _ in range(7)]

    assert [answer.status_code for answer in answers] == [401] * 5 + [429] * 2
    assert answers[-1]["Retry-After"]


def test_a_person_has_a_limited_number_of_tokens(visit) -> None:
    ana = visit("ana")
    user = User.objects.get(username="ana")
    for _ in range(tokens.MAX_TOKENS - user.tokens.count()):
        tokens.new_token(user)
    page = ana.post("/me/tokens/", {"name": "one more"}, follow=True)

    assert "Revoke one of them" in page.content.decode()
    assert user.tokens.count() == tokens.MAX_TOKENS
    with pytest.raises(TooMany):
        tokens.new_token(user)


@pytest.mark.parametrize("path", ["/", "/docs/protocol/", "/api/schema/", "/nothing/"])
@pytest.mark.django_db
def test_pages_of_one_address_are_limited(settings, path: str) -> None:
    """Otherwise one address can keep all threads busy with rendering."""
    settings.TORRES_RATES = settings.TORRES_RATES | {"page": 3}
    one, other = Client(), Client(REMOTE_ADDR="192.0.2.7")

    statuses = [one.get(path).status_code for _ in range(5)]

    assert 429 not in statuses[:3]
    assert statuses[3:] == [429, 429]
    assert one.get(path)["Retry-After"]
    assert other.get(path).status_code != 429
    assert one.get("/api/v1/bots/").status_code == 200  # the API has its own limit


@pytest.mark.django_db
def test_a_token_that_a_session_creates_ends_with_that_of_the_session(visit) -> None:
    """Otherwise who finds a token that expires soon has access for ever."""
    ana = visit("ana")
    soon = timezone.now() + timedelta(hours=1)
    ApiToken.objects.update(expires_at=soon)

    ana.post("/me/tokens/", {"name": "for ever"})

    assert ApiToken.objects.get(name="for ever").expires_at == soon


@pytest.mark.django_db
def test_a_token_that_a_lasting_session_creates_lasts(visit) -> None:
    visit("ana").post("/me/tokens/", {"name": "for ever"})

    assert ApiToken.objects.get(name="for ever").expires_at is None


def test_personal_pages_are_not_cached(visit) -> None:
    assert "no-store" in visit("ana").get("/me/")["Cache-Control"]


def test_a_failure_is_logged_without_secrets(anybody, monkeypatch) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError(10_000 * "x" + "the reason")

    monkeypatch.setattr("ladder.bots.views.BotList.get_queryset", broken)
    head = {"HTTP_AUTHORIZATION": "Basic sesame"}
    with capture_logs() as lines:
        anybody.get("/api/v1/bots/?owner=sesame", **head)

    (line,) = [x for x in lines if x["event"] == "a request failed"]
    assert (line["path"], line["status"]) == ("/api/v1/bots/", 500)
    assert "the reason" in line["exception"]
    assert "sesame" not in str(line)
    assert len(str(line)) < 10_000


SITE = "2001:db8:7"


@pytest.mark.django_db
def test_a_site_has_a_limit_for_all_its_networks(settings) -> None:
    """A customer may have 65,536 networks of 64 bits."""
    settings.TORRES_RATES = settings.TORRES_RATES | {"sign-in": 2}

    def sign_in(network: int, site: str = SITE) -> int:
        client = Client(REMOTE_ADDR=f"{site}:{network}::1")
        return client.post("/sign-in/", {"username": f"user-{network}"}).status_code

    statuses = [sign_in(network) for network in range(12)]

    assert statuses == [422] * 10 + [429] * 2
    assert sign_in(13, "2001:db8:8") == 422


def test_a_site_has_a_limit_in_the_api(anybody, settings) -> None:
    settings.TORRES_RATE_ANONYMOUS = 1
    answers = [
        anybody.get("/api/v1/bots/", REMOTE_ADDR=f"{SITE}:{network}::1")
        for network in range(6)
    ]

    assert [answer.status_code for answer in answers] == [200] * 5 + [429]


@pytest.mark.django_db
def test_the_passwords_of_an_account_are_limited_from_all_addresses(settings) -> None:
    settings.TORRES_RATES = settings.TORRES_RATES | {"sign-in": 2}

    def attempt(name: str, address: int) -> int:
        client = Client(REMOTE_ADDR=f"192.0.2.{address}")
        form = {"username": name, "password": "wrong"}
        return client.post("/sign-in/", form).status_code

    statuses = [attempt("ana", address) for address in range(11)]

    assert statuses == [422] * 10 + [429]
    assert attempt("ANA", 20) == 429
    assert attempt("ben", 21) == 422


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/docs/protocol/", "/api/v1/bots/"])
def test_the_processor_time_of_an_address_is_limited(settings, path: str) -> None:
    """Few costly requests made other visitors wait for 22 s."""
    settings.TORRES_RATE_CPU_SECONDS = 0
    one, other = Client(), Client(REMOTE_ADDR="192.0.2.7")

    answers = [one.get(path) for _ in range(2)]

    assert [answer.status_code for answer in answers] == [200, 429]
    assert answers[1]["Retry-After"]
    assert other.get(path).status_code == 200


def test_the_processor_time_of_users_is_not_that_of_their_address(
    settings, ana
) -> None:
    settings.TORRES_RATE_CPU_SECONDS = 0

    statuses = [ana.get("/api/v1/bots/").status_code for _ in range(3)]

    assert statuses == [200, 200, 200]
