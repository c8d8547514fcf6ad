"""The file with the last head of the log that was signed here.

It is not in the database, so that a restored database cannot make the service forget
its last signature.
"""

from base64 import b64encode
from dataclasses import dataclass
from pathlib import Path

import structlog
from django.conf import settings

from torres.common.whole_file import write_whole
from torres.tlog.checkpoints import TreeHead
from torres.tlog.notes import decoded

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class HeadFile:
    """The file `log.head` in the data folder."""

    path: Path

    @classmethod
    def of_service(cls) -> "HeadFile":
        return cls(Path(settings.DATA_DIR) / "log.head")

    def read(self) -> TreeHead | None:
        """Return the head in the file; None if there is no file yet."""
        try:
            origin, size, root = self.path.read_text().split("\n")[:3]
            return TreeHead(origin, int(size), decoded(root) or b"")
        except FileNotFoundError:
            return None
        except (ValueError, OSError) as error:
            log.warning("cannot read the last head", path=self.path, error=str(error))
            return None

    def write(self, head: TreeHead) -> None:
        """Replace the file. A failure is logged, and the log goes on."""
        text = f"{head.origin}\n{head.size}\n{b64encode(head.root).decode()}\n"
        try:
            write_whole(self.path, text)
        except OSError as error:
            log.warning("cannot write the last head", path=self.path, error=str(error))
