"""Sign-up: who may, with which names and passwords, and what a refusal says."""

import os
import subprocess
import sys

import pytest
from django.conf import settings as configured
from django.contrib.auth.models import User
from django.test import Client

from ladder.accounts import tokens
from ladder.bots import services
from tests.accounts.conftest import PASSWORD
from tests.accounts.factories import sign_in, sign_up

MODES = {"open": True, "invitation": True, "closed": False}


def test_after_sign_up_the_person_is_signed_in_and_told_what_is_next() -> None:
    client = Client()
    answer = sign_up(client, username="Ana")
    page = client.get(answer["Location"]).content.decode()

    assert answer["Location"] == "/me/"
    assert "leads to its page, where you create bots" in page
    assert "You are Ana." in page
    assert sign_in("Ana") is not None
    assert client.post("/me/bots/", {"name": "first"})["Location"] == "/bots/first/"


def test_sign_up_leads_nowhere_else() -> None:
    client = Client()
    form = {"username": "ana", "password": PASSWORD, "again": PASSWORD}
    answer = client.post("/sign-up/?next=https://evil.example/", form)

    assert answer["Location"] == "/me/"


@pytest.mark.parametrize(("mode", "link"), MODES.items())
def test_the_header_links_to_sign_up_if_people_may(settings, mode, link) -> None:
    settings.TORRES_SIGN_UP = mode

    assert (
        b'<a href="/sign-up/?next=/bots/">Sign up' in Client().get("/bots/").content
    ) is link


def test_a_closed_service_creates_no_account(settings) -> None:
    settings.TORRES_SIGN_UP = "closed"
    settings.TORRES_CONTACT = "olga@example.org <b>"
    page = Client().get("/sign-up/")
    answer = sign_up()

    assert b"Ask the operator: olga@example.org &lt;b&gt;." in page.content
    assert b"<form" not in page.content.partition(b"<main")[2].partition(b"</main")[0]
    assert answer.status_code == 403
    assert b"Ask the operator" in answer.content
    assert not User.objects.exists()


def test_the_default_is_closed() -> None:
    done = run("print(settings.TORRES_SIGN_UP)")

    assert done.stdout.strip() == "closed", done.stderr


def run(code: str, **variables: str) -> subprocess.CompletedProcess[str]:
    names = ("TORRES_SIGN_UP", "TORRES_EMAIL_URL", "TORRES_EMAIL_FROM")
    environment = {k: v for k, v in os.environ.items() if k not in names}
    code = f"from django.conf import settings; {code}"
    return subprocess.run(
        [sys.executable, "manage.py", "shell", "-v0", "--no-imports", "-c", code],
        cwd=configured.BASE_DIR,
        env=environment | variables,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({"TORRES_SIGN_UP": "opne"}, "Set it to open, invitation, closed"),
        ({"TORRES_SIGN_UP": ""}, "Set it to open, invitation, closed"),
        ({"TORRES_EMAIL_URL": "smtp://localhost"}, "TORRES_EMAIL_FROM is missing"),
        ({"TORRES_EMAIL_URL": "carrier-pigeon://loft"}, "The settings are not valid"),
    ],
)
def test_a_wrong_setting_is_refused_at_start(tmp_path, variables, message) -> None:
    data = {"TORRES_DATA": str(tmp_path / "data")}
    done = subprocess.run(
        [sys.executable, "manage.py", "up", "--port=0"],
        cwd=configured.BASE_DIR,
        env=os.environ | data | variables,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 1
    assert message in done.stderr
    assert "Traceback" not in done.stderr


BAD_NAMES = {
    "nothing": "",
    "NUL": "an\0a",
    "a mark from right to left": "an\u202ea",
    "a mark that shows nothing": "an\u200ba",
    "a letter that shows nothing": "an\u3164a",
    "ten kilobytes": "a" * 10_240,
    "151 letters": "a" * 151,
    "HTML": "<script>alert(1)</script>",
    "a space": "ana b",
    "a line": "ana\nb",
    "two scripts": "\u0430na",
    "the house": "House",
    "the house with a suffix": "house-greedy",
    "the house in other letters": "\uff28ouse",
    "the house with an accent": "hóuse",
    "an operator": "Admin",
    "a deleted bot": "deleted-17",
}


@pytest.mark.parametrize("name", BAD_NAMES.values(), ids=BAD_NAMES)
def test_a_bad_name_is_refused_beside_its_field(name: str) -> None:
    answer = sign_up(username=name)
    page = answer.content.decode()

    assert answer.status_code == 422
    assert 'aria-describedby="id_username_helptext id_username_error"' in page
    assert 'id="id_username_error"' in page
    assert "<script>alert" not in page
    assert not User.objects.exists()


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("ana", "ana"),
        ("ana", "Ana"),
        ("ana", "\uff21\uff2e\uff21"),  # wide letters
        ("änne", "ÄNNE"),
        ("änne", "a\u0308nne"),
        ("strasse", "Straße"),
    ],
)
def test_a_name_that_differs_only_in_case_is_taken(first: str, second: str) -> None:
    sign_up(username=first)
    answer = sign_up(username=second)

    assert answer.status_code == 422
    assert "is taken. Choose another one." in answer.content.decode()
    assert User.objects.count() == 1


