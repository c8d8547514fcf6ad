"""Private files that the first of several processes makes."""

import os
import secrets
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

PRIVATE_FILE = 0o600


def touch(path: Path) -> None:
    """Create an empty private file if there is none."""
    with suppress(FileExistsError, FileNotFoundError, PermissionError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, PRIVATE_FILE))


def write_once(path: Path, make: Callable[[], str]) -> str:
    """Return the text of a private file, which the first caller makes.

    Of several processes that call it at once, one makes the file. Raises OSError.
    """
    if not path.exists():
        draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
        touch(draft)
        draft.write_text(make())
        with suppress(FileExistsError):  # another process was faster; its text counts
            os.link(draft, path)
        draft.unlink()
    return path.read_text().strip()
