"""Files that are either whole or not there, also after a crash."""

import os
import secrets
from pathlib import Path


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file, or replace it, in one step. Raises OSError.

    Readers see the old file or the new one. Of several writers, the last one wins.
    """
    data = content.encode() if isinstance(content, str) else content
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        with draft.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
