"""What the operator says about this host; everything has a working default."""

import contextlib
import os
import stat
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from engine.referee import ServiceFault
from ladder.common.locks import lock
from ladder.runner.sandbox.api import SandboxUnavailable


@dataclass(frozen=True, slots=True)
class Host:
    """``run_dir`` holds locks and staged bots, gone after a restart of the machine.

    ``slots`` are the user ids under which bots run, one each at a time: they belong
    to nobody else on the host.
    """

    run_dir: Path
    slots: range

    @classmethod
    def from_environment(cls) -> "Host":
        """Read TORRES_RUN_DIR and TORRES_SLOT_UIDS ("61000-61999")."""
        slots = os.environ.get("TORRES_SLOT_UIDS", "61000-61999")
        try:
            first, last = (int(word) for word in slots.split("-"))
        except ValueError:
            raise SandboxUnavailable(
                f"TORRES_SLOT_UIDS is {slots!r}; write it like 61000-61999."
            ) from None
        run_dir = os.environ.get("TORRES_RUN_DIR")
        return cls(Path(run_dir) if run_dir else _default(), range(first, last + 1))

    def folder(self, name: str) -> Path:
        """Return a folder of ours in ``run_dir``, which nobody else may write to."""
        folder = self.run_dir / name
        folder.mkdir(mode=0o755, parents=True, exist_ok=True)
        for part in (self.run_dir, folder):
            seen = part.lstat()
            ours = stat.S_ISDIR(seen.st_mode) and seen.st_uid == os.geteuid()
            if not ours or seen.st_mode & 0o022:
                raise SandboxUnavailable(
                    f"{part} can be written by others; remove it or set TORRES_RUN_DIR."
                )
        return folder


def _default() -> Path:
    if os.geteuid() == 0:
        return Path("/run/torres-ladder")
    base = os.environ.get("XDG_RUNTIME_DIR") or tempfile.gettempdir()
    return Path(base) / f"torres-ladder-{os.geteuid()}"


class Slots:
    """The user ids of this host's bots; a lock file each, shared by all workers."""

    def __init__(self, host: Host) -> None:
        self._folder = host.folder("slots")
        self._uids = host.slots

    def take(self) -> tuple[int, int]:
        """Return a free user id and the descriptor that holds it until closed."""
        for uid in self._uids:
            with contextlib.suppress(BlockingIOError):
                return uid, lock(self._folder / str(uid))
        raise ServiceFault(
            f"all {len(self._uids)} slots are in use; widen TORRES_SLOT_UIDS"
        )


@contextlib.contextmanager
def closing(*fds: int) -> Iterator[None]:
    """Close descriptors at the end, whatever happens."""
    try:
        yield
    finally:
        for fd in fds:
            with contextlib.suppress(OSError):
                os.close(fd)
