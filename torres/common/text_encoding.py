"""Recognizes texts that are not plain UTF-8 by their first bytes.

Editors and shells of Windows write UTF-16, or put a byte order mark before UTF-8. A
parser then complains about a character that nobody can see.
"""

import codecs

UTF_8_MARK = "UTF-8 with a byte order mark"
_MARKS = (
    (codecs.BOM_UTF32_LE, "UTF-32"),  # begins with the mark of UTF-16
    (codecs.BOM_UTF32_BE, "UTF-32"),
    (codecs.BOM_UTF16_LE, "UTF-16"),
    (codecs.BOM_UTF16_BE, "UTF-16"),
    (codecs.BOM_UTF8, UTF_8_MARK),
)


def foreign_encoding(data: bytes) -> str | None:
    """Return the encoding of a text that is not plain UTF-8; None if nothing shows it.

    Without a byte order mark, a null byte among the first two shows UTF-16.
    """
    for mark, name in _MARKS:
        if data.startswith(mark):
            return name
    return "UTF-16" if b"\0" in data[:2] else None