@pytest.mark.parametrize("name", ["Ben", "BÉN"])
def test_the_names_of_other_ways_are_taken_too(name: str) -> None:
    User.objects.create_superuser("ben")
    tokens.token_for("bén")

    assert sign_up(username=name).status_code == 422


def test_a_good_name_in_any_script_is_accepted() -> None:
    for name in ("ana", "anna.b+c@d_e-f", "Анна", "安娜", "houseman", "x" * 150):
        assert sign_up(username=name).status_code == 302, name


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"password": "secret"}, "password"),
        ({"password": "1234567890123"}, "password"),
        ({"password": "password123"}, "password"),
        ({"username": "anastasia", "password": "anastasia1"}, "password"),
        ({"password": "x" * 201}, "password"),
        ({"password": "\0" * 12}, "password"),
        ({"again": "another password"}, "again"),
        ({"again": ""}, "again"),
    ],
)
def test_a_weak_password_is_refused_beside_its_field(fields, field: str) -> None:
    if field == "password":
        fields = fields | {"again": fields["password"]}
    answer = sign_up(**fields)
    page = answer.content.decode()

    assert answer.status_code == 422
    assert f'id="id_{field}_error"' in page
    assert fields.get("password", PASSWORD) not in page
    assert not User.objects.exists()


def test_what_was_entered_is_not_lost() -> None:
    page = sign_up(username="ana.b", password="short").content.decode()

    assert 'value="ana.b"' in page


def test_the_fields_tell_browsers_what_they_are(mailbox) -> None:
    page = Client().get("/sign-up/").content.decode()

    for name in ("username", "new-password", "email"):
        assert f'autocomplete="{name}"' in page


def test_without_mail_no_address_is_asked_or_stored() -> None:
    assert b"E-mail" not in Client().get("/sign-up/").content
    sign_up(email="ana@example.org")

    assert User.objects.get().email == ""


def test_attempts_of_one_address_are_limited(settings) -> None:
    settings.TORRES_RATES = settings.TORRES_RATES | {"sign-up": 2}
    answers = [sign_up(username="no name") for _ in range(3)]
    elsewhere = Client(REMOTE_ADDR="192.0.2.7")

    assert [answer.status_code for answer in answers] == [422, 422, 429]
    assert answers[-1]["Retry-After"]
    assert sign_up(elsewhere).status_code == 302


def test_the_form_needs_its_csrf_token() -> None:
    answer = sign_up(Client(enforce_csrf_checks=True))

    assert answer.status_code == 403
    assert not User.objects.exists()


def test_a_person_who_is_signed_in_creates_no_second_account(ana: Client) -> None:
    assert ana.get("/sign-up/")["Location"] == "/me/"
    assert sign_up(ana, username="second")["Location"] == "/me/"
    assert User.objects.count() == 1


def test_the_page_is_not_shared_between_visitors(settings) -> None:
    settings.TORRES_FRESH_SECONDS = 60
    pages = [Client().get("/sign-up/").content for _ in range(2)]

    assert pages[0] != pages[1]  # each has a CSRF token of its own


def test_a_reserved_name_of_the_bots_is_reserved_for_users_too() -> None:
    for name in services.RESERVED_SLUGS - {"new"}:
        assert sign_up(username=name).status_code == 422
