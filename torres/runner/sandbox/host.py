"""The operator's settings for this host. Each has a default that works."""

import contextlib
import os
import stat
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from engine.referee import ServiceFault
from torres.common.locks import lock
from torres.runner.sandbox.api import SandboxUnavailable


@dataclass(frozen=True, slots=True)
class Host:
    """The folder and the user ids that the sandbox may use on this host.

    ``run_dir`` contains locks and copies of bots; it need not survive a restart of the
    machine. ``bot_uids`` are the user ids under which bots run, one bot at a time for
    each. No other user or service of the host may have them.
    """

    run_dir: Path
    bot_uids: range

    @classmethod
    def from_environment(cls) -> "Host":
        """Read TORRES_RUN_DIR and TORRES_SLOT_UIDS ("61000-61999")."""
        uids = os.environ.get("TORRES_SLOT_UIDS", "61000-61999")
        try:
            first, last = (int(word) for word in uids.split("-"))
        except ValueError:
            raise SandboxUnavailable(
                f"TORRES_SLOT_UIDS is {uids!r}; write it like 61000-61999."
            ) from None
        setting = os.environ.get("TORRES_RUN_DIR")
        run_dir = Path(setting) if setting else _default_run_dir()
        return cls(run_dir, range(first, last + 1))

    def folder(self, name: str) -> Path:
        """Return a folder in ``run_dir``, made if it does not exist.

        Raises SandboxUnavailable if another user may write to it.
        """
        folder = self.run_dir / name
        folder.mkdir(mode=0o755, parents=True, exist_ok=True)
        for path in (self.run_dir, folder):
            status = path.lstat()
            ours = stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid()
            if not ours or status.st_mode & 0o022:
                raise SandboxUnavailable(
                    f"Other users can write to {path}. Remove it, or set"
                    " TORRES_RUN_DIR to another folder."
                )
        return folder


def _default_run_dir() -> Path:
    if os.geteuid() == 0:
        return Path("/run/torres-ladder")
    base = os.environ.get("XDG_RUNTIME_DIR") or tempfile.gettempdir()
    return Path(base) / f"torres-ladder-{os.geteuid()}"


class UidPool:
    """The user ids for bots. All workers of this host share them by lock files."""

    def __init__(self, host: Host) -> None:
        self._folder = host.folder("slots")
        self._uids = host.bot_uids

    def take(self) -> tuple[int, int]:
        """Return a free user id, and the descriptor that reserves it until closed."""
        for uid in self._uids:
            with contextlib.suppress(BlockingIOError):
                return uid, lock(self._folder / str(uid))
        raise ServiceFault(
            f"All {len(self._uids)} user ids for bots are in use. Set a wider range in"
            " TORRES_SLOT_UIDS."
        )


@contextlib.contextmanager
def closing(*fds: int) -> Iterator[None]:
    """Close the descriptors at the end, also after an error."""
    try:
        yield
    finally:
        for fd in fds:
            with contextlib.suppress(OSError):
                os.close(fd)
