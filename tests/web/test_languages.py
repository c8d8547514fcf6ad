"""Pages in the reader's language: the choice, what stays English, the catalogues."""

import re
from pathlib import Path

import pytest
from babel.messages.catalog import Message
from django.conf import settings as django_settings
from django.core.cache import caches
from django.template.defaultfilters import floatformat
from django.test import Client
from django.utils import translation
from playwright.sync_api import Page, expect
from pytest_django import Settings

from tests import factories
from tests.factories import Show
from tests.web.catalogues import texts
from torres.cli.view import page_of

CATALOGUES = sorted(texts.LOCALE.glob("*/LC_MESSAGES/*.po"))
LANGUAGES = list(django_settings.LANGUAGES)
TRANSLATED = [code for code, _ in django_settings.LANGUAGES if code != "en"]
# What a translation may not lose: elements, and the places of values.
PARTS = (re.compile(r"<[^<>]+>"), re.compile(r"%\(\w+\)s"))
GERMAN = {"Accept-Language": "de-AT,de;q=0.9,en;q=0.5"}


def language_of(page: bytes) -> str:
    found = re.search(rb'<html lang="(\w+)">', page)
    assert found is not None
    return found[1].decode()


def choose(client: Client, language: str, referer: str) -> str:
    """Choose a language as the form in the footer does; return the next address."""
    headers = {"Referer": referer}
    answer = client.post("/language/", {"language": language}, headers=headers)
    assert answer.status_code == 302
    return answer["Location"]


def test_a_chosen_language_is_remembered(show: Show) -> None:
    client = Client(enforce_csrf_checks=True)  # pages that visitors share have no token

    assert choose(client, "de", "http://testserver/bots/") == "http://testserver/bots/"

    page = client.get("/bots/", headers={"Accept-Language": "es"}).content
    assert language_of(page) == "de"
    assert ">Anmelden</a>" in page.decode()
    assert re.findall(r' lang="(\w+)"[^>]*>(\w+)</button>', page.decode()) == LANGUAGES
    cookie = client.cookies[django_settings.LANGUAGE_COOKIE_NAME]
    assert cookie["max-age"] > 300 * 24 * 3600


def test_a_choice_leads_to_no_other_site(db: None) -> None:
    assert choose(Client(), "pt", "https://example.org/") == "/"


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("wanted", "language"),
    [
        ("pt-BR", "pt"),
        ("fr, es;q=0.5", "es"),
        ("de-CH", "de"),
        ("fr", "en"),
        ("", "en"),
    ],
)
def test_a_page_has_the_language_of_the_browser(wanted: str, language: str) -> None:
    answer = Client().get("/sign-in/", headers={"Accept-Language": wanted})

    assert language_of(answer.content) == language
    assert answer["Content-Language"] == language
    assert {"Accept-Language", "Cookie"} <= set(answer["Vary"].split(", "))


def test_programs_read_english(show: Show) -> None:
    for address in (
        "/api/v1/bots/nobody/",
        f"/games/{show.game.pk}/frames.json",
        f"/games/{show.game.pk}/board.svg",
        f"/bots/{show.anas.bot.slug}/feed.atom",
        "/nowhere.json",
    ):
        english, german = (
            Client().get(address, headers=headers) for headers in ({}, GERMAN)
        )
        assert german.content == english.content, address
        assert "Content-Language" not in german, address


def test_shared_pages_keep_languages_apart(show: Show, settings: Settings) -> None:
    settings.TORRES_FRESH_SECONDS = 60
    caches["pages"].clear()

    german = Client().get("/ladders/main/", headers=GERMAN)
    tag = {"If-None-Match": german.headers.get("ETag", '"none"')}
    english = Client().get("/ladders/main/", headers=tag)

    assert language_of(german.content) == "de"
    assert english.status_code == 200
    assert language_of(english.content) == "en"
    assert Client().get("/ladders/main/", headers=GERMAN).content == german.content


def test_readers_who_chose_a_language_share_pages(
    show: Show, settings: Settings
) -> None:
    settings.TORRES_FRESH_SECONDS = 60
    caches["pages"].clear()
    first, second = Client(), Client()
    for client in (first, second):
        choose(client, "es", "http://testserver/")

    page = first.get("/bots/").content
    show.anas.bot.name = "Renamed"
    show.anas.bot.save()

    assert second.get("/bots/").content == page
    assert b"Renamed" in Client().get("/bots/").content


