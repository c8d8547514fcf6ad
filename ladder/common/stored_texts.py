"""English sentences of rows, services and `torres`, in the reader's language.

Rows, the API and the command have their sentences in English, with the values in them.
The catalogues have the texts of these sentences, with the context "sentence". A page
finds the text from which a sentence was made, and translates that.
"""

import re
from functools import lru_cache

from babel.messages.mofile import read_mo
from django.conf import settings
from django.utils.translation import get_language, gettext, pgettext

CONTEXT = "sentence"
CLAUSES = {
    *("act", "after", "another", "bad", "before", "cause", "cure", "done", "good"),
    *("met", "piece", "status", "what", "why"),
}
"""Values that are sentences or words of ours. All others are names and numbers."""
MAX_NESTED = 4  # clauses within clauses; a hostile text may seem to have thousands
PLACE = re.compile(r"%\\\((\w+)\\\)s")
GAP = re.compile(r"%\(\w+\)s")


def translated(text: str) -> str:
    """Return one of our sentences in the reader's language, and any other as it is.

    A sentence may have the name of a field before it: "seed: Choose a number."
    """
    return _translated(text, MAX_NESTED)


def _translated(text: str, nested: int) -> str:
    language = get_language()
    if not text or not nested or not language or language == "en":
        return text
    whole = gettext(text)
    if whole != text:
        return whole
    for sentence, pattern in _patterns(language):
        found = pattern.fullmatch(text)
        if found:
            return pgettext(CONTEXT, sentence) % {
                name: _part(value, nested - 1) if name in CLAUSES else value
                for name, value in found.groupdict().items()
            }
    field, _colon, reason = text.partition(": ")
    known = _translated(reason, nested - 1)
    return text if known == reason else f"{field}: {known}"


def _part(text: str, nested: int) -> str:
    """Translate a value. In the middle of a sentence it begins with a small letter."""
    found = _translated(text, nested)
    if found != text or not text[:1].islower():
        return found
    found = _translated(text[:1].upper() + text[1:], nested)
    return found[:1].lower() + found[1:]


@lru_cache
def _patterns(language: str) -> list[tuple[str, re.Pattern[str]]]:
    """Return the patterns of all sentences, the ones with the most own text first.

    A language without a compiled catalogue has none.
    """
    folder = settings.LOCALE_PATHS[0] / language / "LC_MESSAGES"
    try:
        with (folder / "django.mo").open("rb") as file:
            known = [str(text.id) for text in read_mo(file) if text.context == CONTEXT]
    except FileNotFoundError:
        return []
    return [
        (sentence, re.compile(PLACE.sub(_group, re.escape(sentence)), re.DOTALL))
        for sentence in sorted(known, key=_own_length, reverse=True)
    ]


def _own_length(sentence: str) -> int:
    return len(GAP.sub("", sentence))


def _group(place: re.Match[str]) -> str:
    """Return the group of a value. A `number` has only digits."""
    values = r"\d+" if place[1] == "number" else ".+"
    return f"(?P<{place[1]}>{values})"
