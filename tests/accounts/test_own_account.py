"""The page of the own account: password, tokens, and what a token must not change."""

import re
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone, translation
from django.utils.html import escape

from ladder.accounts import tokens
from ladder.accounts.models import ApiToken
from ladder.web.pages.account_forms import PASSWORD_HELP, PASSWORD_LABELS
from tests.accounts.conftest import PASSWORD
from tests.accounts.factories import sign_in, sign_up
from tests.web.test_pages import AccessibilityCheck

NEW = "five other words without sense"
PAGES = ("/me/password/", "/me/email/", "/me/delete/")
CHANGE = {"old_password": PASSWORD, "new_password1": NEW, "new_password2": NEW}


@pytest.fixture
def finder(ana: Client) -> Client:
    """A person who has found a token of Ana, and signs in with it."""
    text = tokens.new_token(User.objects.get(username="ana"), "found")
    client = Client()
    assert client.post("/sign-in/", {"token": text}).status_code == 302
    return client


def ana_row() -> User:
    return User.objects.get(username="ana")


def test_a_password_is_changed_and_other_sessions_end(ana: Client) -> None:
    elsewhere = sign_in("ana")
    text = tokens.new_token(ana_row(), "stays")
    page = ana.post("/me/password/", CHANGE, follow=True).content.decode()

    assert "Your password is changed" in page
    assert ana.get("/me/").status_code == 200
    assert elsewhere.get("/me/").status_code == 302
    assert sign_in("ana") is None
    assert sign_in("ana", NEW) is not None
    assert tokens.is_known(text)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"old_password": "wrong"}, "old_password"),
        ({"new_password1": "secret", "new_password2": "secret"}, "new_password2"),
        ({"new_password2": "another one of them"}, "new_password2"),
        ({"new_password1": "\0", "new_password2": "\0"}, "new_password1"),
        ({"old_password": "x" * 10_240}, "old_password"),
    ],
)
def test_a_refused_change_is_explained_beside_its_field(
    ana: Client, change: dict[str, str], field: str
) -> None:
    answer = ana.post("/me/password/", CHANGE | change)
    page = answer.content.decode()

    assert answer.status_code == 422
    assert re.search(rf'aria-describedby="[^"]*id_{field}_error"', page)
    assert sign_in("ana") is not None


def test_the_fields_tell_browsers_what_they_are(ana: Client) -> None:
    page = ana.get("/me/password/").content.decode()

    assert 'autocomplete="current-password"' in page
    assert page.count('autocomplete="new-password"') == 2


@pytest.mark.parametrize("address", PAGES)
def test_guesses_of_the_password_are_limited(
    ana: Client, settings, address: str
) -> None:
    """A person at the open browser of Ana must not try a thousand passwords."""
    settings.TORRES_RATES = settings.TORRES_RATES | {"sign-in": 2}
    guess = {"old_password": "x", "password": "x"}
    answers = [ana.post(address, guess).status_code for _ in range(3)]

    assert answers == [422, 422, 429]


@pytest.mark.parametrize("address", PAGES)
def test_anonymous_visitors_sign_in_first(address: str) -> None:
    for answer in (Client().get(address), Client().post(address)):
        assert answer.status_code == 302
        assert answer.url == f"/sign-in/?next={address}"


@pytest.mark.parametrize("address", PAGES)
def test_a_form_needs_its_csrf_token(ana: Client, address: str) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.cookies = ana.cookies
    form = CHANGE | {"password": PASSWORD, "email": ""}

    assert strict.post(address, form).status_code == 403
    assert sign_in("ana") is not None


@pytest.mark.parametrize("address", PAGES)
def test_a_session_by_token_does_not_change_the_account(
    finder: Client, address: str
) -> None:
    form = CHANGE | {"password": PASSWORD, "email": "finder@example.org"}
    User.objects.filter(username="ana").update(email="ana@example.org")

    for answer in (finder.get(address), finder.post(address, form)):
        assert answer.status_code == 403
        assert b"sign in with your password" in answer.content
    assert sign_in("ana") is not None
    assert ana_row().email == "ana@example.org"


def test_a_session_by_token_sees_no_link_to_what_it_must_not_do(
    finder: Client, ana: Client
) -> None:
    for address in ("/me/password/", "/me/delete/"):
        assert address not in finder.get("/me/").content.decode()
        assert address in ana.get("/me/").content.decode()


def test_an_account_without_a_password_gets_one_from_the_operator(finder) -> None:
    ben = Client()
    ben.post("/sign-in/", {"token": tokens.token_for("ben")})
    form = {"old_password": "", "new_password1": NEW, "new_password2": NEW}

    assert ben.post("/me/password/", form).status_code == 403
    assert ben.post("/me/delete/", {"password": ""}).status_code == 403
    assert User.objects.filter(username="ben").exists()


