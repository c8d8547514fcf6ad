"""Compiling a submission in the sandbox, once, and taking out what came of it.

A compiler runs its user's code, so it is held like a bot, with limits of its own. What
it made leaves the box as a tar stream over its stdout, which is judged like any other
upload: no folder of the host is ever writable in the box, no link is followed.
"""

import contextlib
import hashlib
import io
import os
import select
import shutil
import tarfile
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from engine.referee import ServiceFault
from ladder.common.errors import LadderError
from ladder.runner.protocol import Limits
from ladder.runner.sandbox.api import Program, Running, Sandbox, SandboxUnavailable
from ladder.runner.sandbox.proc import wait_for_exit

LIMITS = Limits(memory_mb=1_536, pids=256, tmp_mb=512)
"""What one compiler may use; its /tmp counts as memory."""
SECONDS = 120
"""Of processor time, and twice that by the clock on the wall."""
OUT_MB = 64
LOG_BYTES = 65_536
_FILES = 2_000
_SHELL = '"$@" >&2 && exec tar -C "$OUT" -cf - .'
"""In the box: the compiler's words go to the log, what it made to us."""
_ENV = {"GO111MODULE": "auto"}
_ENV_BOXED = {
    "GOCACHE": "/tmp/go",  # noqa: S108 — the box's own
    "GOPATH": "/tmp/gopath",  # noqa: S108
    "GOPROXY": "off",
}


class BuildFailed(LadderError):
    """The submission does not compile; ``log`` is what the compiler said."""

    code = "build-failed"
    http_status = 422

    def __init__(self, why: str, log: str) -> None:
        super().__init__(f"The bot could not be built: {why}")
        self.log = log


@dataclass(frozen=True, slots=True)
class Built:
    """A bot that can be started, and what its compiler said."""

    box: Program
    log: str


def build(box: Program, sandbox: Sandbox, target: Path) -> Built:
    """Compile ``box`` into ``target``, a folder that is not there yet.

    ``target`` then holds the sources and what was made of them. Raises BuildFailed
    for the bot's own fault, ServiceFault for ours, and SandboxUnavailable at a level
    where nothing can be written.
    """
    packed, log = _compile(box, sandbox)
    draft = Path(tempfile.mkdtemp(dir=target.parent, prefix=".build-"))
    try:
        shutil.copytree(box.folder, draft, symlinks=True, dirs_exist_ok=True)
        _unpack(packed, draft, log)
        draft.chmod(0o755)
        draft.rename(target)
    except OSError as why:
        raise ServiceFault(f"what was built could not be stored: {why}") from why
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return Built(replace(box, folder=target, compile=()), log)


def prepared(box: Program, sandbox: Sandbox, cache: Path) -> Program:
    """Return ``box`` ready to run: built in ``cache`` if it must be and was not yet."""
    if not box.compile:
        return box
    target = cache / f"{box.language}-{_digest(box)}"
    if not target.is_dir():
        cache.mkdir(parents=True, exist_ok=True)
        try:
            build(box, sandbox, target)
        except ServiceFault:
            if not target.is_dir():  # else somebody else was first
                raise
    return replace(box, folder=target, compile=())


