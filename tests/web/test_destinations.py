"""Signing in, up and out leads back to the page from which a person came."""

from html.parser import HTMLParser
from urllib.parse import parse_qs, urlsplit

import pytest
from django.contrib.auth.models import User
from django.core import mail
from django.test import Client, RequestFactory
from django.urls import Resolver404, resolve
from playwright.sync_api import Page, expect

from ladder.web.destinations import ACCOUNT_PAGES, MAX_CHARS, destination
from tests.accounts.conftest import PASSWORD, wait_until
from tests.accounts.factories import link_in
from tests.web import sitemap

WANTED = "/games/?bot=grendel&page=2"
QUERY = "?next=/games/%3Fbot%3Dgrendel%26page%3D2"


class AccountLinks(HTMLParser):
    """Collects the links and forms of a page that lead to pages of accounts."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, pairs: list[tuple[str, str | None]]) -> None:
        target = dict(pairs).get("action" if tag == "form" else "href") or ""
        if target.startswith("/") and _is_account_page(urlsplit(target).path):
            self.found.append(target)


def _is_account_page(path: str) -> bool:
    try:
        return resolve(path).url_name in ACCOUNT_PAGES
    except Resolver404:
        return False


def account_links(client: Client, address: str) -> list[str]:
    links = AccountLinks()
    links.feed(client.get(address).content.decode())
    return links.found


def next_of(address: str) -> str:
    return parse_qs(urlsplit(address).query).get("next", [""])[0]


@pytest.fixture
def mailbox(settings) -> list[mail.EmailMessage]:
    settings.TORRES_SENDS_MAIL = True
    settings.TORRES_SIGN_UP = "open"
    settings.TORRES_GITHUB_CLIENT = "client"
    return mail.outbox


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("name", ["", pytest.param("olga", marks=pytest.mark.deep)])
def test_every_link_to_a_page_of_accounts_leads_back(
    data_dir, mailbox, name: str
) -> None:
    sitemap.fill(sitemap.SMALL)
    client = Client()
    if name:
        client.force_login(User.objects.get(username=name))

    linked = set()
    for address in sitemap.pages(name):
        here = not _is_account_page(urlsplit(address).path)
        for link in account_links(client, address):
            wanted = next_of(link)
            assert wanted == (address if here else "/me/"), f"{link} on {address}"
            linked.add(resolve(urlsplit(link).path).url_name)
    assert linked >= ({"sign-out", "github"} if name else {"sign-in", "sign-up"})


def test_pages_of_accounts_pass_the_destination_on(db: None, mailbox) -> None:
    links = [
        link
        for path in ("sign-in", "sign-up", "password-reset/sent", "password-reset/MQ/x")
        for link in account_links(Client(), f"/{path}/{QUERY}")
    ]

    assert {urlsplit(link).path for link in links} == {
        *("/sign-in/", "/sign-up/", "/sign-in/github/", "/password-reset/")
    }
    assert {next_of(link) for link in links} == {WANTED}


def test_mail_carries_the_destination(db: None, data_dir, mailbox) -> None:
    form = {"username": "ana", "password": PASSWORD, "again": PASSWORD}
    form["email"] = "ana@example.org"
    assert Client().post(f"/sign-up/{QUERY}", form).url == WANTED
    wait_until(lambda: len(mailbox) == 1)

    reader = Client()
    confirm = link_in(mailbox[0])
    (form_address,) = (
        link for link in account_links(reader, confirm) if "/confirm" in link
    )
    answer = reader.post(form_address, {"link": parse_qs(confirm)["link"][0]})
    assert answer.url == f"/sign-in/{QUERY}"

    answer = reader.post(f"/password-reset/{QUERY}", {"email": form["email"]})
    assert answer.url == f"/password-reset/sent/{QUERY}"
    wait_until(lambda: len(mailbox) == 2)
    new = reader.get(link_in(mailbox[1])).url
    assert next_of(new) == WANTED
    words = {"new_password1": f"new {PASSWORD}", "new_password2": f"new {PASSWORD}"}
    assert reader.post(new, words).url == f"/sign-in/{QUERY}"
    sign_in = {"username": "ana", "password": f"new {PASSWORD}"}
    assert reader.post(f"/sign-in/{QUERY}", sign_in).url == WANTED
    assert reader.post(f"/sign-out/{QUERY}").url == WANTED


@pytest.mark.parametrize(
    "target",
    [
        *("https://evil.example/", "//evil.example/", "///evil.example/"),
        *("/\\evil.example", "\\\\evil.example", "javascript:alert(1)", "me", ""),
        *("http:/evil.example", " //evil.example", "\x08//evil.example"),
        *("//testserver@evil.example/", "http://testserver/me/", "/" * (MAX_CHARS + 1)),
    ],
)
def test_a_destination_is_a_path_of_this_site(target: str) -> None:
    request = RequestFactory().get("/sign-in/", {"next": target})

    assert destination(request) == "/me/"


@pytest.mark.parametrize("path", ["sign-in", "sign-up", "sign-out", "confirm-email"])
def test_no_entrance_leads_to_another_site(visit, settings, path: str) -> None:
    settings.TORRES_SIGN_UP = "open"
    answer = visit("ana").post(f"/{path}/?next=//evil.example/")

    assert "evil" not in answer.content.decode()
    assert "evil" not in answer.get("Location", "")


@pytest.mark.parametrize(
    ("referrer", "wanted"),
    [
        ("http://testserver/bots/grendel/?page=2", "/bots/grendel/?page=2"),
        ("http://testserver/?q=" + "x" * MAX_CHARS, "/"),
        *((other, "/me/") for other in ("", "http://evil.example/", "http://[/")),
    ],
)
def test_a_form_whose_session_ended_leads_back_to_its_page(
    db: None, referrer: str, wanted: str
) -> None:
    answer = Client().post("/me/bots/", {"name": "grendel"}, HTTP_REFERER=referrer)

    assert urlsplit(answer.url).path == "/sign-in/"
    assert next_of(answer.url) == wanted


def test_a_form_from_a_wrong_host_is_refused(db: None) -> None:
    answer = Client(raise_request_exception=False).post(
        "/sign-out/", HTTP_HOST="evil.example", HTTP_REFERER="http://evil.example/"
    )
    assert answer.status_code == 400


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_a_newcomer_signs_up_and_is_back_on_the_page(page: Page, settings) -> None:
    settings.TORRES_SIGN_UP = "open"
    page.goto("/docs/rules/")
    page.get_by_role("link", name="Sign in").click()
    page.get_by_role("main").get_by_role("link", name="Sign up").click()
    page.get_by_label("User name").fill("newcomer")
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_label("The same password again").fill(PASSWORD)
    page.get_by_role("button", name="Create the account").click()

    page.wait_for_url("**/docs/rules/")
    expect(page.get_by_role("link", name="newcomer")).to_be_visible()
