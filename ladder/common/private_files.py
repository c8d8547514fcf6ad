"""Files that only the user of the service may read."""

import os
import secrets
from contextlib import suppress
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

PRIVATE_FILE = 0o600
# The sandbox reaches its folders by their names, but nobody else may list this one.
DATA_FOLDER = 0o711
KEY_BYTES = 48


def prepare_data_folder(folder: Path, database: Path, key: str) -> str:
    """Create the folder and the files of a service with SQLite; return its secret key.

    An empty ``key`` is replaced by a random one that stays. Raises
    ImproperlyConfigured if the folder cannot be used.
    """
    try:
        make_data_folder(folder)
        # SQLite gives the mode of this file to its journals, too.
        touch(database)
        return key or stored_key(folder / "secret.key")
    except OSError as error:
        raise ImproperlyConfigured(
            f"The folder {folder} cannot be used: {error.strerror}. Set TORRES_DATA to"
            " a folder that this user may write."
        ) from error


def make_data_folder(folder: Path) -> None:
    """Create the data folder. The mode of an existing folder stays."""
    if not folder.is_dir():
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(DATA_FOLDER)


def touch(path: Path) -> None:
    """Create an empty private file if there is none."""
    with suppress(FileExistsError, FileNotFoundError, PermissionError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, PRIVATE_FILE))


def stored_key(path: Path) -> str:
    """Return the secret key in a file. The first process creates the file."""
    if not path.exists():
        draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
        touch(draft)
        draft.write_text(secrets.token_urlsafe(KEY_BYTES))
        with suppress(FileExistsError):  # another process was faster; its key counts
            os.link(draft, path)
        draft.unlink()
    return path.read_text().strip()
