"""The names of bots. No two look the same, and none imitates a house bot."""

import unicodedata

from torres.common import names
from torres.common.errors import LadderError
from torres.common.names import mixes_scripts

MAX_NAME_LENGTH = 64
STEP = "Choose another name."


class BadName(LadderError, code="bad-name"):
    """The name cannot be the name of a bot."""


class NameTaken(LadderError, code="name-taken", http_status=409):
    """The name is reserved, or another bot has one that looks like it."""


def clean_name(text: str) -> str:
    """Return the name in the form in which it is stored.

    Raises BadName, or NameTaken if it looks like the name of a house bot.
    """
    if names.has_invisible(text):
        raise BadName(f"The name has invisible characters. {STEP}")
    name = " ".join(unicodedata.normalize("NFKC", text).strip().split(" "))
    if not 1 <= len(name) <= MAX_NAME_LENGTH or not name.isprintable():
        raise BadName(f"A name has 1 to {MAX_NAME_LENGTH} printable characters. {STEP}")
    if mixes_scripts(name):
        raise BadName(f"The name mixes letters of different scripts. {STEP}")
    if names.has_too_many_marks(name):
        raise BadName(
            f"A letter has at most {names.MAX_MARKS_IN_A_ROW} accents or other marks."
            f" {STEP}"
        )
    if names.is_like_house(name):
        raise NameTaken(f"Names that begin with 'house' are reserved. {STEP}")
    return name
