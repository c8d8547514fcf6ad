"""The scripts of a text, to refuse names that imitate others with foreign letters.

This is the level "highly restrictive" of Unicode Technical Standard 39, section 5.2:
the letters of a name belong to one script, or to Latin and the scripts that Chinese,
Japanese or Korean texts mix with it. The script of a letter is the first word of its
Unicode name, because Python does not know the property itself.
"""

import unicodedata

_LATIN = "LATIN"
_HAN = "CJK"
_MIXED = (
    {_LATIN, _HAN, "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA"},
    {_LATIN, _HAN, "BOPOMOFO"},
    {_LATIN, _HAN, "HANGUL"},
)
# These letters belong to no script of their own.
_COMMON = {"MODIFIER", "FEMININE", "MASCULINE"}


def scripts_of(text: str) -> set[str]:
    """Return the scripts of the letters of a text. `text` must be in the form NFKC."""
    letters = (c for c in text if unicodedata.category(c).startswith("L"))
    return {unicodedata.name(c, "UNNAMED").split()[0] for c in letters} - _COMMON


def mixes_scripts(text: str) -> bool:
    """True if letters of different scripts may imitate each other in a text."""
    scripts = scripts_of(unicodedata.normalize("NFKC", text))
    return len(scripts) > 1 and not any(scripts <= mixed for mixed in _MIXED)
