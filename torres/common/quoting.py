"""Values from strangers in messages."""

MAX_QUOTED_CHARS = 80


def quoted(value: object) -> str:
    """Return the start of a value as text. The value may be huge or of any type."""
    if isinstance(value, str):
        return repr(value[:MAX_QUOTED_CHARS])
    if isinstance(value, int) and value.bit_length() > 4 * MAX_QUOTED_CHARS:
        return "a huge number"  # repr() of more than 4300 digits raises ValueError
    try:
        return repr(value)[:MAX_QUOTED_CHARS]
    except ValueError:  # a huge number inside a list
        return f"a {type(value).__name__}"


def printable(text: str, keep: str = "") -> str:
    """Return a text with its control characters escaped, except those in ``keep``."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in keep else ascii(c)[1:-1] for c in text)