def home_cache() -> Path:
    """Return where a person's own builds are kept."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "torres-ladder" / "builds"


def _digest(box: Program) -> str:
    """Return the SHA-256 of the command and of all that it can see."""
    seen = hashlib.sha256(repr(box.compile).encode())
    for path in sorted(p for p in box.folder.rglob("*") if p.is_file()):
        content = path.read_bytes()
        name = str(path.relative_to(box.folder))
        seen.update(f"{name}\0{len(content)}\0".encode())
        seen.update(content)
    return seen.hexdigest()


def _compile(box: Program, sandbox: Sandbox) -> tuple[bytes, str]:
    """Run the compiler; return the tar of what it made, and its log."""
    if sandbox.level == "reduced":
        raise SandboxUnavailable(
            "Compilers need a folder to write to, and the sandbox has none at level"
            " reduced. Run a worker of level full (torres doctor says how)."
        )
    with contextlib.ExitStack() as stack:
        out = "/out"
        if sandbox.level == "none":
            out = stack.enter_context(tempfile.TemporaryDirectory(prefix="torres-out-"))
        argv = (
            *("/bin/sh", "-c", _SHELL, "sh"),
            *(word.replace("{out}", out) for word in box.compile),
        )
        env = {**_ENV, **box.env, "OUT": out}
        if sandbox.level != "none":
            env |= _ENV_BOXED
        bot = sandbox.start(
            replace(box, argv=argv, env=env, compile=(), out_mb=OUT_MB), LIMITS
        )
        stack.callback(_end, bot)
        os.close(bot.stdin)
        return _watch(bot)


def _watch(bot: Running) -> tuple[bytes, str]:
    packed, log = _collect(bot)
    wait_for_exit(bot.pid, 5_000)
    over, began = bot.over_memory(), bot.began()
    ended = bot.kill()
    if not began:
        raise ServiceFault(f"the compiler was not started: {_text(log)[-300:]}")
    if over:
        raise BuildFailed(f"it needed more than {LIMITS.memory_mb} MiB", _text(log))
    if ended.code != 0:
        raise BuildFailed(f"the compiler ended with {ended}", _text(log))
    return bytes(packed), _text(log)


def _collect(bot: Running) -> tuple[bytearray, bytearray]:
    """Return the whole stdout and the end of stderr, both bounded as they come."""
    packed, log = bytearray(), bytearray()
    streams = {bot.stdout: packed, bot.stderr: log}
    poll = select.poll()
    for fd in streams:
        poll.register(fd, select.POLLIN)
    deadline = time.monotonic() + 2 * SECONDS
    while streams:
        for fd, _ in poll.poll(1_000):
            chunk = os.read(fd, 65_536)
            streams[fd] += chunk
            if not chunk:
                poll.unregister(fd)
                del streams[fd]
        del log[: -2 * LOG_BYTES]
        if len(packed) > (OUT_MB + 1) << 20:
            raise BuildFailed(f"it made more than {OUT_MB} MiB", _text(log))
        if time.monotonic() > deadline or bot.cpu_ns() > SECONDS * 1_000_000_000:
            raise BuildFailed(f"the compiler needed more than {SECONDS} s", _text(log))
    return packed, log


def _end(bot: Running) -> None:
    bot.kill()
    os.close(bot.stdout)
    os.close(bot.stderr)


def _text(log: bytearray) -> str:
    return log[-LOG_BYTES:].decode("utf-8", "replace")


def _unpack(packed: bytes, folder: Path, log: str) -> None:
    """Write the plain files of a tar that a hostile program made."""
    try:
        with tarfile.open(fileobj=io.BytesIO(packed), mode="r:") as tape:
            for number, member in enumerate(tape):
                if number > _FILES:
                    raise BuildFailed(f"it made more than {_FILES} files", log)
                if member.isreg():
                    _write(tape, member, folder, log)
    except (tarfile.TarError, ValueError, EOFError) as why:
        raise BuildFailed(f"what it made cannot be read: {why}", log) from why


def _write(
    tape: tarfile.TarFile, member: tarfile.TarInfo, folder: Path, log: str
) -> None:
    way = PurePosixPath(member.name)
    if way.is_absolute() or ".." in way.parts:
        raise BuildFailed(f"it made a file {member.name!r}", log)
    target = folder / way
    parents = [folder / part for part in way.parents]
    if any(path.is_symlink() for path in (target, *parents)):
        raise BuildFailed(f"it made {member.name!r}, where a link is", log)
    content = tape.extractfile(member)
    if content is None:
        raise BuildFailed(f"{member.name!r} has no content", log)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(content.read())
    target.chmod(0o755 if member.mode & 0o100 else 0o644)
