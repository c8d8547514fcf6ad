"""No page shows a text that is in no catalogue.

Every page is read in a made-up language, in which each text of a catalogue stands
between marks. A text without marks is a name, or it is missing in the catalogues.
"""

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from django.apps import apps
from django.test import Client
from pytest_django import Settings

from ladder.accounts import scopes
from tests.web import sitemap
from tests.web.catalogues import write_marked

WORD = re.compile(r"[^\W\d_]{2,}")
TEXT_ATTRIBUTES = ("title", "aria-label", "alt", "placeholder")
# Code, logs, times and user data. What a page writes in English is marked as English.
NO_TEXTS = {"bdi", "code", "pre", "script", "style", "textarea", "time"}
VOID = {"br", "hr", "img", "input", "link", "meta", "source"}
NAME_FIELDS = {"language", "name", "slug", "url", "username"}
# Names of things and of languages, units, and keys of the keyboard.
KEPT = {
    *("API", "Devir", "GIF", "GitHub", "Grande", "JavaScript", "Python", "Rio", "SHA"),
    *("Sonneborn", "Berger", "Torres", "TV", "TrueSkill", "URL", "UTC", "Yucata"),
    *("Deutsch", "English", "Español", "Português", "ladder"),
    *("KB", "MB", "MiB", "bytes", "ms", "End", "Home", "Space"),
}
"""Words that are the same in every language."""
OF_ROWS = {
    "Made up by manage.py fill. It has no files.",
    "made up by manage.py fill.",
    "It fails.",
    "Look at line 7.",
    "in move 7",
}
"""Texts that a row of `sitemap.fill` has, and no real one."""
GERMAN = {"Accept-Language": "de"}
REFUSED: dict[str, dict[str, str]] = {
    "/me/bots/": {"name": "house of cards"},
    "/ladders/main/challenge/": {"bot": "bot-6", "one": "nobody", "seat": "0"},
    "/me/webhooks/": {"url": "ftp://localhost/"},
    "/organise/new/": {
        "name": "Cup",
        "format": "single_elimination",
        "seats": "9",
        "best_of": "2",
        "entrants": "nobody",
        "starts_at": "2001-01-01T00:00",
    },
    "/organise/cup-1/entrants/": {"bot": "nobody"},
    "/operate/cancel_game/": {"target": "x", "why": "y"},
}
"""Values that no form accepts, by the address to which they are sent."""
OF_DJANGO = ("/me/password/",)
"""Pages with a form of Django, which has translations of its own."""


class VisibleTexts(HTMLParser):
    """Collects what readers of a page see and hear, except for code and names."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._left_out: list[str] = []

    def handle_starttag(self, tag: str, pairs: list[tuple[str, str | None]]) -> None:
        attrs = dict(pairs)
        if tag in VOID or not self._left_out:
            self.found += [attrs.get(name) or "" for name in TEXT_ATTRIBUTES]
        is_foreign = tag in NO_TEXTS or attrs.get("lang", "de") != "de"
        is_foreign = is_foreign or attrs.get("translate") == "no"
        if tag not in VOID and (self._left_out or is_foreign):
            self._left_out.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if self._left_out and tag == self._left_out[-1]:
            self._left_out.pop()

    def handle_data(self, data: str) -> None:
        if not self._left_out:
            self.found.append(data)


def names() -> set[str]:
    """Return the words of all names in the database."""
    found = set()
    for model in apps.get_models():
        fields = {field.name for field in model._meta.get_fields()}
        for field in NAME_FIELDS & fields:
            for value in model._default_manager.values_list(field, flat=True):
                found.update(WORD.findall(str(value)))
    return found


def unmarked(client: Client, address: str, known: set[str]) -> set[str]:
    """Return the texts of a page that are in no catalogue and no names."""
    page = client.get(address, headers=GERMAN).content.decode()
    if address.startswith("/docs/"):  # their titles are English
        page = re.sub("<title>.*?</title>", "", page)
    return unmarked_texts(page, known)


def unmarked_texts(page: str, known: set[str]) -> set[str]:
    parser = VisibleTexts()
    parser.feed(page)
    found = set()
    depth = 0  # of marks: a text may stand in another one, and may contain elements
    for text in parser.found:
        rest = ""
        for letter in text:
            depth += {"⟦": 1, "⟧": -1}.get(letter, 0)
            rest += "" if depth or letter == "⟧" else letter
        if set(WORD.findall(rest)) - known:
            found.add(" ".join(text.split()))
    return found - OF_ROWS


@pytest.mark.django_db
def test_every_text_of_every_page_is_in_the_catalogues(
    settings: Settings, tmp_path: Path, data_dir: Path
) -> None:
    sitemap.fill(sitemap.SMALL)
    write_marked(tmp_path)
    settings.LOCALE_PATHS = [tmp_path]
    known = names() | KEPT | {*scopes.names(scopes.ALL)}
    missing: dict[str, set[str]] = {}
    for name, results in (("", "shown"), ("olga", "shown"), ("", "hidden")):
        client = Client()
        client.cookies["results"] = results
        if name:
            client.cookies["sessionid"] = sitemap.session_cookie(name)
        for address in sitemap.pages(name):
            found = unmarked(client, address, known)
            if found and not address.startswith(OF_DJANGO):
                missing.setdefault(address, set()).update(found)

    assert missing == {}


@pytest.mark.django_db
def test_every_refusal_of_a_form_is_in_the_catalogues(
    settings: Settings, tmp_path: Path, data_dir: Path
) -> None:
    sitemap.fill(sitemap.SMALL)
    write_marked(tmp_path)
    settings.LOCALE_PATHS = [tmp_path]
    known = names() | KEPT
    client = Client()
    client.cookies["sessionid"] = sitemap.session_cookie("olga")
    missing: dict[str, set[str]] = {}
    for address, values in REFUSED.items():
        answer = client.post(address, values, follow=True, headers=GERMAN)
        page = answer.content.decode()
        assert 'role="alert"' in page, address
        if found := unmarked_texts(page, known):
            missing[address] = found

    assert missing == {}