def test_the_page_of_the_command_is_english_without_django() -> None:
    record = factories.random_game("yucata", 2, "5eed")
    players = [{"name": "a"}, {"name": "b"}]

    page = page_of(record.replay(seed="5eed", players=players), "game")

    assert "{%" not in page
    assert 'Legal<span class="hidden"> actions</span></button>' in page
    assert 'aria-label="Castles and their points now"' in page


@pytest.mark.parametrize("language", [code for code, _ in django_settings.LANGUAGES])
def test_numbers_have_a_decimal_point(language: str) -> None:
    with translation.override(language):
        assert floatformat(1234.5, 1) == "1234.5"


def test_scripts_find_their_texts(db: None) -> None:
    german = Client().get("/language/de.js", headers={"Accept-Language": "es"})
    page = Client().get("/sign-in/", headers=GERMAN).content.decode()
    english = Client().get("/sign-in/").content.decode()

    assert german["Content-Type"].startswith("text/javascript")
    assert "Die Partie ist zu Ende." in german.content.decode()
    assert 'src="/language/de.js"' in page
    assert "/language/" not in english.partition("</head>")[0]
    assert Client().get("/language/fr.js").status_code == 404


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_the_viewer_speaks_the_language_of_its_page(page: Page) -> None:
    show = factories.everything()
    page.set_extra_http_headers({"Accept-Language": "de"})

    page.goto(f"/games/{show.game.pk}/#ply=0")

    expect(page.locator("#description")).to_have_text("Die Partie beginnt.")
    expect(page.locator("#castle")).to_contain_text("Burgpunkte jetzt.")


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_choices_and_documents_look_as_in_english(page: Page) -> None:
    page.set_extra_http_headers({"Accept-Language": "de"})

    page.goto("/puzzles/1/")
    choices = page.locator("#options button")
    expect(choices.first).to_have_text("Den Zug beenden")
    expect(choices.last).to_contain_text("Einen Punkt nehmen")

    page.goto("/docs/protocol/")
    widths = {}
    for language in ("en", "de"):
        page.set_extra_http_headers({"Accept-Language": language})
        page.reload()
        box = page.locator("article").bounding_box()
        assert box is not None
        widths[language] = box["width"]
    assert widths["de"] == widths["en"]


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("language", TRANSLATED)
def test_no_page_is_wider_than_a_small_phone(page: Page, language: str) -> None:
    show = factories.everything()
    page.set_viewport_size({"width": 320, "height": 640})
    page.set_extra_http_headers({"Accept-Language": language})

    for address in ("/", "/learn/", "/ladders/main/", f"/games/{show.game.pk}/"):
        page.goto(address)
        width = page.evaluate("document.documentElement.scrollWidth")
        assert width <= 320, address


def forms(message: Message) -> list[tuple[str, str]]:
    """Return each form of a text with its translation. The plural is the second one."""
    if isinstance(message.id, str):
        return [(message.id, str(message.string))]
    return list(zip(message.id, message.string, strict=True))


def parts(text: str) -> list[list[str]]:
    return [sorted(part.findall(text)) for part in PARTS]


@pytest.mark.parametrize("path", CATALOGUES, ids=lambda path: path.parts[-3])
def test_a_catalogue_has_the_texts_of_the_pages(path: Path) -> None:
    """`make texts` brings a catalogue up to date."""
    catalogue = texts.read(path)

    assert [message.id for message in catalogue if message.id] == [
        message.id for message in texts.collected(path.stem) if message.id
    ]
    assert not catalogue.obsolete


@pytest.mark.parametrize("path", CATALOGUES, ids=lambda path: path.parts[-3])
def test_every_text_is_translated_with_all_its_parts(path: Path) -> None:
    for message in texts.read(path):
        if message.id:
            assert not message.fuzzy, message.id
            for text, translated in forms(message):
                assert translated, text
                assert parts(translated) == parts(text), text


def test_each_language_has_its_catalogues() -> None:
    found = {(path.parts[-3], path.stem) for path in CATALOGUES}

    assert found == {
        (code, domain) for code in TRANSLATED for domain in ("django", "djangojs")
    }
