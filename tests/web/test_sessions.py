"""A session that was opened with a token ends with this token."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.test import Client
from django.utils import timezone

from ladder.accounts import tokens
from ladder.accounts.models import ApiToken

pytestmark = pytest.mark.usefixtures("data_dir")


def sign_in(token: str) -> Client:
    client = Client()
    assert client.post("/sign-in/", {"token": token}).status_code == 302
    return client


@pytest.fixture
def owner(db: None) -> Client:
    return sign_in(tokens.token_for("ana"))


@pytest.fixture
def thief(owner: Client) -> Client:
    """A thief signs in with the newest token of Ana."""
    return sign_in(tokens.token_for("ana"))


def assert_signed_out(client: Client) -> None:
    before = ApiToken.objects.count()
    page = client.post("/me/tokens/", {"name": "another"})
    assert page.status_code == 302
    assert "/sign-in/" in page.url
    assert client.get("/me/").status_code == 302
    assert ApiToken.objects.count() == before


def revoke_by_the_page(owner: Client) -> None:
    stolen = ApiToken.objects.latest("id")
    assert owner.post(f"/me/tokens/{stolen.pk}/revoke/").status_code == 302


def expire(owner: Client) -> None:
    stolen = ApiToken.objects.latest("id")
    stolen.expires_at = timezone.now() - timedelta(seconds=1)
    stolen.save()


def revoke_as_operator(owner: Client) -> None:
    operator = Client()
    operator.force_login(User.objects.create_superuser("olga"))
    stolen = ApiToken.objects.latest("id")
    form = {"target": str(stolen.pk), "why": "somebody found it"}
    assert operator.post("/operate/revoke_token/", form).status_code == 302


def deactivate(owner: Client) -> None:
    User.objects.filter(username="ana").update(is_active=False)


@pytest.mark.parametrize(
    "end", [revoke_by_the_page, expire, revoke_as_operator, deactivate]
)
def test_a_session_ends_with_its_token(owner: Client, thief: Client, end) -> None:
    assert thief.get("/me/").status_code == 200
    end(owner)

    assert_signed_out(thief)
    assert owner.get("/me/").status_code == (302 if end is deactivate else 200)


def test_the_row_of_the_session_is_deleted(owner: Client, thief: Client) -> None:
    key = thief.session.session_key
    revoke_by_the_page(owner)
    thief.get("/me/")

    assert not Session.objects.filter(session_key=key).exists()


def test_a_session_without_the_id_of_its_token_has_ended(owner: Client) -> None:
    session = owner.session
    del session["token_id"]
    session.save()

    assert_signed_out(owner)


def test_a_session_by_password_needs_no_token(db: None) -> None:
    User.objects.create_user("pia", password="a long password")
    client = Client()
    form = {"username": "pia", "password": "a long password"}

    assert client.post("/sign-in/", form).status_code == 302
    assert client.get("/me/").status_code == 200
