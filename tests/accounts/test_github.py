"""Sign-in with GitHub. A local server plays GitHub and checks what it is asked."""

import base64
import hashlib
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.contrib.auth.models import User
from django.http import HttpResponse
from django.test import Client

from ladder.accounts import tokens
from ladder.accounts.models import GitHubIdentity
from tests.accounts.conftest import PASSWORD
from tests.accounts.factories import sign_up

CLIENT, SECRET = "Iv1.client", "a secret"
CALLBACK = "http://testserver/sign-in/github/callback/"


class FakeGitHub(ThreadingHTTPServer):
    """A GitHub Enterprise Server with one person, who agrees to every sign-in."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), GitHubHandler)
        self.person: dict[str, Any] = {"id": 7, "login": "octo"}
        self.challenges: dict[str, str] = {}
        self.is_broken = False

    def agree(self, address: str) -> dict[str, str]:
        """Return the query with which GitHub sends the person back."""
        asked = {name: values[0] for name, values in parse_qs(address.query).items()}
        assert asked["client_id"] == CLIENT
        assert asked["redirect_uri"] == CALLBACK
        assert asked["code_challenge_method"] == "S256"
        assert "scope" not in asked
        code = f"code-{len(self.challenges)}"
        self.challenges[code] = asked["code_challenge"]
        return {"code": code, "state": asked["state"]}


class GitHubHandler(BaseHTTPRequestHandler):
    server: FakeGitHub

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        form = {name: values[0] for name, values in parse_qs(body).items()}
        pair = base64.b64encode(f"{CLIENT}:{SECRET}".encode()).decode()
        digest = hashlib.sha256(form["code_verifier"].encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        is_known = (
            self.path == "/login/oauth/access_token"
            and self.headers["Authorization"] == f"Basic {pair}"
            and self.server.challenges.pop(form["code"], "") == challenge
            and form["redirect_uri"] == CALLBACK
        )
        if is_known:
            self.answer(200, {"access_token": "gho_x", "token_type": "bearer"})
        else:
            self.answer(200, {"error": "bad_verification_code"})

    def do_GET(self) -> None:
        assert self.path == "/api/v3/user"
        assert self.headers["Authorization"] == "Bearer gho_x"
        self.answer(200, self.server.person)

    def answer(self, status: int, document: object) -> None:
        body = b"<html>" if self.server.is_broken else json.dumps(document).encode()
        self.send_response(500 if self.server.is_broken else status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words: object) -> None:
        """Print nothing."""


@pytest.fixture
def github(settings, monkeypatch) -> Iterator[FakeGitHub]:
    monkeypatch.setenv("OAUTHLIB_INSECURE_TRANSPORT", "1")  # the server has no TLS
    with FakeGitHub() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        settings.TORRES_GITHUB_CLIENT = CLIENT
        settings.TORRES_GITHUB_SECRET = SECRET
        settings.TORRES_GITHUB_URL = f"http://127.0.0.1:{server.server_port}"
        yield server
        server.shutdown()


def enter(client: Client, github: FakeGitHub, query: str = "") -> HttpResponse:
    """Go to GitHub, agree there, and come back."""
    there = urlsplit(client.get(f"/sign-in/github/{query}").url)
    assert there.path == "/login/oauth/authorize"
    return client.get("/sign-in/github/callback/", github.agree(there))


def text(client: Client, response: HttpResponse) -> str:
    """Return the page to which a response leads."""
    return client.get(response.url, follow=True).content.decode()


def test_a_linked_account_signs_in_and_the_link_can_be_removed(ana, github) -> None:
    assert "octo at GitHub can sign you in" in text(ana, enter(ana, github))

    visitor = Client()
    assert enter(visitor, github, "?next=/play/").url == "/play/"
    assert "You are ana." in visitor.get("/me/").content.decode()
    github.person["login"] = "renamed"  # the number counts
    assert enter(Client(), github).url == "/me/"
    ana.post("/me/github/unlink/")
    assert not GitHubIdentity.objects.exists()
    assert enter(Client(), github).url == "/sign-up/?next=/me/"


def test_a_new_person_chooses_a_password_and_is_linked(github) -> None:
    visitor = Client()
    page = text(visitor, enter(visitor, github))
    assert 'value="octo"' in page
    assert "You are octo at GitHub" in page

    assert sign_up(visitor, username="octo").status_code == 302
    identity = GitHubIdentity.objects.get()
    assert (identity.number, identity.user.username) == (7, "octo")
    assert identity.user.check_password(PASSWORD)
    another = Client()
    enter(another, github)
    assert "You are octo." in another.get("/me/").content.decode()


def test_the_rules_of_signing_up_hold_for_people_from_github(github, settings) -> None:
    settings.TORRES_SIGN_UP = "closed"
    visitor = Client()
    assert "No account here is linked with octo" in text(
        visitor, enter(visitor, github)
    )
    settings.TORRES_SIGN_UP = "invitation"
    enter(visitor, github)
    assert sign_up(visitor, username="octo").status_code == 422

    assert not User.objects.exists()


@pytest.mark.parametrize(
    "change",
    [{"state": "other"}, {"state": ""}, {"code": ""}, {"code": "guessed"}],
    ids=str,
)
def test_a_forged_callback_signs_nobody_in(ana, github, change) -> None:
    enter(ana, github)
    visitor = Client()
    there = urlsplit(visitor.get("/sign-in/github/").url)
    answer = visitor.get("/sign-in/github/callback/", github.agree(there) | change)

    assert answer.url == "/sign-in/?next=/me/"
    assert "sessionid" not in visitor.cookies or "_auth_user_id" not in visitor.session


def test_a_callback_works_once(ana, github) -> None:
    enter(ana, github)
    visitor = Client()
    query = github.agree(urlsplit(visitor.get("/sign-in/github/").url))

    assert visitor.get("/sign-in/github/callback/", query).url == "/me/"
    visitor.logout()
    assert visitor.get("/sign-in/github/callback/", query).url == "/sign-in/?next=/me/"


def test_if_github_fails_the_password_still_works(ana, github) -> None:
    github.is_broken = True
    visitor = Client()

    page = text(visitor, enter(visitor, github))
    assert "GitHub did not confirm who you are" in page
    assert "traceback" not in page.casefold()
    github.is_broken = False
    github.person = {"id": "seven"}
    page = text(visitor, enter(visitor, github))
    assert "GitHub did not confirm who you are" in page


def test_two_people_cannot_link_one_account(ana, github) -> None:
    enter(ana, github)
    ben = Client()
    sign_up(ben, username="ben")

    assert "is linked with another account here" in text(ben, enter(ben, github))
    assert GitHubIdentity.objects.get().user.username == "ana"


def test_a_session_by_token_links_nothing(ana, github) -> None:
    finder = Client()
    finder.post("/sign-in/", {"token": tokens.token_for("ana")})

    assert "a token cannot change the account" in text(finder, enter(finder, github))
    enter(ana, github)
    assert finder.post("/me/github/unlink/").status_code == 403
    assert GitHubIdentity.objects.count() == 1


def test_a_deactivated_person_does_not_get_in(ana, github) -> None:
    enter(ana, github)
    User.objects.update(is_active=False)
    visitor = Client()

    assert "Your account is deactivated" in text(visitor, enter(visitor, github))


def test_without_configuration_there_is_no_trace_of_it(ana) -> None:
    assert Client().get("/sign-in/github/").status_code == 404
    assert Client().get("/sign-in/github/callback/?code=a&state=b").status_code == 404
    assert b"GitHub" not in Client().get("/sign-in/").content
    assert b"GitHub" not in ana.get("/me/").content
