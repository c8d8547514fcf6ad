"""Files that only the user of the service may read."""

import secrets
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

from torres.common.write_once import touch, write_once

# The sandbox reaches its folders by their names, but nobody else may list this one.
DATA_FOLDER = 0o711
KEY_BYTES = 48


def prepare_data_folder(folder: Path, database: Path, key: str) -> str:
    """Create the folder and the files of a service with SQLite; return its secret key.

    An empty ``key`` is replaced by a random one that stays. Raises
    ImproperlyConfigured if the folder cannot be used, or if a database with data lacks
    its key: with another one, sessions end and all webhooks get other secrets.
    """
    path = folder / "secret.key"
    try:
        make_data_folder(folder)
        has_data = database.is_file() and database.stat().st_size > 0
        if has_data and not key and not path.exists():
            raise ImproperlyConfigured(
                f"The database {database} exists, but its secret key {path} does not."
                " Copy secret.key from the folder of the service that used this"
                " database, or from a backup. If it is lost, set SECRET_KEY to a new"
                " random text, for example the output of: openssl rand -hex 32"
            )
        # SQLite gives the mode of this file to its journals, too.
        touch(database)
        return key or write_once(path, lambda: secrets.token_urlsafe(KEY_BYTES))
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
