"""Checks of the names of bots and of users: none imitates another one."""

import re
import unicodedata

# Letters, marks and symbols that show nothing although Python calls them printable.
INVISIBLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0]"
    "|[\U000e0100-\U000e01ef]"
)
MAX_MARKS_IN_A_ROW = 2
_LATIN = "LATIN"
_HAN = "CJK"
_MIXED = (
    {_LATIN, _HAN, "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA"},
    {_LATIN, _HAN, "BOPOMOFO"},
    {_LATIN, _HAN, "HANGUL"},
)
# These letters belong to no script of their own.
_COMMON = {"MODIFIER", "FEMININE", "MASCULINE"}
# House bots are named house:NAME.
HOUSE_NAME = re.compile(r"[\W_]*house([\W_]|$)")


def has_invisible(text: str) -> bool:
    """True if a text has characters that show nothing.

    Ask before NFKC, because it changes some invisible characters into others.
    """
    return INVISIBLE.search(text) is not None


def has_too_many_marks(text: str) -> bool:
    """True if a letter has more than MAX_MARKS_IN_A_ROW accents or other marks."""
    longest = run = 0
    for character in unicodedata.normalize("NFD", text):
        run = run + 1 if _is_mark(character) else 0
        longest = max(longest, run)
    return longest > MAX_MARKS_IN_A_ROW


def is_like_house(name: str) -> bool:
    """True if a name looks like that of a house bot."""
    return HOUSE_NAME.match(plain(name)) is not None


def name_key(name: str) -> str:
    """Return the text that is the same for all names that differ only in case."""
    folded = unicodedata.normalize("NFKC", name).casefold()
    return " ".join(unicodedata.normalize("NFKD", folded).split())


def plain(name: str) -> str:
    """Return the key of a name without accents and other marks."""
    return "".join(c for c in name_key(name) if not _is_mark(c))


def _is_mark(character: str) -> bool:
    return unicodedata.category(character).startswith("M")


def scripts_of(text: str) -> set[str]:
    """Return the scripts of the letters of a text. `text` must be in the form NFKC."""
    letters = (c for c in text if unicodedata.category(c).startswith("L"))
    return {unicodedata.name(c, "UNNAMED").split()[0] for c in letters} - _COMMON


def mixes_scripts(text: str) -> bool:
    """True if letters of different scripts may imitate each other in a text.

    This is the level "highly restrictive" of Unicode Technical Standard 39, section
    5.2: the letters of a name belong to one script, or to Latin and the scripts that
    Chinese, Japanese or Korean texts mix with it. The script of a letter is the first
    word of its Unicode name, because Python does not know the property itself.
    """
    scripts = scripts_of(unicodedata.normalize("NFKC", text))
    return len(scripts) > 1 and not any(scripts <= mixed for mixed in _MIXED)