def test_the_password_frees_a_session_that_began_with_a_token(finder: Client) -> None:
    ApiToken.objects.update(expires_at=timezone.now() + timedelta(hours=1))
    finder.post("/sign-in/", {"username": "ana", "password": PASSWORD})
    finder.post("/me/tokens/", {"name": "lasts"})

    assert finder.get("/me/password/").status_code == 200
    assert ApiToken.objects.get(name="lasts").expires_at is None
    ApiToken.objects.filter(name="found").delete()
    assert finder.get("/me/").status_code == 200


def test_a_token_binds_a_session_that_began_with_the_password(ana: Client) -> None:
    ana.post("/sign-in/", {"token": tokens.new_token(ana_row(), "later")})

    assert ana.get("/me/password/").status_code == 403
    ApiToken.objects.all().delete()
    assert ana.get("/me/").status_code == 302


def test_a_name_that_an_operator_gives_is_taken(ana: Client) -> None:
    call_command(
        "operator", "rename", "ana", "--name", "Ödön", "--why", "a typing error"
    )

    assert User.objects.get().username == "Ödön"
    assert sign_up(username="ÖDÖN").status_code == 422
    assert sign_up(username="ana").status_code == 302
    with pytest.raises(CommandError, match="There is a user Ödön already"):
        call_command("operator", "rename", "ana", "--name", "Ödön", "--why", "a test")


@pytest.mark.parametrize("address", [*PAGES, "/me/", "/sign-up/", "/password-reset/"])
@pytest.mark.parametrize("sent", [False, True], ids=["empty", "with errors"])
def test_every_page_is_accessible(mailbox, address: str, *, sent: bool) -> None:
    client = Client()
    if address.startswith("/me/"):
        sign_up(client)
    if not sent:
        answer = client.get(address)
    else:
        answer = client.post(f"{address}tokens/" if address == "/me/" else address)
        assert answer.status_code == 422
    check = AccessibilityCheck()
    check.feed(answer.content.decode())
    check.close()

    assert check.faults == []


@pytest.mark.parametrize(("days", "expected"), [("", None), ("1", 1), ("365", 365)])
def test_a_token_expires_as_its_owner_chose(ana: Client, days, expected) -> None:
    page = ana.post("/me/tokens/", {"name": "ci", "days": days}).content.decode()
    token = ApiToken.objects.get(name="ci")

    assert f"{token.prefix}…" in page
    if expected is None:
        assert token.expires_at is None
    else:
        left = (token.expires_at - timezone.now()) / timedelta(days=1)
        assert expected - 0.1 < left <= expected
        assert f"{token.expires_at:%Y-%m-%d}" in page


def test_no_token_outlives_the_one_of_its_session(finder: Client) -> None:
    soon = timezone.now() + timedelta(hours=1)
    ApiToken.objects.update(expires_at=soon)
    for number, days in enumerate(("", "1", "30", "365")):
        finder.post("/me/tokens/", {"name": f"token {number}", "days": days})

    assert ApiToken.objects.count() == 5
    assert set(ApiToken.objects.values_list("expires_at", flat=True)) == {soon}


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"name": ""}, "name"),
        ({"name": "x" * 65}, "name"),
        ({"name": "a\0b"}, "name"),
        ({"name": "ci", "days": "9999"}, "days"),
        ({"name": "ci", "days": "-1"}, "days"),
    ],
)
def test_a_bad_token_is_refused_beside_its_field(ana: Client, fields, field) -> None:
    answer = ana.post("/me/tokens/", fields)

    assert answer.status_code == 422
    assert f'aria-describedby="token-{field}_error"' in answer.content.decode()
    assert not ApiToken.objects.exists()


def test_the_list_shows_when_a_token_was_used_and_expires(ana: Client) -> None:
    tokens.use_token(tokens.new_token(ana_row(), "used"))
    gone = tokens.new_token(ana_row(), "gone", timezone.now() - timedelta(hours=1))
    page = ana.get("/me/tokens/").content.decode()

    assert f"{timezone.now():%Y-%m-%d}" in page
    assert '<span class="tag warn">expired</span>' in page
    assert gone not in page


def test_the_command_for_names_has_the_rules_of_the_page(ana: Client) -> None:
    call_command("token", "\uff42\uff45\uff4e")  # wide letters

    assert User.objects.filter(username="ben").exists()


@pytest.mark.parametrize("language", ["de", "es", "pt"])
def test_the_form_for_a_password_has_our_texts(ana: Client, language: str) -> None:
    page = ana.get("/me/password/", headers={"Accept-Language": language})

    with translation.override(language):
        for text in (*PASSWORD_LABELS.values(), PASSWORD_HELP):
            assert str(escape(text)) in page.content.decode()
