"""Collect the texts of pages into the catalogues of languages: `make texts`.

A catalogue is ladder/locale/LANGUAGE/LC_MESSAGES/DOMAIN.po: the domain `django` has the
texts of templates and Python, `djangojs` those of scripts. This program adds new texts
without a translation, and removes those that no page has any more. The beginning of a
catalogue, with its glossary, stays as it is. No position in a file and no date is
written, so that a change shows only what it translates.
"""

import io
import re
from collections.abc import Iterator
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.extract import extract
from babel.messages.pofile import read_po, write_po
from django.utils.translation.template import templatize

ROOT = Path(__file__).resolve().parents[1]
LOCALE = ROOT / "ladder" / "locale"
FOLDERS = ("ladder", "torres")
KEYWORDS: dict[str, tuple[int | tuple[int, str], ...] | None] = {
    "gettext": None,
    "gettext_lazy": None,
    "gettext_noop": None,
    "_": None,
    "ngettext": (1, 2),
    "ngettext_lazy": (1, 2),
    "pgettext": ((1, "c"), 2),
}
INDENT = re.compile(r"^[ \t]+", re.MULTILINE)


def main() -> None:
    for language in sorted(path.name for path in LOCALE.iterdir()):
        for domain in ("django", "djangojs"):
            update(LOCALE / language / "LC_MESSAGES" / f"{domain}.po", domain)


def update(path: Path, domain: str) -> None:
    """Bring a catalogue up to date."""
    head = path.read_text(encoding="utf-8").partition("\n\n")[0]
    catalogue = read(path)
    catalogue.update(collected(domain), no_fuzzy_matching=True)
    body = io.BytesIO()
    write_po(body, catalogue, no_location=True, omit_header=True, ignore_obsolete=True)
    path.write_text(f"{head}\n\n{body.getvalue().decode()}", encoding="utf-8")


def read(path: Path) -> Catalog:
    """Read a catalogue."""
    with path.open("rb") as file:
        return read_po(file, locale=path.parents[1].name)


def collected(domain: str) -> Catalog:
    """Return the texts of a domain, without translations, in the order of the files."""
    catalogue = Catalog()
    for method, text in _sources(domain):
        for _, message, comments, context in extract(
            method, io.BytesIO(text.encode()), KEYWORDS, ["Translators:"]
        ):
            catalogue.add(message, auto_comments=comments, context=context)
    return catalogue


def _sources(domain: str) -> Iterator[tuple[str, str]]:
    """Yield the method of Babel for a file, and its text as this method reads it."""
    kinds = {".html": "python", ".py": "python"}
    if domain == "djangojs":
        kinds = {".js": "javascript"}
    for path in (p for folder in FOLDERS for p in sorted((ROOT / folder).rglob("*"))):
        method = kinds.get(path.suffix)
        if method is None or "kits" in path.parts or "house" in path.parts:
            continue
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".html":
            # The outcome is Python for xgettext, but Python's own reader minds indents.
            text = INDENT.sub("", templatize(text, origin=str(path)))
        yield method, text


if __name__ == "__main__":
    main()
