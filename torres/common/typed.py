"""The typed reader: JSON that another program sent, and values that were read from it.

The type says what is accepted, and msgspec checks it. A value of a similar type is
refused, and so are NaN, numbers that no declared field needs, and JSON that is nested
too deeply. `torres.common.documents` reads what people write, and names every mistake.
"""

from typing import Annotated, TypeVar, cast

from msgspec import DecodeError, Meta, convert, json

from torres.common.quoting import printable

T = TypeVar("T")

Number = Annotated[int, Meta(ge=0, le=1 << 53)]
"""A count, or the number of a row."""
Hex = Annotated[str, Meta(pattern="^([0-9a-f]{2})*$")]
Real = Annotated[float, Meta(gt=-1e12, lt=1e12)]

_MAX_REASON_CHARS = 200


class BadDocument(ValueError):
    """A document is not of the declared type; the text says what is wrong and where."""


def parse(text: bytes | str) -> object:
    """Return a JSON value of any type. Raises BadDocument."""
    return decoded(object, text)


def decoded(kind: type[T], text: bytes | str) -> T:
    """Return a dataclass, Struct or list of them from JSON. Raises BadDocument."""
    try:
        return json.decode(text, type=kind)
    except (DecodeError, UnicodeError, RecursionError) as error:
        raise BadDocument(reason(error)) from None


def checked(kind: type[T], value: object) -> T:
    """Return the same value if it is of a type. Raises BadDocument.

    A TypedDict names the keys that are read; further keys stay in the value.
    """
    try:
        convert(value, kind)
    except (DecodeError, RecursionError) as error:
        raise BadDocument(reason(error)) from None
    return cast(T, value)


def reason(error: Exception) -> str:
    """Return what msgspec or Python says about a bad document, as one short line."""
    if isinstance(error, RecursionError):
        return "JSON nested too deeply"
    if isinstance(error, UnicodeError):
        return "invalid UTF-8"
    return printable(str(error))[:_MAX_REASON_CHARS]
