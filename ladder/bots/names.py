"""The names of bots. No two look the same, and none looks like that of a house bot."""

import re
import unicodedata

from ladder.common.errors import LadderError
from ladder.common.scripts import mixes_scripts

MAX_NAME_LENGTH = 64
MAX_MARKS_IN_A_ROW = 2
# Letters, marks and symbols that show nothing although Python calls them printable.
INVISIBLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0]"
    "|[\U000e0100-\U000e01ef]"
)
# House bots are named house:NAME.
HOUSE_NAME = re.compile(r"[\W_]*house([\W_]|$)")
STEP = "Choose another name."


class BadName(LadderError):
    code = "bad-name"
    http_status = 400


class NameTaken(LadderError):
    code = "name-taken"
    http_status = 409


def clean_name(text: str) -> str:
    """Return the name in the form in which it is stored.

    Raises BadName, or NameTaken if it looks like the name of a house bot.
    """
    # Before NFKC, because it changes some invisible characters into others.
    if INVISIBLE.search(text):
        raise BadName(f"The name has invisible characters. {STEP}")
    name = " ".join(unicodedata.normalize("NFKC", text).strip().split(" "))
    if not 1 <= len(name) <= MAX_NAME_LENGTH or not name.isprintable():
        raise BadName(f"A name has 1 to {MAX_NAME_LENGTH} printable characters. {STEP}")
    if mixes_scripts(name):
        raise BadName(f"The name mixes letters of different scripts. {STEP}")
    if _longest_run_of_marks(name) > MAX_MARKS_IN_A_ROW:
        raise BadName(
            f"A letter has at most {MAX_MARKS_IN_A_ROW} accents or other marks. {STEP}"
        )
    plain = "".join(c for c in name_key(name) if not _is_mark(c))
    if HOUSE_NAME.match(plain):
        raise NameTaken(f"Names that begin with 'house' are reserved. {STEP}")
    return name


def name_key(name: str) -> str:
    """Return the text that is the same for all names that differ only in case."""
    folded = unicodedata.normalize("NFKC", name).casefold()
    return " ".join(unicodedata.normalize("NFKD", folded).split())


def _longest_run_of_marks(text: str) -> int:
    longest = run = 0
    for character in unicodedata.normalize("NFD", text):
        run = run + 1 if _is_mark(character) else 0
        longest = max(longest, run)
    return longest


def _is_mark(character: str) -> bool:
    return unicodedata.category(character).startswith("M")
